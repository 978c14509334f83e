"""Wrap one attribute, and put it back."""

from __future__ import annotations

import contextlib
import functools
import inspect
import weakref
from types import BuiltinFunctionType, FunctionType
from typing import Any, Callable, List, Optional

import wrapt

from ..safety.tracebacks import without_us

# Makes the seam: of the original, and the patch that says whether it is still live.
Make = Callable[[Callable[..., Any], "Patch"], Callable[..., Any]]
_ABSENT = object()


class Patch:
    """One wrapped attribute of a module or class; a value that can undo itself.

    A function is replaced by a function: it pickles by name, copies, binds, and AutoGraph and `inspect` see what they
    saw before. wrapt, which is none of that, wraps what is no plain function: what another library has wrapped already.
    """

    def __init__(self, holder: Any, attribute: str, make: Make, journal: Optional[List[Patch]] = None) -> None:
        self.holder = holder
        self.attribute = attribute
        self.is_live = True
        self.original = vars(holder).get(attribute, _ABSENT)  # as it stands there, a descriptor where it is one
        target = getattr(holder, attribute) if self.original is _ABSENT else self.original
        is_plain = type(target) in (
            FunctionType,
            BuiltinFunctionType,
        )  # a proxy of another library says it is one too
        is_inherited = self.original is _ABSENT and inspect.isclass(holder)
        inner = self._inherited if is_inherited else target
        self.seam: Any = _like(make(inner, self), target) if is_plain else self._through_wrapt(target, make)
        if is_inherited and is_plain:
            self.seam.__module__ = holder.__module__  # so that it pickles by the name under which it stands
            self.seam.__qualname__ = "%s.%s" % (holder.__qualname__, attribute)
        _PATCHES[id(self.seam)] = self
        if journal is not None:
            journal.append(self)  # what is to be undone is written down before it is done
        setattr(holder, attribute, self.seam)

    @property
    def _inherited(self) -> Callable[..., Any]:
        """What the class would have inherited, for the very instance: its own bases may come in between."""
        holder, attribute = self.holder, self.attribute

        def inherited(me: Any, *args: Any, **kwargs: Any) -> Any:
            return getattr(super(holder, me), attribute)(*args, **kwargs)

        return inherited

    def _through_wrapt(self, target: Any, make: Make) -> Any:
        def wrapper(wrapped: Callable[..., Any], instance: Any, args: Any, kwargs: Any) -> Any:
            try:
                if instance is None or inspect.isclass(instance):
                    return make(wrapped, self)(*args, **kwargs)
                return make(lambda me, *rest, **named: wrapped(*rest, **named), self)(instance, *args, **kwargs)
            except BaseException as error:
                without_us(error)
                raise

        return wrapt.FunctionWrapper(target, wrapper)

    def undo(self) -> None:
        """Restore the original, unless someone has since wrapped ours; again, if it was interrupted."""
        self.is_live = False
        if vars(self.holder).get(self.attribute) is not self.seam:
            return  # ours stays in the middle, as a pass-through
        original = self.original
        below = _PATCHES.get(id(original))
        while below is not None and below.seam is original and not below.is_live:
            original = below.original  # ours too, undone while this one stood on top of it
            below = _PATCHES.get(id(original))
        if original is _ABSENT:
            delattr(self.holder, self.attribute)
        else:
            setattr(self.holder, self.attribute, original)


# By the id of their seam, for as long as one stands somewhere: a seam keeps its patch alive.
_PATCHES: weakref.WeakValueDictionary[int, Patch] = weakref.WeakValueDictionary()


def _like(seam: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    """Give a seam the looks of what it replaces."""
    functools.update_wrapper(seam, original)
    if not hasattr(original, "__wrapped__"):  # else `inspect` looks through it, as it did before
        with contextlib.suppress(TypeError, ValueError):  # a builtin may have none
            seam.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
    seam.autograph_info__ = {}  # type: ignore[attr-defined]  # AutoGraph's own mark for what it may call as it is
    return seam


def where_defined(kind: type, attribute: str) -> type:
    """The class in whose body an attribute stands: a seam put there is seen by all who compare it."""
    return next((base for base in kind.__mro__ if attribute in vars(base)), kind)


def undo_all(patches: List[Patch]) -> None:
    """Take the patches off, the last one first. Each is struck off when that is done, so one can go on later."""
    for patch in reversed(list(patches)):
        patch.undo()
        with contextlib.suppress(ValueError):  # a signal handler or another thread was first
            patches.remove(patch)
