"""tfmemwatch names the line of a TensorFlow program that leaks memory, the cause and the cure.

    import tfmemwatch
    tfmemwatch.install()

Importing it does nothing and loads nothing: names come when they are first asked for.
"""

from __future__ import annotations

import typing as _t

__version__ = "0.1.0"

_HOME = {
    "install": "api", "uninstall": "api", "watch": "api", "findings": "api", "report": "api", "snapshot": "api",
    "set_level": "api", "current": "api", "owners": "api", "remedies": "api", "expect_dead": "api", "port": "api",
    "Account": "account", "Trial": "remedy",
    "Finding": "model", "Site": "model", "Snapshot": "moment", "Block": "block", "Watch": "monitor",
    "TfmemwatchError": "errors", "ConfigError": "errors", "Unavailable": "errors", "LeakFound": "errors",
}  # fmt: skip
__all__ = ["__version__", *_HOME]

if _t.TYPE_CHECKING:
    from .account import Account
    from .api import (
        current,
        expect_dead,
        findings,
        install,
        owners,
        port,
        remedies,
        report,
        set_level,
        snapshot,
        uninstall,
        watch,
    )  # fmt: skip
    from .block import Block
    from .errors import ConfigError, LeakFound, TfmemwatchError, Unavailable
    from .model import Finding, Site
    from .moment import Snapshot
    from .monitor import Watch
    from .remedy import Trial


def __getattr__(name: str) -> _t.Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    import importlib

    value = getattr(importlib.import_module("." + home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> _t.List[str]:
    return sorted(__all__)
