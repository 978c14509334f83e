"""What holds for every test."""

import importlib
import os

import pytest

# Before TensorFlow is imported: no chatter, no GPU, the same sums on every machine.
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", TF_ENABLE_ONEDNN_OPTS="0")


def absent(what):
    """Skip the test, which needs it; in CI nothing may be absent."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)("%s is not here" % what)


@pytest.fixture
def needs():
    """Import a module that the test needs, or end the test."""

    def imported(name):
        try:
            return importlib.import_module(name)
        except ImportError:
            return absent(name)

    return imported
