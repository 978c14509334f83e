"""A program on simulated time, under a watch by the clock: nothing sleeps, and TensorFlow is not there.

What stands in for the process (counts, bytes in use, the limit) are numbers, written down as functions of time.
"""

from contextlib import nullcontext

from tfmemwatch.config import Config
from tfmemwatch.evidence import census, large_values
from tfmemwatch.evidence.instruments import memory_in_use
from tfmemwatch.memory.limits import Limit
from tfmemwatch.memory.process import Memory
from tfmemwatch.memory.stake import Stake
from tfmemwatch.model import Key, Site, Tally
from tfmemwatch.monitor import detector
from tfmemwatch.monitor.by_clock import NOTHING, WHOLE, ByClock

MB = 1000000
LINE = Site("train.py", 41, "step")
BASE = 600 * MB  # that a program with TensorFlow has before it begins


def without_a_heap(monkeypatch):
    """No collections, no values; collections of garbage leave all."""
    monkeypatch.setattr(census, "take", lambda tensor=None: census.Census({}, 0))
    monkeypatch.setattr(large_values, "large", dict)
    monkeypatch.setattr(memory_in_use, "least", lambda read: read())
    monkeypatch.setattr(memory_in_use.collector, "collect", lambda asked=False: True)
    monkeypatch.setattr(detector.collector, "collect", lambda asked=False: True)


class _Operations:
    is_open, covered = False, 1.0

    def open(self):
        pass

    close = go_on = open

    def read(self):
        return []


class _Level:
    is_lowered, changes = False, 0


class Program:
    """What it has counted and holds at any time: `counts` and `held` are functions of the seconds since it began."""

    def __init__(self, held, counts=None, limit=None, sample_seconds=5.0):
        self.now = 0.0
        self.held = held
        self.counts_at = counts or (lambda now: {})
        self.limit = limit
        self.config = Config(sample_seconds=sample_seconds)
        self.operations, self.level, self.ledger = _Operations(), _Level(), self
        self.tapes, self.remembering, self.empty_caches = (lambda seconds: []), list, None
        self.taking_evidence = nullcontext
        self.stake = Stake()
        self.told = []  # (when, finding)
        self.looks = self.between = self.glances = 0
        self.is_endless = lambda now: False

    # -- what a detector reads

    def counts(self):
        return {
            Key(kind, LINE): Tally(Key(kind, LINE), int(born), 0, 0, 0, 0.0, order, "step", ())
            for order, (kind, born) in enumerate(self.counts_at(self.now).items())
        }

    read = counts  # of the ledger

    def references_at(self, kinds, site):
        return []  # nothing is there that a name could lead to

    def memory(self):
        held = int(BASE + self.held(self.now))
        return Memory(held, held, 0, 0, 0)

    def explained(self, finding):
        return finding

    def would_tell_more(self):
        return ""

    def may_take_evidence(self):
        return True

    can_afford_evidence = may_take_evidence

    def calls(self):
        return []

    def endless_retraces(self):
        return frozenset([LINE] if self.is_endless(self.now) else [])

    def has_caches(self):
        return False

    # -- time passes

    def run(self, seconds, until_warned=True):
        """Let so much time pass; what was told stands in `told`."""
        clock = ByClock(self, self.stake)
        ahead_at = -1.0
        while self.now < seconds:
            due = clock.due(self.now, self.memory().own_bytes)
            self.glances += due == NOTHING
            if due != NOTHING:
                if self.now - ahead_at >= min(1.0, clock.stake_seconds):
                    ahead_at, used = self.now, self.memory().own_bytes
                    limits = [] if self.limit is None else [Limit("container limit", self.limit, used, True)]
                    self.stake.look(self.now, used, limits)
                news = clock.look(self.now) if due == WHOLE else clock.look_between(self.now)
                self.looks += due == WHOLE
                self.between += due != WHOLE
                self.told += [(self.now, finding) for finding in news]
                if until_warned and self.warnings:
                    break
            self.now += max(0.001, clock.pause(self.now))
        return self

    @property
    def warnings(self):
        """Leaks that were told as such, with the time."""
        return [(now, one) for now, one in self.told if one.is_sure and one.state == "leak"]
