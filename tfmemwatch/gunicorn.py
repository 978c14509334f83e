"""gunicorn's hooks, in one line of its configuration: `from tfmemwatch.gunicorn import child_exit, post_fork`.

Each worker is watched from its start, with settings from TFMEMWATCH_… variables. With PROMETHEUS_MULTIPROC_DIR set the
metrics of all workers are added up, and what was alive in a worker is no longer counted as soon as the worker ends.
"""

from __future__ import annotations

import sys
from typing import Any

from .api import install_as_far_as_possible
from .ledger import site
from .outputs.workers import folder_of, sweep
from .safety import guard

__all__ = ["child_exit", "post_fork"]


def post_fork(server: Any, worker: Any) -> None:
    """In each worker: watch it. A setting that can't be used, such as a port in use, is a warning."""
    install_as_far_as_possible(site.here(sys._getframe()))


def child_exit(server: Any, worker: Any) -> None:
    """In the master, when a worker has ended: no longer count what was alive there."""
    folder = folder_of()
    if not folder:
        return
    try:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(worker.pid, folder)  # type: ignore[no-untyped-call]
        sweep(folder)
    except Exception:
        guard.failed("child_exit")
