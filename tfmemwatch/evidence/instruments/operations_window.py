"""Eager operations, for a short while on request: which line's calls leave memory in use behind."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Dict, Hashable, Iterable, List, Optional, Set, Tuple

from ...heap.room import room
from ...ledger import site
from ...model import Site
from ...probes.scene import Scene
from ...safety import guard
from ...safety.tracebacks import without_us
from ...seams import functions, places, tensors
from ...seams.patch import Make, Patch, undo_all
from ..operations import ASSIGNS, Operation

_MOST_CALLS = 6000  # in one half of a window; the rest of that half only passes through
_MOST_KEYS = 500
_CHEAP_SECONDS = 5e-6  # what reading malloc may cost a call: where it takes longer, fewer calls are weighed
_MOST_STRIDE = 2000
_MOST_KINDS = 2048  # distinct signatures remembered for one line, in one half of a window
_KIND_BYTES = 500  # of one of them


class _Seen:
    __slots__ = ("calls", "is_function", "kept", "latest", "numbers", "output", "signatures", "sizes")

    def __init__(self) -> None:
        self.calls = self.kept = self.output = self.latest = 0
        self.is_function = False
        self.signatures: Set[Hashable] = set()
        self.numbers: Set[Hashable] = set()
        self.sizes: Set[int] = set()


class OperationsWindow:
    """Wraps the two places that every eager operation goes through, while a window is open, and never longer.

    Costs some microseconds a call of the program's, for 6,000 calls in each half of a window.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._patches: List[Patch] = []
        self._seen: Dict[Tuple[Site, str], _Seen] = {}
        self._left = self._next = 0
        self._kinds = self._kinds_a_half = 0  # signatures, numbers and sizes that may still be remembered
        self._most_kinds = _MOST_KINDS
        self._stride = 1
        self._began = self._watched = self._lasted = 0.0
        self.is_over = False  # the watch has stopped: a look that is still under way somewhere opens no window

    @property
    def is_open(self) -> bool:
        """Whether it is watching now."""
        return bool(self._patches)

    def open(self) -> None:
        """Begin to watch; a window that is open already goes on."""
        self._seen = {}
        self._kinds = self._kinds_a_half = room.bytes // _KIND_BYTES // 2
        self._most_kinds = _MOST_KINDS
        self._watched = self._lasted = 0.0
        self._left, self._began = _MOST_CALLS, time.perf_counter()
        self._stride = 1
        self._next = _MOST_CALLS
        if self._patches or self.is_over:
            return
        seams = (
            ("fast_path", self._note_fast),
            ("slow_path", self._note_slow),
            ("to_eager", self._note_convert),
        )
        for what, note in seams:
            if places.has(what):
                place = places.find(what)
                Patch(place.holder, place.attribute, self._measured(note), self._patches)
        if self.is_over:  # since this has begun
            self.close()

    def go_on(self) -> None:
        """Begin the second half of the window."""
        self._end_half()
        self._left, self._began = _MOST_CALLS, time.perf_counter()
        self._next = _MOST_CALLS
        self._kinds += self._kinds_a_half  # else a half that fills the table would leave nothing new to the other
        self._most_kinds += _MOST_KINDS

    def _weigh(self, left: int) -> Tuple[Optional[int], int]:
        """What is in use before a call, if that can be told, and for how many calls this one stands.

        malloc takes the longer to count, the more pieces it is in: of so many calls one is weighed that it costs each
        of them little. At uneven distances: a loop has a rhythm of its own.
        """
        stands_for = self._stride
        began = time.perf_counter()
        before = self._scene.process.in_use_bytes()
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
                seen.is_function and _is_compiled(name),
                seen.latest,
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
                before, stands_for = self._weigh(left) if left < self._next else (None, 0)
                try:
                    result = original(*args, **kwargs)
                except BaseException as error:
                    without_us(error)
                    raise
                try:
                    output = tensors.output_bytes(result)
                    after = in_use() if before is not None else None
                    kept = stands_for * (after - before - output) if after is not None and before is not None else 0
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
        name = str(args[1])
        if name == ASSIGNS:
            output = tensors.output_bytes(args[4:5])
        self._note(name, kept, output, tuple(attributes), numbers, False)

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
        seen.latest = output
        seen.is_function = is_function
        self._remember(seen.sizes, (output,))
        self._remember(seen.signatures, (signature,))
        self._remember(seen.numbers, numbers)

    def _remember(self, known: Set[Any], new: Iterable[Any]) -> None:
        before = len(known)
        if before < self._most_kinds and self._kinds > 0:
            known.update(new)
            self._kinds -= len(known) - before


def _is_compiled(function: str) -> bool:
    """Whether it is a function that XLA compiles."""
    try:
        return functions.is_compiled(function)
    except Exception:
        return False  # it has gone by now


def _plain(value: Any) -> Hashable:
    """An attribute as something that can be compared without asking TensorFlow."""
    if isinstance(value, (str, bytes, int, float, bool, type(None))):
        return value
    return repr(value)[:200] if isinstance(value, (tuple, list)) else type(value).__name__


def _shape(value: Any) -> Hashable:
    shape = getattr(value, "_shape_tuple", None)
    return shape() if shape is not None else None
