"""What a report begins with: one of five words, and what it rests on. What is known goes in, a plain value comes out.

«Nothing leaks» is a claim like any other: it is made only where somebody has looked, for long enough, and nothing that
is known says otherwise.
"""

from __future__ import annotations

from typing import NamedTuple, Optional, Sequence, Tuple

from .growth.memory_verdict import Verdict
from .memory.forecast import span_of
from .model import RETAINED, Finding
from .units import count_of, size_of

LEAK, GROWING, RISES, CLEAN, NOT_WATCHED = "LEAK", "GROWING", "MEMORY RISES", "CLEAN", "NOT WATCHED"
WORDS = (LEAK, GROWING, RISES, CLEAN, NOT_WATCHED)
LEAST_SECONDS = 60.0  # by the clock, before anything is called clean: what leaks may begin with the second request
_MOST_LEFT = 3


class Headline(NamedTuple):
    """What a report comes to."""

    word: str  # one of `WORDS`
    sentence: str  # which begins with the word: `CLEAN (watched for 31 min, 12,000 steps)`
    why: str = ""  # what it rests on, in words

    def __str__(self) -> str:
        return "%s: %s" % (self.sentence, self.why) if self.why else self.sentence


NOTHING_READ = Headline(NOT_WATCHED, "NOT WATCHED, because nothing has been read")


class Growing(NamedTuple):
    """What climbs, and has not been judged yet."""

    what: str
    seen: int  # looks, steps or calls
    needed: int  # about so many, before it can be told; 0 where that is not known
    unit: str = "look"

    def __str__(self) -> str:
        if not self.needed:
            return "%s so far" % _number(self.seen, self.unit)
        return "%s of about %s" % (count_of(self.seen), _number(self.needed, self.unit))


class Looked(NamedTuple):
    """How long somebody has looked, and what has come of it so far."""

    seconds: float
    times: int  # looks, or steps
    needed: int  # of them, before anything can be told
    unit: str = "look"  # or step
    growing: Optional[Growing] = None
    left: Tuple[str, ...] = ()  # what a block has left behind
    not_counted: str = ""  # of that, and why

    @property
    def is_short(self) -> bool:
        """Whether it is too early to say that nothing leaks. What a block leaves is counted, whatever its length."""
        if self.unit == "step":
            return bool(self.left) and self.times < self.needed
        return self.times < self.needed or self.seconds < LEAST_SECONDS

    @property
    def so_far(self) -> Growing:
        """How much of what is needed has been seen."""
        return Growing("", self.times, self.needed, self.unit)

    def __str__(self) -> str:
        times = ", " + _number(self.times, self.unit) if self.times else ""
        return span_of(self.seconds) + times


class Known(NamedTuple):
    """All that a headline rests on."""

    findings: Sequence[Finding]
    looked: Looked
    memory: Verdict = Verdict("", "")
    ahead: str = ""  # how fast memory grows, and when a limit is reached
    blind: str = ""  # why nobody looks now
    unwatched: str = ""  # why nothing of TensorFlow's is seen, though memory may be
    besides: str = ""  # what is not seen, or has come to its end


def headline(known: Known) -> Headline:
    """The first that is so, the worst first."""
    told = _of_findings(known.findings)
    if told is not None:
        return told
    if known.blind:
        return _not_watched(known.blind)
    told = _of_growth(known)
    if told is not None:
        return told
    if known.unwatched:
        return _not_watched(known.unwatched)
    looked = known.looked
    if looked.is_short:
        return _too_short(looked)
    why = [known.memory.why] if known.memory.word else []
    if looked.left:
        why.append("left behind, and no more of it now: %s" % _listed(looked.left))
    why += [looked.not_counted, known.besides]
    return Headline(CLEAN, "CLEAN (watched for %s)" % str(looked), "; ".join(filter(None, why)))


def _of_findings(findings: Sequence[Finding]) -> Optional[Headline]:
    open_ones = [finding for finding in findings if finding.state == "leak"]
    sure = [finding for finding in open_ones if finding.is_sure]
    named = [finding for finding in sure if _has_cause(finding)]
    if named:
        first, more = named[0], len(sure) - 1
        kept = ", %s kept" % size_of(first.bytes) if first.bytes >= 1024 else ""
        others = ", and %d more" % more if more else ""
        return Headline(LEAK, "LEAK at %s (%s%s)%s" % (first.site.short, first.kind, kept, others), first.cause)
    if sure:
        return Headline(RISES, "MEMORY RISES, no line known", sure[0].cause)
    if open_ones:
        first = open_ones[0]
        why = "%s: %s; may be a %s" % (first.site.short, first.cause, first.verdict)
        return Headline(GROWING, "GROWING, too early to tell", why)
    return None


def _has_cause(finding: Finding) -> bool:
    """Whether something is named that leaks: a line, or what it is that grows."""
    return finding.verdict != RETAINED and (bool(finding.site.line) or finding.kind != "native_heap")


def _of_growth(known: Known) -> Optional[Headline]:
    looked, memory = known.looked, known.memory
    if looked.growing is not None:
        return _too_early(looked.growing, looked.growing.what)
    rises = "; ".join(filter(None, [memory.why if memory.word in ("leak", "retained") else "", known.ahead]))
    if memory.word == "leak" or known.ahead:
        if looked.times < looked.needed:
            return _too_early(looked.so_far, rises)
        return Headline(RISES, "MEMORY RISES, no line known", rises)
    if memory.word == "filling":
        return Headline(GROWING, "GROWING, too early to tell", memory.why)
    return None


def _too_short(looked: Looked) -> Headline:
    if looked.left:
        return _too_early(looked.so_far, "left behind: " + _listed(looked.left))
    if looked.times < looked.needed:
        return _not_watched("it has only begun (%s, %s)" % (span_of(looked.seconds), str(looked.so_far)))
    return _not_watched("it has only begun (%s of at least %s)" % (span_of(looked.seconds), span_of(LEAST_SECONDS)))


def _too_early(so_far: Growing, why: str) -> Headline:
    return Headline(GROWING, "GROWING, too early to tell (%s)" % str(so_far), why)


def _not_watched(why: str) -> Headline:
    return Headline(NOT_WATCHED, "NOT WATCHED, because " + why)


def _listed(left: Sequence[str]) -> str:
    more = ", and %d more" % (len(left) - _MOST_LEFT) if len(left) > _MOST_LEFT else ""
    return ", ".join(left[:_MOST_LEFT]) + more


def _number(number: int, unit: str) -> str:
    return "%s %s%s" % (count_of(number), unit, "" if number == 1 else "s")
