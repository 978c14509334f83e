"""What to do about a holder: where it is known who keeps a thing, the cure is about that."""

from __future__ import annotations

from typing import Optional

from ..ledger.site import is_users
from .bounds import collections_on
from .names import Holder, holder_at
from .search import Way

_FINALIZED = (
    "weakref.finalize(self, self.…) keeps its own object: a bound method holds it. Pass a function that does not, and "
    "what it needs: weakref.finalize(self, close, handle)."
)
_TAKE_OUT = "Take each out of %s when it is done, or keep only what is needed of it."
_REGISTRY = (
    "The gradient registry of TensorFlow keeps it, and clear_session() does not reach that: trace the tf.function with "
    "the custom gradient once, outside the loop."
)


def cure_for(way: Way, path: str, kind: str) -> str:
    """What to do about what holds a thing in this way; nothing where that is no affair of the program's."""
    if path.startswith("weakref.finalize._registry"):
        return _FINALIZED
    if "gradient_registry" in path.split(" → ")[0]:
        return _REGISTRY
    if kind != "model_rebuild":  # what is made anew where one would do
        return ""
    holder = collection_of_the_programs(way)
    return "" if holder is None else _TAKE_OUT % holder.path


def collection_of_the_programs(way: Way) -> Optional[Holder]:
    """The collection of the program's own that is nearest to a thing."""
    for one in collections_on(way):
        holder = holder_at(one)
        if holder is not None and not holder.is_within and is_users(holder.module, bool(holder.function)):
            return holder
    return None
