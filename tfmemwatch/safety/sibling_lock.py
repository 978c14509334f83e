"""A name that one process at a time can have, among the children of one parent."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
from typing import Optional, Tuple

from . import descriptors

IS_POSSIBLE = sys.platform == "linux"


class SiblingLock:
    """A name of Linux's abstract sockets; elsewhere everybody has it.

    It needs no file, holds whoever's the processes are, and is free again however its owner ends.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._socket: Optional[socket.socket] = None
        self._was: Optional[Tuple[int, int]] = None

    def take(self) -> bool:
        """Whether no sibling has it."""
        if not IS_POSSIBLE or self._socket is not None:
            return True
        one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            one.bind("\0tfmemwatch-%s-%d-%s" % (self._name, os.getppid(), _process_numbers()))
        except OSError as error:
            one.close()
            return error.errno != errno.EADDRINUSE
        self._was = descriptors.what_is(one.fileno())
        self._socket = one
        return True

    def give_back(self) -> None:
        """Let the next one have it. In a forked child it stays its parent's."""
        one = self._socket
        if one is not None:
            descriptors.close(one, self._was)
        self._socket = None


def _process_numbers() -> str:
    """Where process ids count: two containers may share their ports, and each has a process 1."""
    with contextlib.suppress(OSError):
        return os.readlink("/proc/self/ns/pid")
    return ""
