"""Eager operations, for a short while on request: which line's calls leave memory in use behind."""
from __future__ import annotations

import sys
from typing import Any, Callable, Dict, Hashable, List, NamedTuple, Set, Tuple

from . import guard, site, tfapi
from .model import Site
from .patch import Patch, undo_all
from .probes.scene import Scene

_MOST_CALLS = 6000  # in one window; then the patches come off, whatever is left of it
_MOST_KEYS = 500
_MOST_KINDS = 256  # distinct signatures remembered for one line


class Operation(NamedTuple):
    """What the calls of one operation from one line did."""

    site: Site
    name: str
    calls: int
    kept_bytes: int  # in use after the call more than before, the outputs not counted
    signatures: int  # distinct attributes and, for compiled functions, input shapes
    numbers: int  # distinct Python numbers among the inputs
    is_function: bool


class _Seen:
    __slots__ = ("calls", "is_function", "kept", "numbers", "signatures")

    def __init__(self) -> None:
        self.calls = self.kept = 0
        self.is_function = False
        self.signatures: Set[Hashable] = set()
        self.numbers: Set[Hashable] = set()


class Operations:
    """Wraps the two doors that every eager operation goes through, while a window is open, and never longer."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._patches: List[Patch] = []
        self._seen: Dict[Tuple[Site, str], _Seen] = {}
        self._left = 0

    @property
    def is_open(self) -> bool:
        """Whether it is watching now."""
        return bool(self._patches)

    def open(self) -> None:
        """Begin to watch; a window that is open already goes on."""
        self._seen = {}
        self._left = _MOST_CALLS
        if self._patches:
            return
        doors = (("fast_path", self._fast), ("slow_path", self._slow), ("to_eager", self._convert))
        for what, wrapper in doors:
            if tfapi.has(what):
                place = tfapi.find(what)
                self._patches.append(Patch(place.holder, place.attribute, wrapper))

    def close(self) -> None:
        """Stop; nothing of it is left in the program."""
        undo_all(self._patches)

    def read(self) -> List[Operation]:
        """What was seen since the window was opened, the heaviest first."""
        rows = [
            Operation(at, name, seen.calls, seen.kept, len(seen.signatures), len(seen.numbers), seen.is_function)
            for (at, name), seen in list(self._seen.items())
        ]
        return sorted(rows, key=lambda row: -row.kept_bytes)

    def _measured(self, wrapped: Callable[..., Any], args: tuple, kwargs: Dict[str, Any], note: Any) -> Any:
        if self._left <= 0:
            return wrapped(*args, **kwargs)
        self._left -= 1
        before = self._scene.process.in_use_bytes()
        result = wrapped(*args, **kwargs)
        try:
            after = self._scene.process.in_use_bytes()
            note((after or 0) - (before or 0) - _output_bytes(result), args)
        except Exception:
            guard.failed("operations")
        return result

    def _fast(self, wrapped: Callable[..., Any], instance: Any, args: tuple, kwargs: Dict[str, Any]) -> Any:
        return self._measured(wrapped, args, kwargs, self._note_fast)

    def _slow(self, wrapped: Callable[..., Any], instance: Any, args: tuple, kwargs: Dict[str, Any]) -> Any:
        return self._measured(wrapped, args, kwargs, self._note_slow)

    def _convert(self, wrapped: Callable[..., Any], instance: Any, args: tuple, kwargs: Dict[str, Any]) -> Any:
        return self._measured(wrapped, args, kwargs, self._note_convert)

    def _note_fast(self, kept: int, args: tuple) -> None:
        numbers: List[Hashable] = []
        attributes: List[Hashable] = []
        for value in args[3:]:
            if attributes or isinstance(value, str):
                attributes.append(_plain(value))
            elif type(value) in (int, float):
                numbers.append(value)
        self._note(str(args[1]), kept, tuple(attributes), numbers, False)

    def _note_slow(self, kept: int, args: tuple) -> None:
        name = args[2].decode() if isinstance(args[2], bytes) else str(args[2])
        is_function = name.startswith(("__inference_", "__forward_", "__backward_"))
        signature = tuple(_shape(value) for value in args[3]) if is_function else tuple(map(_plain, args[4] or ()))
        self._note(name, kept, signature, (), is_function)

    def _note_convert(self, kept: int, args: tuple) -> None:
        if type(args[0]) in (int, float):
            self._note("a conversion to a tensor", kept, (), (args[0],), False)

    def _note(self, name: str, kept: int, signature: Hashable, numbers: Any, is_function: bool) -> None:
        key = (site.here(sys._getframe(3)), name)
        seen = self._seen.get(key)
        if seen is None:
            if len(self._seen) >= _MOST_KEYS:
                return
            seen = self._seen[key] = _Seen()
        seen.calls += 1
        seen.kept += kept
        seen.is_function = is_function
        if len(seen.signatures) < _MOST_KINDS:
            seen.signatures.add(signature)
        if len(seen.numbers) < _MOST_KINDS:
            seen.numbers.update(numbers)


def _plain(value: Any) -> Hashable:
    """An attribute as something that can be compared without asking TensorFlow."""
    if isinstance(value, (str, bytes, int, float, bool, type(None))):
        return value
    return repr(value)[:200] if isinstance(value, (tuple, list)) else type(value).__name__


def _shape(value: Any) -> Hashable:
    shape = getattr(value, "_shape_tuple", None)
    return shape() if shape is not None else None


def _output_bytes(result: Any) -> int:
    values = result if isinstance(result, (list, tuple)) else (result,)
    total = 0
    for value in values:
        count = getattr(value, "_num_elements", None)
        if count is not None:
            total += count() * max(0, value.dtype.size)
    return total
