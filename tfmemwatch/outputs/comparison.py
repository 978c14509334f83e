"""Two recordings compared: did the fix help? Values in, a verdict out."""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Tuple

from ..memory.forecast import span_of
from ..model import Finding
from ..units import bytes_pace_of, pace_of
from .recording import Found, Run

GONE, NEW, STILL, NOT_KNOWN = "gone", "new", "still", "not known"
_Story = Tuple[str, str, str]  # kind, file, function: a fix moves lines
_LEAST_SECONDS = 60.0  # of a run, to say what it gains in an hour
_LEAST_SHARE = 0.8  # of the former pace: what is below it grows more slowly


class Compared(NamedTuple):
    """One finding, in the one and the other."""

    word: str  # gone, new, still, not known
    before: Optional[Finding]
    after: Optional[Finding]
    why: str = ""

    def __str__(self) -> str:
        one = self.after or self.before
        assert one is not None
        paces = [_pace(finding) for finding in (self.before, self.after) if finding is not None]
        lines = "  %-9s %s  %s" % (self.word, one.kind, one.site.short)
        return "%s: %s%s" % (lines, " → ".join(paces), "; " + self.why if self.why else "")


class Comparison(NamedTuple):
    """What two runs say together."""

    findings: Tuple[Compared, ...]
    growth_before: Optional[float]  # bytes in an hour
    growth_after: Optional[float]
    seconds_before: float
    seconds_after: float

    @property
    def verdict(self) -> str:
        """In a line: Fixed, Still leaks, Worse, Not known yet, or No leak in either."""
        words = [one.word for one in self.findings]
        if NEW in words:
            return "Worse: %d finding%s that %s not there before." % _number(words.count(NEW), "was", "were")
        if STILL in words:
            slower = all(_is_slower(one) for one in self.findings if one.word == STILL)
            return "Still leaks%s: %d finding%s of before %s there." % (
                ", more slowly" if slower else "", *_number(words.count(STILL), "is", "are"),
            )  # fmt: skip
        if NOT_KNOWN in words:
            return "Not known yet: let the second run as long as the first took to find its leak."
        return "Fixed: nothing of before is found any more." if words else "No leak in either."

    @property
    def leaks(self) -> bool:
        """Whether the second one leaks."""
        return any(one.word in (NEW, STILL) for one in self.findings)

    def __str__(self) -> str:
        rows = [self.verdict, "", *map(str, self.findings), *([""] if self.findings else [])]
        rows.append("  %-26s %20s %20s" % ("", "before", "after"))
        rows.append("  %-26s %20s %20s" % ("ran for", span_of(self.seconds_before), span_of(self.seconds_after)))
        growths = [_growth(one) for one in (self.growth_before, self.growth_after)]
        rows.append("  %-26s %20s %20s" % ("memory in use grows by", *growths))
        return "\n".join(rows) + "\n"


def compare(before: Run, after: Run) -> Comparison:
    """The findings of both, matched by kind, file and function."""
    old, new = _by_story(before), _by_story(after)
    found = [_compared(old.get(story), new.get(story), after.seconds) for story in dict.fromkeys([*old, *new])]
    order = (NEW, STILL, NOT_KNOWN, GONE)
    found.sort(key=lambda one: order.index(one.word))
    return Comparison(tuple(found), growth(before), growth(after), before.seconds, after.seconds)


def _by_story(run: Run) -> Dict[_Story, Found]:
    found: Dict[_Story, Found] = {}
    for one in run.found:
        if one.finding.is_sure:
            site = one.finding.site
            found.setdefault((one.finding.kind, site.file.replace("\\", "/").rsplit("/", 1)[-1], site.function), one)
    return found


def _compared(old: Optional[Found], new: Optional[Found], seconds: float) -> Compared:
    if old is None:
        return Compared(NEW, None, new.finding if new is not None else None)
    if new is not None:
        why = "it was over at the end" if new.is_over else ""
        return Compared(STILL, old.finding, new.finding, why)
    if seconds < old.first:
        took, ran = span_of(old.first), span_of(seconds)
        return Compared(NOT_KNOWN, old.finding, None, "found after %s, and the second ran for %s" % (took, ran))
    return Compared(GONE, old.finding, None)


def growth(run: Run) -> Optional[float]:
    """Bytes of memory in use that it gains in an hour: the middle of all slopes, the first quarter left out."""
    points = [(one.at, one.in_use_bytes if one.in_use_bytes is not None else one.resident_bytes)
              for one in run.moments if one.at >= run.seconds / 4]  # fmt: skip
    known = [(at, size) for at, size in points if size is not None]
    known = known[:: max(1, len(known) // 60)]
    slopes: List[float] = sorted(
        (b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(known) for b in known[i + 1 :] if b[0] > a[0]
    )
    return slopes[len(slopes) // 2] * 3600 if len(slopes) >= 10 and run.seconds >= _LEAST_SECONDS else None


def _growth(number: Optional[float]) -> str:
    return "not known" if number is None else bytes_pace_of(number, "hour")


def _pace(finding: Finding) -> str:
    if finding.grown:
        return "+%s%s" % (finding.gained, pace_of(finding.rate, finding.per))
    return bytes_pace_of(finding.bytes_rate, finding.per)


def _is_slower(one: Compared) -> bool:
    if one.before is None or one.after is None or one.before.per != one.after.per:
        return False
    pairs = ((one.before.rate, one.after.rate), (one.before.bytes_rate, one.after.bytes_rate))
    known = [(old, new) for old, new in pairs if old > 0]
    return bool(known) and all(new < _LEAST_SHARE * old for old, new in known)


def _number(count: int, one: str, many: str) -> Tuple[int, str, str]:
    return (count, "", one) if count == 1 else (count, "s", many)
