"""tfmemwatch names the line of a TensorFlow program that leaks memory, the cause and the cure.

    import tfmemwatch
    tfmemwatch.install()

Importing it does nothing and loads nothing: names come when they are first asked for.
"""

from __future__ import annotations

import typing as _t

__version__ = "0.1.0"

_HOME = {
    "install": "api", "uninstall": "monitor.installation",
    "watch": "api", "findings": "api", "report": "api", "snapshot": "api",
    "set_level": "api", "current": "api", "owners": "api", "remedies": "api", "expect_dead": "api", "port": "api",
    "recycle": "api", "asgi_app": "api", "wsgi_app": "api",
    "Account": "memory.account", "Trial": "memory.remedy",
    "Finding": "model", "Site": "model", "Report": "reports",
    "Snapshot": "monitor.snapshot", "Block": "monitor.block", "Watch": "monitor.watch",
    "TfmemwatchError": "errors", "ConfigError": "errors", "Unavailable": "errors", "LeakFound": "errors",
}  # fmt: skip
__all__ = ["__version__", *_HOME]
_IPYTHON = ("load_ipython_extension", "unload_ipython_extension")  # `%load_ext tfmemwatch` asks for these

if _t.TYPE_CHECKING:
    from .api import (  # fmt: skip
        asgi_app,
        current,
        expect_dead,
        findings,
        install,
        owners,
        port,
        recycle,
        remedies,
        report,
        set_level,
        snapshot,
        watch,
        wsgi_app,
    )
    from .errors import ConfigError, LeakFound, TfmemwatchError, Unavailable
    from .memory.account import Account
    from .memory.remedy import Trial
    from .model import Finding, Site
    from .monitor.block import Block
    from .monitor.installation import uninstall
    from .monitor.snapshot import Snapshot
    from .monitor.watch import Watch
    from .reports import Report


def __getattr__(name: str) -> _t.Any:
    home = "notebook" if name in _IPYTHON else _HOME.get(name)
    if home is None:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    room, _, last = home.rpartition(".")
    owner = globals().get(room) if room else None
    names = vars(owner) if owner is not None else {} if room else globals()
    module = names.get(last)  # if it has been imported: a finalizer at the end of the interpreter can't any more
    if module is None:
        import importlib

        module = importlib.import_module("." + home, __name__)
    globals().update({other: getattr(module, other) for other, its in _HOME.items() if its == home})
    return getattr(module, name)


def __dir__() -> _t.List[str]:
    return sorted(__all__)
