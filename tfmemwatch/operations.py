"""Eager operations, for a short while on request: which line's calls leave memory in use behind."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Dict, Hashable, List, NamedTuple, Optional, Set, Tuple

from . import guard, site, tfapi
from .model import Site
from .patch import Make, Patch, undo_all
from .probes.scene import Scene

_MOST_CALLS = 6000  # in one half of a window; the rest of that half only passes through
_MOST_KEYS = 500
_CHEAP_SECONDS = 5e-6  # what reading malloc may cost a call: where it takes longer, fewer calls are weighed
_MOST_STRIDE = 2000
_MOST_KINDS = 4096  # distinct signatures remembered for one line
LEAST_NEW = 6  # attributes, shapes or numbers that must be new in each half of a window


class Operation(NamedTuple):
    """What the calls of one operation from one line did."""

    site: Site
    name: str
    calls: int
    output_bytes: int
    kept_bytes: int  # in use after the call more than before, the outputs not counted
    signatures: int  # distinct attributes and, for compiled functions, input shapes
    numbers: int  # distinct Python numbers among the inputs
    sizes: int  # distinct sizes of the outputs
    is_function: bool

    @property
    def shapes(self) -> int:
        """About how many shapes it came to: of a function those of its inputs are known, of others what they made."""
        return max(self.sizes, self.signatures) if self.is_function else self.sizes

    @property
    def is_compiled(self) -> bool:
        """Whether it is a function that XLA compiles."""
        try:
            return self.is_function and tfapi.is_compiled(self.name)
        except Exception:
            return False  # it has gone by now


class _Seen:
    __slots__ = ("calls", "is_function", "kept", "numbers", "output", "signatures", "sizes")

    def __init__(self) -> None:
        self.calls = self.kept = self.output = 0
        self.is_function = False
        self.signatures: Set[Hashable] = set()
        self.numbers: Set[Hashable] = set()
        self.sizes: Set[int] = set()


class Operations:
    """Wraps the two doors that every eager operation goes through, while a window is open, and never longer."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._patches: List[Patch] = []
        self._seen: Dict[Tuple[Site, str], _Seen] = {}
        self._left = self._next = 0
        self._stride = 1
        self._began = self._watched = self._lasted = 0.0

    @property
    def is_open(self) -> bool:
        """Whether it is watching now."""
        return bool(self._patches)

    def open(self) -> None:
        """Begin to watch; a window that is open already goes on."""
        self._seen = {}
        self._watched = self._lasted = 0.0
        self._left, self._began = _MOST_CALLS, time.perf_counter()
        self._stride = 1
        self._next = _MOST_CALLS
        if self._patches:
            return
        doors = (
            ("fast_path", self._note_fast),
            ("slow_path", self._note_slow),
            ("to_eager", self._note_convert),
        )
        for what, note in doors:
            if tfapi.has(what):
                place = tfapi.find(what)
                self._patches.append(Patch(place.holder, place.attribute, self._measured(note)))

    def go_on(self) -> None:
        """Begin the second half of the window."""
        self._end_half()
        self._left, self._began = _MOST_CALLS, time.perf_counter()
        self._next = _MOST_CALLS

    def _weigh(self, left: int) -> Tuple[int, int]:
        """What is in use before a call, and for how many calls this one stands.

        malloc takes the longer to count, the more pieces it is in: of so many calls one is weighed that it costs each
        of them little. At uneven distances: a loop has a rhythm of its own.
        """
        stands_for = self._stride
        began = time.perf_counter()
        before = self._scene.process.in_use_bytes() or 0
        self._stride = 1 + min(_MOST_STRIDE, int((time.perf_counter() - began) / _CHEAP_SECONDS))
        self._next = left - (left * 2654435761 >> 7) % (2 * self._stride - 1)
        return before, stands_for

    def close(self) -> None:
        """Stop; nothing of it is left in the program."""
        if self._patches:
            self._end_half()
        undo_all(self._patches)
        self._seen = {}

    @property
    def covered(self) -> float:
        """The share of the window in which calls were still looked at."""
        return max(0.02, self._watched / self._lasted) if self._lasted else 1.0

    def _end_half(self) -> None:
        lasted = time.perf_counter() - self._began
        self._lasted += lasted
        if self._left > 0:
            self._watched += lasted

    def _exhausted(self) -> None:
        self._watched += time.perf_counter() - self._began

    def read(self) -> List[Operation]:
        """What was seen since the window was opened, the heaviest first."""
        rows = [
            Operation(
                at,
                name,
                seen.calls,
                seen.output,
                seen.kept,
                len(seen.signatures),
                len(seen.numbers),
                len(seen.sizes),
                seen.is_function,
            )
            for (at, name), seen in list(self._seen.items())
        ]
        return sorted(rows, key=lambda row: -row.kept_bytes)

    def _measured(self, note: Callable[[int, int, Any], None]) -> Make:
        in_use = self._scene.process.in_use_bytes

        def make(original: Callable[..., Any], patch: Patch) -> Callable[..., Any]:
            def operation(*args: Any, **kwargs: Any) -> Any:
                if self._left <= 0 or not patch.is_live:
                    return original(*args, **kwargs)
                left = self._left = self._left - 1
                if not left:
                    self._exhausted()
                is_weighed = left < self._next
                before, stands_for = self._weigh(left) if is_weighed else (0, 0)
                result = original(*args, **kwargs)
                try:
                    output = tfapi.output_bytes(result)
                    kept = stands_for * ((in_use() or 0) - before - output) if is_weighed else 0
                    note(kept, output, args)
                except Exception:
                    guard.failed("operations")
                return result

            return operation

        return make

    def _note_fast(self, kept: int, output: int, args: Any) -> None:
        numbers: List[Hashable] = []
        attributes: List[Hashable] = []
        for value in args[3:]:
            if attributes or isinstance(value, str):
                attributes.append(_plain(value))
            elif type(value) in (int, float):
                numbers.append(value)
        self._note(str(args[1]), kept, output, tuple(attributes), numbers, False)

    def _note_slow(self, kept: int, output: int, args: Any) -> None:
        name = args[2].decode() if isinstance(args[2], bytes) else str(args[2])
        is_function = name.startswith(("__inference_", "__forward_", "__backward_"))
        signature = tuple(_shape(value) for value in args[3]) if is_function else tuple(map(_plain, args[4] or ()))
        self._note(name, kept, output, signature, (), is_function)

    def _note_convert(self, kept: int, output: int, args: Any) -> None:
        if type(args[0]) in (int, float):
            self._note("a conversion to a tensor", kept, output, (), (args[0],), False)

    def _note(self, name: str, kept: int, output: int, signature: Hashable, numbers: Any, is_function: bool) -> None:
        key = (site.here(sys._getframe(3)), name)
        seen = self._seen.get(key)
        if seen is None:
            if len(self._seen) >= _MOST_KEYS:
                return
            seen = self._seen[key] = _Seen()
        seen.calls += 1
        seen.kept += kept
        seen.output += output
        seen.is_function = is_function
        if len(seen.sizes) < _MOST_KINDS:
            seen.sizes.add(output)
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


# -- what their rows say


def story_of(row: Operation, half: Optional[Operation]) -> Optional[str]:
    """Which of TensorFlow's caches an operation fills, if it asks for as much that is new now as at first."""
    if half is None or not goes_on(half.signatures, row.signatures) or row.kept_bytes <= 2000 * row.signatures:
        return None
    if "Dataset" in row.name or "Iterator" in row.name:
        return None  # their functions have new names each time, but go with them
    if row.is_function:  # ever new shapes cost an ordinary function nothing
        return "executable" if row.is_compiled else None
    return "kernel"


def growing_output(row: Operation, half: Optional[Operation]) -> float:
    """By how many bytes the result of an operation has grown over a window."""
    if half is None or not half.calls or row.calls <= half.calls:
        return 0.0
    first = half.output_bytes / half.calls
    second = (row.output_bytes - half.output_bytes) / (row.calls - half.calls)
    return 2 * (second - first)


def functions_together(rows: List[Operation]) -> List[Operation]:
    """The functions called from one line as one: each new shape compiles them all."""
    lines: Dict[Site, Operation] = {}
    others = []
    for row in rows:
        if not row.is_function or not row.is_compiled:
            others.append(row)
            continue
        one = lines.get(row.site)
        lines[row.site] = row if one is None else one._replace(
            name=min(one.name, row.name), calls=one.calls + row.calls, kept_bytes=one.kept_bytes + row.kept_bytes,
            signatures=one.signatures + row.signatures,
        )  # fmt: skip
    return sorted([*lines.values(), *others], key=lambda row: -row.kept_bytes)


def goes_on(first_half: int, both: int) -> bool:
    """Whether about as much was new in the second half of a window as in the first."""
    return first_half >= LEAST_NEW and both - first_half >= max(LEAST_NEW, 0.6 * first_half)
