"""A test's body under watch: repeated, or stepped through; what it has left behind is judged at the end."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ..api import watch
from ..errors import LeakFound
from ..heap import collector
from ..judge.few_steps import Counted, Told, by_kind, going_on, tell
from ..model import Finding, Key, Site
from ..monitor.left_behind import COUNTED, KEPT
from ..safety import guard
from .limits import Limits, limits_of
from .retained import Reading, Readings, per_step
from .verdict import Excess, Verdict

_SHARE = 0.5  # of the bytes that stay: some items are weighed, and stand for all

__unittest = True  # unittest shows no frames of this module


class Check:
    """A context manager; `step()` ends each iteration. Whatever it may leave is in `limits`."""

    def __init__(self, name: str, limits: Limits, at: Optional[Site] = None, expected_steps: int = 0) -> None:
        self.name, self.limits = name, limits
        self.verdict: Optional[Verdict] = None  # when it is over
        self._block = watch(name, warmup=limits.warmup, log=False)
        self._block.at = at
        self._expected = expected_steps
        self._readings: Optional[Readings] = None

    def __enter__(self) -> Check:
        self._block.__enter__()
        if not self.limits.warmup:
            self._begin()
        return self

    def _begin(self) -> None:
        self._readings = Readings(self._read(), self._expected)  # the block has just collected garbage

    @property
    def _counted_steps(self) -> int:
        return max(0, self._block.steps - self.limits.warmup)

    def _read(self, collected: bool = False) -> Reading:
        if collected:
            collector.collect(asked=True)
        watch = self._block.running()
        return Reading(self._counted_steps, watch.answers.memory_exactly().held_bytes, watch.state.read())

    def step(self) -> None:
        """One iteration is over."""
        self._block.step()
        try:
            if self._readings is None:
                if not self._block.is_warming_up:
                    self._begin()
            elif self._readings.is_due(self._counted_steps):
                self._readings.add(self._read(collected=True))
        except Exception:
            guard.failed("check: step")

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        __tracebackhide__ = True  # pytest shows the test's own line
        if kind is not None:  # what the test raises is what it says
            self._block.__exit__(kind, error, trace)
            return
        try:
            self.verdict = self._judged()
        finally:
            self._block.__exit__(None, None, None)
        self.verdict = self._with_kept(self.verdict)
        if not self.verdict.is_clean:
            found = LeakFound(str(self.verdict))
            found.verdict = self.verdict
            raise found

    # -- what came of it

    def _judged(self) -> Verdict:
        """While the block is open: who holds what has grown can still be asked."""
        verdict = Verdict(self.name, self._counted_steps, self.limits)
        readings = self._readings
        if readings is None or not self._block.steps:
            return verdict
        if readings.kept[-1].steps < self._counted_steps:
            readings.kept.append(self._read(collected=True))
        before, after = _counted(readings.kept[0]), _counted(readings.kept[-1])
        middle = readings.middle()
        grown = going_on(before, _counted(middle) if middle is not None else None, after)
        explained = self._block.running().explanations.explained
        told = [one._replace(finding=explained(one.finding)) for one in tell(grown, before, after)]
        each = per_step(readings.kept, [key for key in going_on(before, None, after) if key not in grown])
        found = [one for one in self._block.findings if one.is_sure]
        return self._without_fillings(verdict._replace(
            excesses=tuple(self._excesses(grown, told)),
            retained_bytes=max(0.0, each * self._counted_steps) if each is not None else None,
            found=tuple(_by_steps_alone(found, told)), also=_also(told),
        ))  # fmt: skip

    def _without_fillings(self, verdict: Verdict) -> Verdict:
        """What fills a cache up to its bound, which the test does not reach, is no leak."""
        if not verdict.retains:
            return verdict
        fillings = self._block.filling()
        filled = sum(one.bytes for one in fillings)
        if filled < _SHARE * (verdict.retained_bytes or 0):
            return verdict
        guard.logger.info("%s: bytes are not judged: %s", self.name, "; ".join(map(str, fillings)))
        return verdict._replace(retained_bytes=None)

    def _excesses(self, grown: Dict[Key, int], told: List[Told]) -> List[Excess]:
        """What there is more of than allowed, with the findings that explain it."""
        rows = []
        for word, kinds in COUNTED.items():
            number = by_kind(_without_what_retraces_leave(grown), kinds)
            if number > self.limits.of(word):
                why = tuple(one.finding for one in told if any(key.kind in kinds for key in one.grown))
                rows.append(Excess(word, number, self.limits.of(word), why))
        return rows

    def _with_kept(self, verdict: Verdict) -> Verdict:
        """When the block is over: what collections keep."""
        rows = list(verdict.excesses)
        for word in KEPT:
            held = [one for one in self._block.kept or () if one.word == word]
            number = sum(one.number for one in held)
            if number > self.limits.of(word):
                why = tuple(one.as_finding(verdict.steps, self.limits.warmup) for one in held)
                rows.append(Excess(word, number, self.limits.of(word), why))
        return verdict._replace(excesses=tuple(rows))


class Session(NamedTuple):
    """What the fixture is: `with tfmemwatch(retraces=0) as block:`; `block.step()` ends each iteration."""

    name: str

    def __call__(self, **limits: Any) -> Check:
        """A block whose leaks fail the test."""
        __tracebackhide__ = True
        return Check(self.name, limits_of({"warmup": 0, **limits}, "the fixture tfmemwatch"))


def _counted(reading: Reading) -> Counted:
    return Counted(reading.steps, reading.tallies)


def _without_what_retraces_leave(grown: Dict[Key, int]) -> Dict[Key, int]:
    """Each retrace leaves a function, which is not counted again."""
    return {
        key: more for key, more in grown.items()
        if key.kind != "function_graph" or grown.get(Key("retrace", key.site), 0) < more / 2
    }  # fmt: skip


def _also(told: List[Told]) -> Tuple[Finding, ...]:
    """What explains bytes and is none of what is counted by a word: kernels in caches, gradients, executables."""
    counted = {kind for kinds in COUNTED.values() for kind in kinds}
    return tuple(one.finding for one in told if not any(key.kind in counted for key in one.grown))


def _by_steps_alone(found: List[Finding], told: List[Told]) -> List[Finding]:
    """What the block has found and the counts do not say: collections, caches, native memory."""
    said = {(one.finding.kind, one.finding.site) for one in told}
    return [one for one in found if (one.kind, one.site) not in said]
