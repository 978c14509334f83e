"""What can go wrong, and what one is told about it."""

from __future__ import annotations


class TfmemwatchError(Exception):
    """Anything that tfmemwatch itself has to say no to."""


class ConfigError(TfmemwatchError, ValueError):
    """A setting that cannot be, with its value and what is allowed."""


class Unavailable(TfmemwatchError):
    """A probe that has nothing to watch in this program, and why."""


class LeakFound(AssertionError):
    """A block that was to be clean and is not; the message names each line."""
