"""Wrap one attribute, and put it back."""
from __future__ import annotations

import sys
from typing import Any, Callable, Dict, List

import wrapt

Wrapper = Callable[[Callable[..., Any], Any, tuple, dict], Any]
_ABSENT = object()


class _BoundSeam(wrapt.BoundFunctionWrapper):  # type: ignore[misc]
    autograph_info__: Dict[str, Any] = {}


class Seam(wrapt.FunctionWrapper):  # type: ignore[misc]
    """A wrapt wrapper that AutoGraph takes for one of its own artifacts.

    It would otherwise print that wrapt «is not yet supported», and call it unconverted all the same.
    """

    __bound_function_wrapper__ = _BoundSeam
    autograph_info__: Dict[str, Any] = {}


class Patch:
    """One wrapped attribute of a module or class; a value that can undo itself."""

    def __init__(self, holder: Any, attribute: str, wrapper: Wrapper) -> None:
        self.holder = holder
        self.attribute = attribute
        self.is_live = True
        self.original = vars(holder).get(attribute, _ABSENT)  # as it stands there, a descriptor where it is one
        target = getattr(holder, attribute) if self.original is _ABSENT else self.original
        self.seam = Seam(target, self._while_live(wrapper))
        self.seam._self_patch = self
        setattr(holder, attribute, self.seam)

    def _while_live(self, wrapper: Wrapper) -> Wrapper:
        """The wrapper while installed; nothing at all where others still hold on to it afterwards."""

        def seam(wrapped: Callable[..., Any], instance: Any, args: Any, kwargs: Any) -> Any:
            if self.is_live:
                return wrapper(wrapped, instance, args, kwargs)
            return wrapped(*args, **kwargs)

        return seam

    def undo(self) -> None:
        """Restore the original, unless someone has since wrapped ours."""
        self.is_live = False
        if vars(self.holder).get(self.attribute) is not self.seam:
            return
        original = self.original
        while isinstance(original, Seam) and not original._self_patch.is_live:
            original = original._self_patch.original  # ours too, undone while this one stood on top of it
        if original is _ABSENT:
            delattr(self.holder, self.attribute)
        else:
            setattr(self.holder, self.attribute, original)


def undo_all(patches: List[Patch]) -> None:
    """Take the patches off, the last one first."""
    while patches:
        patches.pop().undo()




def on_import(name: str, listener: Callable[[], Any]) -> None:
    """Call what a weak reference leads to each time a module has been imported; nothing once it has gone.

    wrapt has no way to take such a hook back; one whose owner has gone does nothing.
    """

    def imported(module: Any) -> None:
        method = listener()
        if method is not None:
            method(module)

    if name not in sys.modules:
        wrapt.register_post_import_hook(imported, name)
