"""The watch looks less closely rather than cost more than it may."""

import itertools

import pytest

import tfmemwatch
from tfmemwatch.config import Config
from tfmemwatch.memory.process import Memory
from tfmemwatch.monitor.budget import Allowance, Budget, Pause, StepAllowance
from tfmemwatch.monitor.watch import Watch
from tfmemwatch.probes import scene
from tfmemwatch.probes.variables import Variables
from tfmemwatch.safety import guard


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
    """One level after two windows above the budget, and no further than is needed."""
    assert words(Budget(0.01), [0.1, 0.02, 0.02, 0.02, 0.005]) == ["lower", "lower", "raise"]


def test_one_window_above_the_budget_is_no_reason():
    """One call in many is timed, and that one may have met the garbage collector."""
    assert words(Budget(0.01), [0.1, 0.001] * 50) == []


def test_after_a_long_quiet_it_is_tried_again_and_ever_later():
    """What made it dear may have gone; where it has not, the next try comes after twice the time."""
    windows, lowered = [], True
    budget, now, spent = Budget(0.01), 0.0, 0.0
    budget.look(now, spent)
    lowered = False
    for window in range(400):
        now, spent = now + 60, spent + (0 if lowered else 1.2)
        word = budget.look(now, spent)
        if word:
            windows.append((word, window))
            lowered = word == "lower"
    down = [window for word, window in windows if word == "lower"]
    up = [window for word, window in windows if word == "raise"]
    assert [after - before for before, after in zip(down, up)][:8] == [1, 2, 4, 8, 16, 32, 64, 64]
    assert [after - before for before, after in zip(up, down[1:])][:3] == [1, 1, 1]


def test_one_dear_moment_is_no_reason():
    """An inquiry takes half a second of a minute, and then nothing for a long time."""
    budget = Budget(0.01)
    assert words(budget, [0.5 / 60]) == []


def test_evidence_waits_until_it_is_a_small_share_of_the_time():
    """Three seconds at once, and then one in a hundred."""
    allowance = Allowance(0.01)
    assert allowance.has_some(0.0)
    allowance.spend(4.0)
    assert [allowance.has_some(now) for now in (1.0, 99.0, 102.0)] == [False, False, True]
    allowance.spend(0.5)
    assert [allowance.has_some(now) for now in (103.0, 160.0, 100000.0)] == [False, True, True]
    allowance.spend(4.0)
    assert not allowance.has_some(100001.0)


def test_looks_that_cost_too_much_are_seldom_and_often_again():
    """The pause doubles while they take more than their share, and comes back when they do not."""
    pause = Pause(5.0, 0.01)
    now = spent = 0.0
    pauses = []
    for minute in range(200):
        each = 0.4 if minute < 100 else 0.001
        for _ in range(max(1, int(60 / pause.seconds))):
            now, spent = now + pause.seconds, spent + each
            pause.look(now, spent)
        pauses.append(pause.seconds)
    assert max(pauses) <= 80 and pauses[99] >= 20 and pauses[-1] == 5.0


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


def test_a_watch_over_its_budget_lowers_its_level_and_findings_say_so(watch, monkeypatch, caplog):
    """From sites to counts to off; and what is found meanwhile says that evidence is thinner."""
    clock = Clock()
    monkeypatch.setattr("tfmemwatch.monitor.watch.time.monotonic", lambda: clock.now)
    monkeypatch.setattr(watch.state, "hook_seconds", lambda: clock.spent)
    watch.probes.append(Dear(clock, watch.scene))
    levels = []
    for _ in range(27):
        clock.now += 10
        watch.look()
        levels.append(watch.level)
    assert [level for level, before in zip(levels, ["", *levels]) if level != before] == ["sites", "counts", "off"]
    assert "max_overhead=0.01" in watch.state.level.hint()
    said = [record.getMessage() for record in caplog.records if record.name == "tfmemwatch"]
    assert [text.split(" since ")[0].rpartition(" ")[2] for text in said] == ["counts", "off"]
    assert all("because its hooks took 20.0 % of the time and may take 1 %" in text for text in said)
    assert {record.levelname for record in caplog.records} == {"WARNING"}
    report = watch.report()
    assert (report.level, report.level_why) == ("off", "its hooks took 20.0 % of the time and may take 1 %")
    assert watch.answers.sample().level.because == "budget"


def test_the_user_may_set_the_level_again(watch):
    """A budget that has lowered the level does not overrule what is asked for afterwards."""
    watch.state.level.obey("lower")
    assert watch.level == "counts"
    watch.set_level("stacks")
    watch.state.level.obey("raise")
    assert (watch.level, "max_overhead" in watch.state.level.hint()) == ("stacks", False)


def test_what_evidence_takes_lowers_no_level(watch, monkeypatch):
    """A thread that is busy with evidence half of the time: the hooks cost nothing, and see everything."""
    clock = Clock()
    monkeypatch.setattr("tfmemwatch.monitor.watch.time.monotonic", lambda: clock.now)
    for _ in range(100):
        clock.now += 10
        watch.state.own_seconds += 5
        watch.state.evidence_took(5)
        watch.look()
    assert (watch.level, watch.state.level.is_lowered) == ("sites", False)
    assert not watch.state.allowance.has_some(clock.now)
    assert watch.state.pause.seconds == watch.config.sample_seconds


def test_an_inquiry_begins_once_evidence_can_be_afforded(watch, monkeypatch):
    """Memory rises, and nothing explains it: while evidence has taken too much, nothing is begun."""
    clock, begun = Clock(), []
    monkeypatch.setattr("tfmemwatch.monitor.readings.time.monotonic", lambda: clock.now)
    monkeypatch.setattr(watch._detector.steady._inquiry, "begin", lambda now, read: begun.append(clock.now))
    memory = itertools.count(100 << 20, 1 << 20)
    monkeypatch.setattr(watch._readings, "memory", lambda: Memory(*[next(memory)] * 2, 0, 1000))
    watch.state.evidence_took(5)
    for _ in range(200):
        clock.now += 5
        watch.look()
    assert begun and 200 <= begun[0] <= 300


def test_its_return_is_said(watch, caplog):
    """Lowered is a warning, back is none."""
    with caplog.at_level("INFO"):
        for word in ("lower", "lower", "raise", "raise"):
            watch.state.level.obey(word)
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING", "INFO", "INFO"]
    assert caplog.records[-1].getMessage() == "tfmemwatch: its level is sites again"
    assert watch.state.level.now.because == "set" and watch.scene.kept == frozenset()


def test_a_child_has_the_level_that_was_set(watch):
    """What the parent's hooks took is none of its affair."""
    watch.state.level.obey("lower")
    watch.state.level.forget()
    assert (watch.level, watch.state.level.is_lowered) == ("sites", False)


def made_here(fake):
    return fake.resource_variable_ops.BaseResourceVariable()


def iterated_here(fake):
    return fake.iterator_ops.OwnedIterator()


@pytest.fixture
def leaking(fake_tf):
    """Watches a leak for some looks; says what is open then, by line."""
    made = []
    watch = tfmemwatch.install(sample_seconds=3600, evidence=False, log=False)
    watch.stop_sampling()

    def look(make, times):
        for _ in range(times):
            made.append(make(fake_tf))
            watch.look()
        return [finding.site.function for finding in watch.findings()]

    yield watch, look
    tfmemwatch.uninstall()


@pytest.mark.parametrize("make", [made_here, iterated_here])
def test_a_leak_keeps_its_line_at_every_level(leaking, make):
    """One finding, at one line, never over: lowered to counts and off, and raised again."""
    heard = []
    watch, look = leaking
    watch.telling.tell = heard.extend
    assert look(make, 150) == [make.__name__]
    for word in ("lower", "lower", "raise", "raise"):
        watch.state.level.obey(word)
        assert look(make, 150) == [make.__name__], (word, watch.level)
    assert {news.site.function for news in heard} == {make.__name__}
    assert not [news for news in heard if news.state == "over"]


@pytest.mark.parametrize("make", [made_here, iterated_here])
def test_a_leak_that_begins_at_a_lowered_level_has_its_line(leaking, make):
    """Also of a kind that has lost its lines: what rises gets them back."""
    heard = []
    watch, look = leaking
    watch.telling.tell = heard.extend
    watch.state.level.obey("lower")
    assert look(make, 400) == [make.__name__]
    watch.state.level.obey("raise")
    assert look(make, 200) == [make.__name__]
    assert {(news.site.function, news.state) for news in heard} == {(make.__name__, "leak")}


@pytest.fixture
def dear_hook(fake_tf, monkeypatch):
    """A watch in which the hook of a variable takes a millisecond each time; what it has taken so far, in all."""
    clock = Clock()

    def made(self, variable):
        clock.spent += 1e-3

    monkeypatch.setattr(Variables, "_made", made)
    monkeypatch.setattr(scene, "thread_time", lambda: clock.spent)
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
    assert watch.state.hook_seconds() == pytest.approx(0.64, abs=0.05)


def test_at_level_off_a_dear_hook_costs_nothing(dear_hook):
    """Nothing but a check is left of it, and it is back when the level is."""
    clock, watch, made = dear_hook
    watch.set_level("off")
    made.BaseResourceVariable()
    assert clock.spent == 0
    watch.set_level("counts")
    made.BaseResourceVariable()
    assert clock.spent == pytest.approx(1e-3)


def test_evidence_in_a_block_waits_until_the_steps_have_paid_for_it():
    """Quick steps have 0.2 ms each, slow ones a hundredth of their time; what only counts is not charged."""
    allowance = StepAllowance(0.01, at_once=0.1)
    allowance.took(0.0, 1.1)
    assert allowance.seconds == 0
    waits = []
    for pause in (0.001, 0.1):
        paid, now, steps = StepAllowance(0.01, at_once=0.1), 0.0, 0
        paid.took(now, 1.1)
        while not paid.seconds:
            now, steps = now + pause, steps + 1
            paid.took(now, 0.0005)
        waits.append(steps)
    assert waits[0] == pytest.approx(5000, abs=2) and waits[1] == pytest.approx(1000, abs=2)
