"""What a block has made and left behind, as complaints: cause and cure."""

from __future__ import annotations

from typing import Dict, List, Mapping, Sequence, Tuple

from ..explain.advice import advice
from ..model import Finding, Key, Tally
from ..units import count_of
from .kept import Kept

Tallies = Mapping[Key, Tally]

# What `assert_clean` counts: the word one allows it by, and the kinds behind it; the first has the cure.
COUNTED = {
    "variables": ("variable", "graph_variable"),
    "sessions": ("session",),
    "graphs": ("graph",),
    "operations": ("graph_op",),
    "functions": ("function_graph",),
    "retraces": ("retrace",),
    "models": ("model",),
    "iterators": ("iterator",),
    "tapes": ("tape",),
    "pyfuncs": ("pyfunc",),
    "writers": ("writer",),
}
THINGS = ("variable", "graph_variable", "session", "graph", "model", "iterator", "tape", "writer")  # not what happens
_CURES = {"functions": "function_library", "operations": "graph_op"}  # rows of the advice that have another name
KEPT = ("tensors", "arrays")  # and what collections keep


def check(allowances: Mapping[str, int]) -> None:
    """A word that means nothing is an error."""
    unknown = set(allowances) - set(COUNTED) - set(KEPT)
    if unknown:
        known = ", ".join([*COUNTED, *KEPT])
        raise TypeError("%s can't be allowed; these can: %s" % (", ".join(sorted(unknown)), known))


def complaints(
    findings: Sequence[Finding], before: Tallies, after: Tallies, held: Sequence[Kept], allowances: Mapping[str, int]
) -> List[str]:
    """What leaks, and what more is left behind than is allowed; nothing is told twice."""
    found = [str(finding) for finding in findings]
    lefts = {word: left_of(before, after, kinds) for word, kinds in COUNTED.items()}
    if sum(lefts["retraces"].values()) > allowances.get("retraces", 0):
        again = {key.site for key in lefts["retraces"]}  # each retrace has left a function, too
        lefts["functions"] = {key: more for key, more in lefts["functions"].items() if key.site not in again}
    counted = [_counted(word, left) for word, left in lefts.items() if sum(left.values()) > allowances.get(word, 0)]
    kept = [text for word in KEPT for text in _kept(word, held, found, allowances.get(word, 0))]
    return [*found, *counted, *kept]


def said(before: Tallies, after: Tallies, held: Sequence[Kept]) -> Tuple[str, ...]:
    """What is left behind, in a few words each."""
    counted = {word: sum(left_of(before, after, kinds).values()) for word, kinds in COUNTED.items()}
    kept = {word: sum(row.number for row in held if row.word == word) for word in KEPT}
    return tuple(
        "%s %s" % (count_of(number), word[:-1] if number == 1 else word)
        for word, number in {**counted, **kept}.items()
        if number
    )


def left_of(before: Tallies, after: Tallies, kinds: Sequence[str] = THINGS) -> Dict[Key, int]:
    """What was made and not freed, by line."""
    left = {}
    for key, tally in after.items():
        old = before.get(key)
        more = tally.alive - (old.alive if old is not None else 0)
        if key.kind in kinds and more > 0:
            left[key] = more
    return left


def _counted(word: str, left: Dict[Key, int]) -> str:
    total = sum(left.values())
    lines = ", ".join("%s (%d)" % (key.site.short, more) for key, more in sorted(left.items(), key=lambda row: -row[1]))
    cure = advice(_CURES.get(word, COUNTED[word][0])).cure
    return "%d %s left behind: %s. %s %s" % (total, word, lines[:600], cure, _allowing(word, total))


def _kept(word: str, held: Sequence[Kept], found: Sequence[str], allowed: int) -> List[str]:
    rows = [row for row in held if row.word == word]
    number = sum(row.number for row in rows)
    told = [row for row in rows if not any(row.holder in finding for finding in found)]
    return ["%s %s" % (row, _allowing(word, number)) for row in told] if number > allowed else []


def _allowing(word: str, number: int) -> str:
    return "(assert_clean(%s=%d) allows them.)" % (word, number)
