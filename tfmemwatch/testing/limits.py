"""What a test may leave behind: the words of `@pytest.mark.tfmemwatch(...)`, checked."""

from __future__ import annotations

import difflib
import re
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple

from ..errors import ConfigError
from ..monitor.left_behind import COUNTED, KEPT
from ..units import size_of

WORDS = (*COUNTED, *KEPT)  # what is counted, and may be allowed
_UNITS = {"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([a-z]*)\s*\Z", re.I)


class Limits(NamedTuple):
    """How often a test is repeated, and what it may leave behind in all of that."""

    allowed: Mapping[str, int]  # by word; 0 of what is not named
    retained_bytes: Optional[float] = 100e3  # None: bytes are not judged
    warmup: int = 2
    repeat: int = 30

    def of(self, word: str) -> int:
        """How many of these may stay."""
        return self.allowed.get(word, 0)


def _is_number(value: Any) -> bool:
    return type(value) is int and value >= 0


_KINDS: Dict[str, Tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(WORDS, (_is_number, "a whole number, at least 0")),
    "warmup": (_is_number, "a whole number of repeats, at least 0"),
    "repeat": (lambda value: type(value) is int and value >= 1, "a whole number, at least 1"),
    "retained": (lambda value: value is None or _bytes_of(value) is not None,
                 "a size such as '100 kB', a number of bytes, or None where bytes are not to be judged"),
}  # fmt: skip


def limits_of(given: Mapping[str, Any], who: str) -> Limits:
    """The limits that these words mean; a ConfigError names `who`, the word, its value and what is allowed."""
    __tracebackhide__ = True  # pytest shows the line of the test
    for name, value in given.items():
        if name not in _KINDS:
            raise ConfigError("%s has no %r; %s" % (who, name, _meant(name)))
        is_good, allowed = _KINDS[name]
        if not is_good(value):
            raise ConfigError("%s has %s=%r; it must be %s" % (who, name, value, allowed))
    usual = Limits({})
    retained = given.get("retained", usual.retained_bytes)
    return Limits(
        {word: given[word] for word in WORDS if word in given},
        None if retained is None else _bytes_of(retained),
        given.get("warmup", usual.warmup), given.get("repeat", usual.repeat),
    )  # fmt: skip


def _meant(name: str) -> str:
    near = difflib.get_close_matches(name, _KINDS, 1, 0.6)
    return "did you mean %r?" % near[0] if near else "it may have %s" % ", ".join(_KINDS)


def _bytes_of(value: Any) -> Optional[float]:
    """A size as a person writes it, in bytes; None where it is none."""
    if isinstance(value, str):
        found = _SIZE.match(value)
        unit = _UNITS.get(found.group(2).lower()) if found is not None else None
        return float(found.group(1)) * unit if found is not None and unit is not None else None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < float("inf") else None


def allowed_bytes(limits: Limits) -> str:
    """`100 kB`, as it is said."""
    return size_of(limits.retained_bytes or 0)
