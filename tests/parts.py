"""Programs that a test needs: Prometheus, a server; what happens where they are absent."""

import importlib.util
import os
import shutil

import pytest


def absent(what):
    """Skip the test, which needs it; in CI nothing may be absent."""
    if os.environ.get("CI"):
        pytest.fail("%s is not here; CI installs all that a test needs (.ci/run, tests/matrix.py)" % what)
    pytest.skip("%s is not here" % what)


def installed(*modules):
    """What a program that the test starts will import; the test itself is spared the seconds."""
    for name in modules:
        if importlib.util.find_spec(name) is None:
            absent(name)


def program(*names):
    """The path of a program that the test needs, by the names that it goes by, or the end of the test."""
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    return absent(names[0])
