"""The watch looks less closely rather than cost more than it may."""

import pytest

import tfmemwatch
from tfmemwatch import guard
from tfmemwatch.budget import Budget
from tfmemwatch.config import Config
from tfmemwatch.monitor import Watch
from tfmemwatch.probes import scene
from tfmemwatch.probes.variables import Variables


def words(budget, shares, seconds=60):
    """What is said after each window in which such a share of the time was spent."""
    said, now, spent = [], 0.0, 0.0
    budget.look(now, spent)
    for share in shares:
        for _ in range(seconds):
            now += 1
            spent += share
            word = budget.look(now, spent)
            if word:
                said.append(word)
    return said


def test_what_costs_little_goes_on():
    """Half of the budget for hours: nothing changes."""
    assert words(Budget(0.01), [0.005] * 100) == []


def test_what_costs_too_much_is_lowered_until_it_does_not():
    """One level at each window, and no further than is needed."""
    assert words(Budget(0.01), [0.1, 0.02, 0.005, 0.005]) == ["lower", "lower"]


def test_after_a_long_quiet_it_is_tried_again_and_ever_later():
    """What made it dear may have gone; where it has not, the next try comes after twice the time."""
    said = words(Budget(0.01), [0.02] + [0.001] * 25 + [0.02] + [0.001] * 45)
    assert said == ["lower", "raise", "lower", "raise"]


def test_one_dear_moment_is_no_reason():
    """An inquiry takes half a second of a minute, and then nothing for a long time."""
    budget = Budget(0.01)
    assert words(budget, [0.5 / 60]) == []


class Dear(scene.Probe):
    """A probe whose reading takes two of each ten seconds."""

    name = "dear"

    def __init__(self, clock, of):
        super().__init__(of)
        self.clock = clock

    def read(self):
        self.clock.spent += 2


class Clock:
    def __init__(self):
        self.now = self.spent = 0.0


@pytest.fixture
def watch():
    watch = Watch(Config(max_overhead=0.01))
    watch.start(sampling=False)
    yield watch
    watch.stop()


def test_a_watch_over_its_budget_lowers_its_level_and_findings_say_so(watch, monkeypatch):
    """From sites to counts to off; and what is found meanwhile says that evidence is thinner."""
    clock = Clock()
    monkeypatch.setattr("tfmemwatch.monitor.time.monotonic", lambda: clock.now)
    monkeypatch.setattr(watch, "spent_seconds", lambda: clock.spent)
    watch.probes.append(Dear(clock, watch.scene))
    levels = []
    for _ in range(30):
        clock.now += 10
        watch.look()
        levels.append(watch.level)
    assert [level for level, before in zip(levels, ["", *levels]) if level != before][:3] == ["sites", "counts", "off"]
    assert "max_overhead=0.01" in watch.more()


def test_the_user_may_set_the_level_again(watch):
    """A budget that has lowered the level does not overrule what is asked for afterwards."""
    watch._keep_to_budget("lower")
    assert watch.level == "counts"
    watch.set_level("stacks")
    watch._keep_to_budget("raise")
    assert (watch.level, "max_overhead" in watch.more()) == ("stacks", False)


@pytest.fixture
def dear_hook(fake_tf, monkeypatch):
    """A watch in which the hook of a variable takes a millisecond each time; what it has taken so far, in all."""
    clock = Clock()

    def made(self, variable):
        clock.spent += 1e-3

    monkeypatch.setattr(Variables, "_made", made)
    monkeypatch.setattr(scene, "perf_counter", lambda: clock.spent)
    monkeypatch.setattr(guard, "spent", {})
    yield clock, tfmemwatch.install(sample_seconds=3600, evidence=False), fake_tf.resource_variable_ops
    tfmemwatch.uninstall()


def test_a_dear_hook_is_seen_though_one_call_in_many_is_timed(dear_hook):
    """What 640 calls of it have taken is what the budget is told."""
    clock, watch, made = dear_hook
    for _ in range(640):
        made.BaseResourceVariable()
    assert clock.spent == pytest.approx(0.64)
    assert sum(guard.spent.values()) == pytest.approx(0.64)
    assert watch.spent_seconds() == pytest.approx(0.64, abs=0.05)


def test_at_level_off_a_dear_hook_costs_nothing(dear_hook):
    """Nothing but a check is left of it, and it is back when the level is."""
    clock, watch, made = dear_hook
    watch.set_level("off")
    made.BaseResourceVariable()
    assert clock.spent == 0
    watch.set_level("counts")
    made.BaseResourceVariable()
    assert clock.spent == pytest.approx(1e-3)
