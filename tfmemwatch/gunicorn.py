"""gunicorn's hooks, in one line of its configuration: `from tfmemwatch.gunicorn import child_exit, post_fork`.

Each worker is watched from its start, with settings from TFMEMWATCH_… variables. With PROMETHEUS_MULTIPROC_DIR set the
metrics of all workers are added up, and what was alive in a worker that has ended is gone at once.
"""

from __future__ import annotations

from typing import Any

from . import guard
from .api import install
from .outputs.workers import folder_of, sweep

__all__ = ["child_exit", "post_fork"]


def post_fork(server: Any, worker: Any) -> None:
    """In each worker: watch it."""
    install()


def child_exit(server: Any, worker: Any) -> None:
    """In the master, when a worker has ended: what was alive there no longer is."""
    folder = folder_of()
    if not folder:
        return
    try:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(worker.pid, folder)  # type: ignore[no-untyped-call]
        sweep(folder)
    except Exception:
        guard.failed("child_exit")
