"""The memory of eager tensors."""

from __future__ import annotations

from typing import Any, Optional, Tuple


def output_bytes(result: Any) -> int:
    """What the tensors weigh that an operation has returned."""
    if isinstance(result, (list, tuple)):
        return sum(map(output_bytes, result))
    if type(result) is dict:
        return sum(map(output_bytes, result.values()))
    count = getattr(result, "_num_elements", None)
    return 0 if count is None else count() * max(0, result.dtype.size)


_WITHOUT_MEMORY = frozenset(("string", "resource", "variant"))  # what they hold is not an array of numbers


def tensor_memory(tensor: Any, least: int) -> Tuple[int, Optional[int]]:
    """Bytes of an eager tensor in the memory of the host; and where, for the larger ones that can say it."""
    try:
        dtype = tensor.dtype
        if dtype.name in _WITHOUT_MEMORY or not (tensor.device or "CPU:").rpartition("/")[2].count("CPU:"):
            return 0, None
        size = int(tensor._num_elements()) * int(dtype.size)
        inside = getattr(tensor, "_numpy_internal", None)
        if size < least or inside is None:
            return size, None
        return size, int(inside().__array_interface__["data"][0])
    except Exception:  # it is one whose value is not there yet, or was given away
        return 0, None
