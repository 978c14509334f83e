"""A folder that may be written to."""

from __future__ import annotations

import tempfile


def is_writable(folder: str) -> bool:
    """Whether a file can be made there: tried, since to root every folder seems to be."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
