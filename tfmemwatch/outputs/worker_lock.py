"""A lock on a file: whose place among the workers it is."""

from __future__ import annotations

import errno
import os
from typing import Optional

from ..safety.descriptors import Descriptor

try:
    import fcntl
except ImportError:  # Windows has neither fork nor such servers
    fcntl = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None


class Lock:
    """A lock on a file, held until it is given back or its process ends."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: Optional[Descriptor] = None

    def take(self, create: bool = True) -> bool:
        """Whether it is ours now; nobody waits. OSError where there can be none: another user's, or no plain file."""
        file = _opened(self._path, os.O_CREAT if create else 0)
        try:
            if file.plain_bytes < 0:
                raise OSError(errno.ENODEV, "it is not a regular file", self._path)
            fcntl.flock(file.number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        except BaseException:
            file.close()
            raise
        self._file = file
        return True

    @property
    def is_ours(self) -> bool:
        """Whether we still hold it: who empties the folder takes the file away under our hands."""
        try:
            return self._file is not None and os.path.samestat(os.fstat(self._file.number), os.lstat(self._path))
        except (OSError, ValueError):
            return False

    def give_back(self) -> None:
        """Let the next one have it. In a forked child it stays its parent's."""
        file = self._file
        if file is not None:
            file.close()
        self._file = None


def _opened(path: str, flags: int) -> Descriptor:
    """A file to lock; another user's can be locked if it can be read."""
    try:
        return Descriptor(path, flags | os.O_RDWR)
    except PermissionError:
        if not os.path.lexists(path):  # it is the folder that can't be written to
            raise
        return Descriptor(path, os.O_RDONLY)
