"""Counts of some exact steps to findings: what went on to grow over them, told by the same stories. Pure."""

from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Optional, Set, Tuple

from ..catalog import BY_KIND
from ..explain.advice import advice
from ..model import LEAK, Finding, Key, Tally
from .stories import MAKERS, STORIES, Story
from .tallies import bytes_in, counted_as, order_of, values_in

Tallies = Mapping[Key, Tally]
_OF_EXPECTED = 0.5  # the least share of its growth so far with which a count must go on
_OF_STEPS = 0.5  # how often, at least, what explains growth must have happened for each time that something grew
_PLAIN = {"retrace": "retrace", "function_graph": "function_library", "graph_variable": "variable"}


class Counted(NamedTuple):
    """What was counted when so many steps were over."""

    steps: int
    tallies: Tallies


class Told(NamedTuple):
    """A finding, and the kinds of things whose growth it explains."""

    finding: Finding
    grown: Mapping[Key, int]


def going_on(before: Counted, middle: Optional[Counted], after: Counted) -> Dict[Key, int]:
    """What has grown, by how much, and was still growing in the later half about as fast.

    What has come to a stop by then is a warm-up, a cache or a bounded set of shapes.
    """
    first, last = _values(before.tallies), _values(after.tallies)
    between = _values(middle.tallies) if middle is not None else {}
    grown = {}
    for key, value in last.items():
        more = value - first.get(key, 0.0)
        if more > 0 and _goes_on(between.get(key, 0.0) - first.get(key, 0.0), more, middle, before, after):
            grown[key] = int(more)
    return grown


def _values(tallies: Tallies) -> Dict[Key, float]:
    """Of what lives those that are alive, even where births explain something else: the dead are not left behind."""
    return {
        key: float(tallies[key].alive) if key in tallies and BY_KIND[key.kind].reading == "alive" else value
        for key, value in values_in(tallies)
    }  # fmt: skip


def _goes_on(early: float, more: float, middle: Optional[Counted], before: Counted, after: Counted) -> bool:
    if middle is None:
        return True
    steps, late = middle.steps - before.steps, after.steps - middle.steps
    return more - early >= _OF_EXPECTED * early * late / steps


def tell(grown: Mapping[Key, int], before: Counted, after: Counted) -> List[Told]:
    """The stories that these counts tell, the deepest cause first; each count is in one of them."""
    left, told = dict(grown), []
    for story in STORIES:
        for key in sorted(left, key=lambda key: (-left[key], order_of(key, after.tallies))):
            if key.kind not in story.grows or key not in left:
                continue
            cause = _cause(story, key, grown, after.tallies)
            if cause is None:
                continue
            gone = _told_by(story, key, cause, left)
            own = {one: left.pop(one) for one in gone}
            told.append(Told(_finding(story.advice, story, cause, key, own, before, after), own))
    for key in [key for key in left if key.kind in _PLAIN]:
        own = {key: left.pop(key)}
        told.append(Told(_finding(_PLAIN[key.kind], None, key, key, own, before, after), own))
    return told


def _cause(story: Story, key: Key, grown: Mapping[Key, int], tallies: Tallies) -> Optional[Key]:
    """The account of the line that is to blame; None where this is not the story."""
    if any(one.kind in story.unless and grown[one] >= _OF_STEPS * grown[key] for one in grown):
        return None
    if not story.because:
        return key
    least = _OF_STEPS * _things(story, grown[key])
    causes = [one for one, more in grown.items() if one.kind == story.because and more >= least]
    if story.because in ("retrace", "graph_variable"):
        causes = [one for one in causes if one.site == key.site]
    return min(causes, key=lambda one: order_of(one, tallies)) if causes else None


def _things(story: Story, more: int) -> float:
    """One maker makes many things; a retrace leaves one trace."""
    return 0.0 if story.because in MAKERS else float(more)


def _told_by(story: Story, key: Key, cause: Key, left: Mapping[Key, int]) -> List[Key]:
    """What is no finding of its own then: all that a maker makes; else what stands at the same line."""
    taken: Set[str] = set(story.absorbs | story.grows | {story.because})
    sites = {key.site, cause.site}
    return [one for one in left if one.kind in taken and (story.because in MAKERS or one.site in sites)]


def _finding(
    row_name: str, story: Optional[Story], cause: Key, key: Key, own: Mapping[Key, int], before: Counted, after: Counted
) -> Finding:
    steps = after.steps - before.steps
    tally = after.tallies[counted_as(cause)]
    row = advice(row_name, tally.note or "here")
    number = own[key]
    is_made = story is not None and story.because in MAKERS
    return Finding(
        kind=row.kind, site=cause.site, since=before.steps, grown=number, rate=number / steps, per="step",
        bytes=sum(_bytes(one, after.tallies) - _bytes(one, before.tallies) for one in own),
        verdict=LEAK, cause=row.cause, cure=row.cure, confidence=1.0, stack=tally.stack,
        counted=BY_KIND[counted_as(key).kind].title if is_made else "",
    )  # fmt: skip


def _bytes(key: Key, tallies: Tallies) -> int:
    """Of a trace nobody knows: resident memory is all that is measured there, and it has room."""
    return 0 if key.kind == "function_graph" else bytes_in(key, tallies)


def by_kind(grown: Mapping[Key, int], kinds: Tuple[str, ...]) -> int:
    """How many more there are of these kinds, at all lines."""
    return sum(more for key, more in grown.items() if key.kind in kinds)
