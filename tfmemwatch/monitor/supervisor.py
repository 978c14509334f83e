"""Whose worker this process is, and so who replaces it when it has ended. The handler of SIGTERM says it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from types import MethodType
from typing import Any, NamedTuple, Set, Tuple

from ..heap.classes import bases_of, class_named, module_of

_WORKER, _ARBITER = ("gunicorn.workers.base", "Worker"), ("gunicorn.arbiter", "Arbiter")
_SERVER = ("uvicorn.server", "Server")
_SUPERVISOR = "uvicorn.supervisors.multiprocess"


class Place(NamedTuple):
    """What this process is to those who start and end it."""

    server: str = ""  # whose worker it is: SIGTERM has it finish its requests, and another one is started
    is_master: bool = False  # of such workers: its end is the end of them all
    is_deaf: str = ""  # why SIGTERM would not end it


def place() -> Place:
    """As it is now: servers set their handlers at different moments of their start."""
    handler: Any = signal.getsignal(signal.SIGTERM)
    owner = handler.__self__ if type(handler) is MethodType else None
    classes = _classes(owner)
    if _ARBITER in classes:
        return Place(is_master=True)
    if _WORKER in classes or (callable(handler) and _ARBITER[0] in sys.modules):  # workers with a loop hand it over
        return Place("gunicorn")
    if _SERVER in classes and _is_kept_alive(owner):
        return Place("uvicorn")
    if handler is signal.SIG_IGN:
        return Place(is_deaf="it ignores SIGTERM")
    if handler is signal.SIG_DFL and os.getpid() == 1:
        return Place(is_deaf="as process 1 without a handler of SIGTERM it is not ended by it")
    return Place()


def _classes(owner: Any) -> Set[Tuple[str, str]]:
    return {(module_of(one), class_named(one)) for one in bases_of(type(owner))}


def _is_kept_alive(server: Any) -> bool:
    """Whether uvicorn's supervisor starts its workers anew: versions before 0.30 do not, nor does that of --reload."""
    supervisor = getattr(sys.modules.get(_SUPERVISOR), "Multiprocess", None)
    config = getattr(server, "config", None)
    parent = getattr(multiprocessing, "parent_process", lambda: None)()
    is_one_of_many = getattr(config, "workers", 1) > 1 and not getattr(config, "reload", False)
    return parent is not None and is_one_of_many and hasattr(supervisor, "keep_subprocess_alive")
