"""What holds for every test."""

import importlib
import os
import sys

import fake_tensorflow
import pytest
from parts import absent

import tfmemwatch
from tfmemwatch.safety import guard

pytest_plugins = ("pytester",)

# Before TensorFlow is imported: no chatter, no GPU, the same sums on every machine.
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", TF_ENABLE_ONEDNN_OPTS="0")


@pytest.fixture
def needs():
    """Import a module that the test needs, or end the test."""

    def imported(name):
        try:
            return importlib.import_module(name)
        except ImportError:
            return absent(name)

    return imported


# Tests of these files that `make quick` leaves out: the whole file where nothing is named.
SLOW = {
    "test_block.py": (
        "clean_over",
        "filled_up",
        "go_again",
        "lists_in_a_dict",
        "parentheses",
        "tensors_kept",
        "warm_up",
    ),
    "test_inquiry.py": (),
    "test_pages.py": ("page.md",),
    "test_plugin.py": (),
    "test_serving.py": (),
    "test_step_collections.py": (),
    "test_census.py": ("under_construction", "container_that_grows", "eager_tensors", "plain_numbers", "watch_itself"),
    "test_frames.py": ("given_up_after_a_look",),
    "test_holders.py": ("chain_of", "nobody_holds", "million_objects"),
    "test_other_process.py": ("command_line", "without_a_door", "forked_child"),
    "test_growth_per_call.py": ("another_try", "ever_new", "become_more", "list_that_grows", "nothing_in_python"),
}


def pytest_collection_modifyitems(items):
    """Mark what is slow and is not marked where it stands."""
    for item in items:
        words = SLOW.get(item.path.name)
        if words is not None and (not words or any(word in item.name for word in words)):
            item.add_marker(pytest.mark.slow)


FAKED = ("tensorflow", "tensorflow_core", "keras", "tf_keras")


def faked_modules():
    """What is loaded now of all that the fake stands in for."""
    return {name: module for name, module in sys.modules.items() if name.split(".")[0] in FAKED}


@pytest.fixture(scope="session")
def fake_packages(tmp_path_factory):
    """A folder from which `import tensorflow` and `import keras` get the fake ones."""
    return fake_tensorflow.write(tmp_path_factory.mktemp("fake") / "site-packages")


@pytest.fixture
def fake_tf(fake_packages, monkeypatch):
    """The fake TensorFlow, imported afresh; a real one that is loaded steps aside for the while."""
    real = faked_modules()
    for name in real:
        del sys.modules[name]
    monkeypatch.syspath_prepend(str(fake_packages))
    yield importlib.import_module("tensorflow")
    for name in faked_modules():
        del sys.modules[name]
    sys.modules.update(real)


@pytest.fixture
def failures(monkeypatch):
    """How often each place of ours has failed: none yet."""
    monkeypatch.setattr(guard, "failures", {})
    return guard.failures


@pytest.fixture(autouse=True)
def nothing_is_left_installed():
    """A test that fails half-way may not watch the tests after it."""
    yield
    tfmemwatch.uninstall()
