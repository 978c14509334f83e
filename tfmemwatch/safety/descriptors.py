"""A descriptor that is closed only while it is ours.

A program that becomes a daemon closes all descriptors of its process, and the system gives their numbers out again: a
number that was ours may be a file of the program's.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from typing import Optional, Tuple


class Descriptor:
    """A file of ours, open until nothing refers to it, at the latest; no link is followed, no pipe waited for."""

    __slots__ = ("_was", "number")

    def __init__(self, path: str, flags: int) -> None:
        self._was: Optional[Tuple[int, int]] = None
        self.number = -1
        self.number = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
        self._was = what_is(self.number)

    @property
    def plain_bytes(self) -> int:
        """Its size; -1 where it is a folder, a pipe or a device."""
        found = os.fstat(self.number)
        return found.st_size if stat.S_ISREG(found.st_mode) else -1

    def close(self) -> None:
        """Give it back, if the number still means what it meant."""
        if self.number >= 0 and self._was in (None, what_is(self.number)):
            os.close(self.number)
        self.number = -1

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()


def what_is(number: int) -> Optional[Tuple[int, int]]:
    """What stands behind a number; None where it is closed."""
    try:
        found = os.fstat(number)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def close(one: socket.socket, was: Optional[Tuple[int, int]]) -> None:
    """Close a socket, if its number still means what it meant; else only forget the number."""
    with contextlib.suppress(OSError):
        if one.fileno() >= 0 and what_is(one.fileno()) != was:
            one.detach()
        else:
            one.close()
