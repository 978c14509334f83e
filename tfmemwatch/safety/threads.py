"""The end of a thread of ours, in a program that has put green threads in the place of Python's meanwhile."""

from __future__ import annotations

import threading
from typing import Any, Dict


def about_to_end(thread: threading.Thread) -> None:
    """Let Python find this very thread in its table, under the number that it has now.

    gevent and eventlet number threads in their own way from the moment on at which they take the place of Python's. A
    thread that was started before stands under its old number: Python would not find it when it ends, print an error,
    and list it for ever.
    """
    table: Dict[int, Any] = getattr(threading, "_active", {})
    now = threading.get_ident()
    if table.get(now) is thread:
        return
    for number, one in list(table.items()):
        if one is thread:
            table.pop(number, None)
    table[now] = thread
