"""What one test has left behind, and the list of the worst: plain values, and their words."""

from __future__ import annotations

from typing import Iterable, List, Mapping, NamedTuple, Tuple

from ..units import count_of, size_of

_MOST_SHOWN = 15


class Left(NamedTuple):
    """What one test has left behind, its fixtures and all."""

    test: str
    bytes: int
    words: Mapping[str, int]
    lines: Tuple[str, ...]
    note: str = ""

    @property
    def counts(self) -> str:
        """`3 variables, 1 retrace`."""
        rows = sorted(self.words.items(), key=lambda row: -row[1])
        return ", ".join("%s %s" % (count_of(number), word if number != 1 else word[:-1]) for word, number in rows)


def told(rows: List[Left], tests: int) -> List[str]:
    """The list as text: the worst first."""
    watched = "%s test%s watched" % (count_of(tests), "s"[: tests != 1])
    if not rows:
        return ["%s; none left anything behind after a garbage collection." % watched]
    lines = []
    for row in rows[:_MOST_SHOWN]:
        lines.append("%9s  %s%s" % (size_of(row.bytes), row.test, "  (%s)" % row.note if row.note else ""))
        details = "; ".join(filter(None, (row.counts, ", ".join(row.lines))))
        lines += ["           " + details] if details else []
    if len(rows) > _MOST_SHOWN:
        lines.append("… and %d more" % (len(rows) - _MOST_SHOWN))
    lines.append("%s; %s left something, which may be a cache that is made once." % (watched, count_of(len(rows))))
    lines.append("@pytest.mark.tfmemwatch on a test repeats it, and says whether it leaks.")
    return lines


def worst(rows: Iterable[Left], most: int) -> List[Left]:
    return sorted(rows, key=lambda row: (-row.bytes, -sum(row.words.values()), row.test))[:most]
