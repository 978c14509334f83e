"""The errors that tfmemwatch raises."""

from __future__ import annotations


class TfmemwatchError(Exception):
    """What tfmemwatch refuses or can't do: a ConfigError, or Unavailable."""


class ConfigError(TfmemwatchError, ValueError):
    """A setting has a value that is not allowed; the message names the setting, its value and what is allowed."""


class Unavailable(TfmemwatchError):
    """Something can't be done or watched in this program; the message says why."""


class LeakFound(AssertionError):
    """A block should be clean and is not; the message names each line. `verdict` has the same as a value, in tests."""

    verdict: object = None
