"""The caches of TensorFlow's runtime, and how each is emptied."""

from __future__ import annotations

from ..errors import Unavailable
from .places import find
from .runtime import is_used


def clear_kernel_cache() -> None:
    """Empty the cache of eager kernels."""
    if not is_used():
        raise Unavailable("TensorFlow has not been used yet")
    context = find("context").value()
    if hasattr(context, "clear_kernel_cache"):
        context.clear_kernel_cache()
    else:
        find("context_caches_clear").value(context._handle)


def clear_scalar_cache() -> None:
    """Empty the cache of tensors made from Python numbers."""
    find("scalar_cache_clear").value()
