"""A folder that may be written to, and files that are written whole."""

from __future__ import annotations

import contextlib
import os
import tempfile


def is_writable(folder: str) -> bool:
    """Whether a file can be made there: tried, since to root every folder seems to be."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def replace(path: str, making: str, data: bytes) -> None:
    """Put a whole file in the place of the last one: who reads meanwhile has the one or the other.

    It is made under the name `making`. What stands there already, a link too, is not written to: that is an error.
    """
    try:
        with open(making, "xb") as file:
            file.write(data)
        os.rename(making, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(making)
        raise
