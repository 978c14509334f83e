"""Which of the workers of one server has the port, where they share no folder."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
from typing import Optional, Tuple

from ..safety import descriptors


class PortLock:
    """A name that one process at a time can have: of a port, among the children of one parent.

    It is a name of Linux's abstract sockets. It needs no file, holds as far as the port does, whoever's the processes
    are, and is free again however its owner ends.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: Optional[socket.socket] = None
        self._was: Optional[Tuple[int, int]] = None

    def take(self) -> bool:
        """Whether no other worker of our parent has it; of what is no worker, the port itself has to say."""
        if sys.platform != "linux" or not _is_worker():
            return True
        one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            one.bind("\0tfmemwatch-port%d-%d-%s" % (self._port, os.getppid(), _process_numbers()))
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


def _is_worker() -> bool:
    """Whether our parent runs the same interpreter: a shell or an init starts programs that have nothing in common."""
    try:
        return os.path.samefile("/proc/self/exe", "/proc/%d/exe" % os.getppid())
    except OSError:
        return False


def _process_numbers() -> str:
    """Where process ids count: two containers may share their ports, and each has a process 1."""
    with contextlib.suppress(OSError):
        return os.readlink("/proc/self/ns/pid")
    return ""
