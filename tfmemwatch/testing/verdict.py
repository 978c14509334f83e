"""What came of a test: what it has left behind, where, since when, by how much, and the cure; as a plain value."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Tuple

from ..model import Finding
from ..units import count_of, pace_of, size_of
from .limits import Limits, allowed_bytes

_MOST_SHOWN = 6  # findings


class Excess(NamedTuple):
    """More of something than is allowed."""

    word: str
    number: int
    allowed: int
    why: Tuple[Finding, ...] = ()

    def __str__(self) -> str:
        word = self.word[:-1] if self.number == 1 and self.word.endswith("s") else self.word
        return "%s %s (%s allowed)" % (count_of(self.number), word, count_of(self.allowed) if self.allowed else "none")


class Verdict(NamedTuple):
    """What came of so many steps of a test."""

    name: str
    steps: int  # counted: without the warm-up
    limits: Limits
    excesses: Tuple[Excess, ...] = ()
    retained_bytes: Optional[float] = None  # in all these steps; None where it could not be told
    found: Tuple[Finding, ...] = ()  # by the block, step by step
    also: Tuple[Finding, ...] = ()  # what explains bytes, and is counted under no word

    @property
    def retains(self) -> bool:
        """Whether more bytes stay than are allowed."""
        allowed = self.limits.retained_bytes
        return allowed is not None and self.retained_bytes is not None and self.retained_bytes > allowed

    @property
    def is_clean(self) -> bool:
        """Whether it stays within its limits."""
        return not (self.excesses or self.found or self.retains)

    @property
    def findings(self) -> Tuple[Finding, ...]:
        """All that explains it, each once, what is surest first."""
        rows = [one for excess in self.excesses for one in excess.why]
        rows += [*self.found, *(self.also if self.retains else ())]
        return tuple({(one.kind, one.site, one.cause): one for one in rows}.values())

    @property
    def headline(self) -> str:
        """One line: how much of what, and where."""
        parts = [str(one) for one in self.excesses]
        if self.retains:
            parts.append("%s retained (%s allowed)" % (size_of(self.retained_bytes or 0), allowed_bytes(self.limits)))
        parts = parts or ["%s: %s" % (one.kind, one.cause) for one in self.found]
        line = next((" at " + one.site.short for one in self.findings if one.site.line), "")
        return "%s in %s step%s%s" % ("; ".join(parts), count_of(self.steps), "s"[: self.steps != 1], line)

    def __str__(self) -> str:
        lines = [self.headline]
        for finding in self.findings[:_MOST_SHOWN]:
            lines += ["  " + line for line in told(finding, self.limits)]
        if len(self.findings) > _MOST_SHOWN:
            lines.append("  … and %d more" % (len(self.findings) - _MOST_SHOWN))
        lines += ["  " + line for line in self.bytes_told()]
        return "\n".join(lines)

    def bytes_told(self) -> List[str]:
        """How many bytes stay, where that is more than allowed."""
        if not self.retains or not self.steps:
            return []
        size = self.retained_bytes or 0.0
        each = "%s stay after garbage collection, %s a step" % (size_of(size), size_of(size / self.steps))
        if self.findings:
            return [each]
        return [
            each + "; no count and no collection explains them.",
            "What it may be: a library's own cache, native memory, or a cache with a bound that is still filling: then "
            "give it a longer warmup, or allow it with retained=%r." % size_of(2 * size),
        ]


def told(finding: Finding, limits: Limits) -> List[str]:
    """One finding, in some lines: where, what, since when and by how much, why, who holds it, and the cure."""
    lines = ["%s: %s" % (finding.site.short, finding.cause), "  " + _amount(finding, limits)]
    if finding.why:
        lines.append("  " + finding.why)
    if finding.holder and finding.holder not in finding.cause:
        lines.append("  held by " + finding.holder)
    lines.append("  Cure: " + finding.cure)
    lines += ["      " + line for line in finding.suggestion.splitlines()]
    if finding.known:
        lines.append("  " + finding.known)
    return lines


def _amount(finding: Finding, limits: Limits) -> str:
    grown = "+%s%s, " % (finding.gained, pace_of(finding.rate, "step")) if finding.grown else ""
    kept = ", %s kept" % size_of(finding.bytes) if finding.bytes >= 1024 else ""
    return "%ssince step %s%s" % (grown, count_of(max(finding.since, limits.warmup) + 1), kept)
