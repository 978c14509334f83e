"""What holds for every test."""

import importlib
import os
import sys

import fake_tensorflow
import pytest
from parts import absent
from wrapt import importer

import tfmemwatch
from tfmemwatch import guard

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
        importer._post_import_hooks.pop(name, None)  # wrapt < 1.15 does not see it go
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
