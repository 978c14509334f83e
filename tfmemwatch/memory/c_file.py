"""What a function of C writes to a file."""

from __future__ import annotations

import ctypes
from typing import Any, Callable, Optional


def written(library: Any, write: Callable[[Any], Any]) -> Optional[str]:
    """What a function of C writes to a file that is memory; None where there is no such file."""
    if not hasattr(library, "open_memstream"):
        return None
    library.open_memstream.restype = ctypes.c_void_p
    text, size = ctypes.c_void_p(), ctypes.c_size_t()
    file = ctypes.c_void_p(library.open_memstream(ctypes.byref(text), ctypes.byref(size)))
    if not file.value:
        return None
    try:
        write(file)
    finally:
        library.fclose(file)
    found = ctypes.string_at(text, size.value).decode("ascii", "replace")
    library.free(text)
    return found
