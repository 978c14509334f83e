"""A block: it never raises into the loop that it watches, it is a decorator, and it knows what collections keep."""

import asyncio
import collections
import copy
import inspect
import pickle
from array import array
from pathlib import Path

import pytest

import tfmemwatch
from tfmemwatch.evidence.lengths import Lengths
from tfmemwatch.monitor import kept
from tfmemwatch.monitor.detector import Detector
from tfmemwatch.monitor.watch import begun
from tfmemwatch.safety import guard


def fail(*args, **kwargs):
    raise ValueError("ours, not theirs")


@pytest.fixture
def failures(monkeypatch):
    found = {}
    monkeypatch.setattr(guard, "failures", found)
    return found


@pytest.mark.slow
def test_a_look_that_fails_does_not_end_the_loop(failures, monkeypatch):
    """The loop goes on, and the failure is counted and told once."""
    monkeypatch.setattr(Detector, "look", fail)
    with tfmemwatch.watch("suspect", log=False) as block:
        for _ in range(3):
            block.step()
    assert block.steps == 3
    assert failures == {"block: step": 3}


@pytest.mark.slow
def test_an_end_that_fails_hides_no_exception_and_leaves_nothing_installed(failures, monkeypatch):
    """What the program raises comes out, not what we raise on the way."""
    monkeypatch.setattr(Detector, "sum_up", fail)
    with pytest.raises(KeyError), tfmemwatch.watch("suspect", log=False) as block:
        block.step()
        raise KeyError("theirs")
    assert failures == {"block: end": 1}
    assert not block._watch.is_running


# -- as a decorator


@pytest.mark.slow
def test_the_report_of_a_block_knows_the_nearest_limit():
    """A block takes no looks by the clock: limits are read when the report is asked for."""
    with tfmemwatch.watch("suspect", log=False) as block:
        block.step()
    assert block.report().limit.left_bytes > 0


def test_without_parentheses_all_calls_are_one_block(fake_tf):
    """Each call is a step; what leaks is told and can be asked for."""
    kept = []

    @tfmemwatch.watch
    def train(number, *, kept=kept):
        """One step."""
        kept.append(fake_tf.resource_variable_ops.BaseResourceVariable())
        return number

    assert [train(number) for number in range(60)] == list(range(60))
    assert [one.kind for one in train.findings] == ["variable"]
    assert "train: 60 steps" in str(train.report())
    with pytest.raises(tfmemwatch.LeakFound, match="60 variables left behind"):
        train.assert_clean()


@pytest.mark.slow
@pytest.mark.parametrize("filled, steps, is_clean", [(10, 60, True), (10, 30, False), (30, 60, False), (2, 60, False)])
def test_what_was_filled_in_the_steps_and_is_full_is_clean(fake_tf, filled, steps, is_clean):
    """Full: it grew in three steps or more, and has stood still for 24 steps longer than it took; else it is exact."""
    kept = []
    with tfmemwatch.watch("it", log=False) as block:
        for number in range(steps):
            if number < filled:
                kept.append(fake_tf.resource_variable_ops.BaseResourceVariable())
            block.step()
    if is_clean:
        block.assert_clean()
    else:
        with pytest.raises(tfmemwatch.LeakFound, match="%d variables left behind" % filled):
            block.assert_clean()


def test_a_clean_function_is_clean_over_all_its_calls(fake_tf):
    """What each call makes and drops is no growth."""

    @tfmemwatch.watch("clean", warmup=1)
    def train():
        if not made:
            made.append(fake_tf.resource_variable_ops.BaseResourceVariable())
        fake_tf.resource_variable_ops.BaseResourceVariable()

    made = []
    for _ in range(60):
        train()
    assert train.findings == []
    train.assert_clean()


@tfmemwatch.watch
def plain(one: int, *rest: str, two: float = 2.0) -> str:
    """What it is for."""
    if one < 0:
        raise KeyError(one)
    return str(one)


@tfmemwatch.watch
async def later(one):
    return one


@tfmemwatch.watch
def several(one):
    got = yield one
    return got


def test_nothing_of_the_function_changes():
    """Name, text, signature, kind and pickle are its own."""
    assert (plain.__name__, plain.__doc__, plain.__module__) == ("plain", "What it is for.", __name__)
    assert str(inspect.signature(plain)).startswith("(one: ")
    assert inspect.isfunction(plain) and not inspect.iscoroutinefunction(plain)
    assert inspect.iscoroutinefunction(later) and inspect.isgeneratorfunction(several)
    assert pickle.loads(pickle.dumps(plain)) is plain
    assert copy.deepcopy(plain) is plain


@pytest.mark.slow
def test_coroutines_generators_and_errors_pass_through():
    """Each call is a step, however it ends."""
    for _ in range(3):
        assert asyncio.new_event_loop().run_until_complete(later(5)) == 5
    assert "later: 3 steps" in str(later.report())
    generator = several(1)
    assert next(generator) == 1
    with pytest.raises(StopIteration) as ended:
        generator.send(7)
    assert ended.value.value == 7
    with pytest.raises(KeyError):
        plain(-1)
    assert plain(1) == "1"
    assert "plain: 2 steps" in str(plain.report())


@pytest.mark.slow
def test_uninstall_leaves_nothing_of_it(fake_tf):
    """The watch is stopped, the function goes on, and begins anew with what is installed next."""
    before = fake_tf.resource_variable_ops.BaseResourceVariable.__init__

    @tfmemwatch.watch
    def train():
        return fake_tf.resource_variable_ops.BaseResourceVariable()

    train()
    assert begun and fake_tf.resource_variable_ops.BaseResourceVariable.__init__ is not before
    tfmemwatch.uninstall()
    assert not begun and fake_tf.resource_variable_ops.BaseResourceVariable.__init__ is before
    train()
    assert not begun
    assert "1 step" in str(train.report())
    tfmemwatch.install(sample_seconds=3600, log=False)
    for _ in range(4):
        train()
    assert "train: 4 steps" in str(train.report())


# -- what collections keep


class Server:
    def __init__(self):
        self.history = []
        self.latest = collections.deque(maxlen=8)
        self.last = None
        self.window = []
        self.by_number = {}

    def remember(self, thing):
        self.window.append(thing)
        if len(self.window) > 200:
            self.window.pop(0)


server = Server()


@pytest.fixture
def tensor(fake_tf):
    """A tensor class of the fake TensorFlow's."""
    server.__init__()
    return fake_tf.ops.EagerTensor


def leaks_of(block, **allowances):
    """What is complained of, a line each."""
    with pytest.raises(tfmemwatch.LeakFound) as found:
        block.assert_clean(**allowances)
    return str(found.value).splitlines()[1:]


@pytest.mark.parametrize("marks_steps", [False, True])
def test_tensors_kept_in_ten_steps_are_named(tensor, marks_steps):
    """The line, the collection, the cure; and they can be allowed."""
    with tfmemwatch.watch("ten requests", log=False) as block:
        for _ in range(10):
            server.history.append(tensor())  # kept
            if marks_steps:
                block.step()
    (leak,) = leaks_of(block)
    assert "10 tensors" in leak and "Server.history" in leak and "Cure" not in leak
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    (line,) = [at for at, text in enumerate(lines, 1) if text.endswith("  # kept")]
    assert "test_block.py:%d " % line in leak
    block.assert_clean(tensors=10)


def test_tensors_that_go_again_are_clean(tensor):
    """A last one, a deque that is full, a local list, a list of before that is as long as it was."""
    server.history[:] = [tensor() for _ in range(5)]
    with tfmemwatch.watch("ten requests", log=False) as block:
        mine = []
        for number in range(20):
            server.last = tensor()
            server.latest.append(tensor())
            server.history[number % 5] = tensor()
            mine.append(tensor())
            block.step()
    block.assert_clean()


def test_a_collection_that_has_filled_up_is_clean(tensor):
    """Filled since the block began and full now, though no bound of it can be read."""
    with tfmemwatch.watch("fills up", log=False) as block:
        for _ in range(60):
            if number_of(server.history) < 20:
                server.history.append(tensor())
            block.step()
    block.assert_clean()


def number_of(things):
    return sum(1 for _ in things)


def test_what_the_warm_up_keeps_is_not_counted(tensor):
    """`warmup=2`: the first two steps fill what is then full."""
    with tfmemwatch.watch("warm", warmup=2, log=False) as block:
        for number in range(10):
            server.history.extend([tensor() for _ in range(5 if number < 2 else 0)])
            block.step()
    block.assert_clean()


def test_a_block_that_is_all_warm_up_knows_nothing(tensor):
    """It says so, instead of being clean."""
    with tfmemwatch.watch("warm", warmup=2, log=False) as block:
        block.step()
    with pytest.raises(tfmemwatch.Unavailable, match="warm-up"):
        block.assert_clean()
    with pytest.raises(tfmemwatch.ConfigError, match="warmup"):
        tfmemwatch.watch("warm", warmup=-1)


@pytest.mark.slow
def test_kept_arrays_are_named(needs, tensor):
    """Arrays of NumPy are no objects that the collector knows: they are found in the collections."""
    numpy = needs("numpy")
    with tfmemwatch.watch("arrays", log=False) as block:
        for number in range(10):
            server.history.append({"loss": float(number), "batch": numpy.zeros(1000)})
    (leak,) = leaks_of(block)
    assert "10 arrays" in leak and "Server.history" in leak


def test_lists_in_a_dict_are_one_complaint(tensor):
    """They have one name, and one line fills them."""
    server.by_number = {number: [] for number in range(3)}
    with tfmemwatch.watch("buckets", log=False) as block:
        for number in range(15):
            server.by_number[number % 3].append(tensor())
    (leak,) = leaks_of(block)
    assert "15 tensors" in leak


@pytest.mark.slow
def test_what_the_source_bounds_is_clean(tensor):
    """A window that is cut, though the block ends before it is full."""
    with tfmemwatch.watch("window", log=False) as block:
        for _ in range(10):
            server.remember(tensor())
    block.assert_clean()


@pytest.mark.slow
def test_numbers_in_a_history_are_clean(tensor):
    """A loss for each step is what a history is for."""
    with tfmemwatch.watch("losses", log=False) as block:
        for number in range(10):
            server.history.append({"loss": float(number)})
    block.assert_clean()


def test_what_could_not_be_counted_is_said(tensor, caplog, monkeypatch):
    """Without evidence nothing is known of collections: the report and the log say so."""
    with tfmemwatch.watch("blind", evidence=False) as block:
        server.history.extend([tensor() for _ in range(10)])
    assert "not counted: evidence is off" in str(block.report())
    block.assert_clean()
    assert "not counted: evidence is off" in caplog.text


@pytest.mark.slow
def test_no_frame_of_ours_is_shown(tensor):
    """pytest leaves it out."""
    with tfmemwatch.watch("ten requests", log=False) as block:
        server.history.extend([tensor() for _ in range(10)])
    with pytest.raises(tfmemwatch.LeakFound) as found:
        block.assert_clean()
    ours = [entry for entry in found.traceback if "tfmemwatch" in str(entry.path) and "tests" not in str(entry.path)]
    assert ours and found.traceback.filter(found)[-1].path != ours[-1].path


@pytest.mark.parametrize("met_at", [{}, {7: 4}, {7: 20}], ids=["not met", "grew on", "was full"])
def test_what_was_not_met_in_between_is_not_taken_for_growth(monkeypatch, met_at):
    """A search that was cut has seen nothing of a list: that says neither that it grew on nor that it was full."""
    told = []
    monkeypatch.setattr(kept, "_kept_at", lambda way, more, is_proven, near: told.append((more, is_proven)))

    class Met:
        def way_to(self, thing):
            return "a way"

    def reading(lengths):
        return Lengths((array("Q", lengths),), (array("Q", lengths.values()),), "", (Met(),))

    kept.kept(reading({7: 0}), kept.Middle(10, reading(met_at)), reading({7: 20}), 40, ())
    assert told == {0: [(20, False)], 4: [(20, True)], 20: []}[met_at.get(7, 0)]
