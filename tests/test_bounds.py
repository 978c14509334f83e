"""Whether a collection has a bound, and which: every collection on a way is asked."""

import asyncio
import collections
import functools
import itertools
import multiprocessing
import queue
import sys
import types

import pytest

from tfmemwatch.evidence.holding import holding_at
from tfmemwatch.explain.size_limits import limits_of
from tfmemwatch.holders import roots
from tfmemwatch.holders.bounds import collection_on, may_be_bounded, unbounded, with_bound
from tfmemwatch.holders.names import holder_at, holder_of
from tfmemwatch.holders.search import way_to
from tfmemwatch.model import Site

SECONDS = 20.0
NUMBERS = itertools.count()


class Thing:
    pass


@pytest.fixture(autouse=True)
def the_program_is_this_module(monkeypatch):
    """A search lasts so long and no longer: it is not to be spent on what other tests have left."""
    own = (__name__, "bounded_program")
    monkeypatch.setattr(roots, "is_users", lambda name: name.startswith(own))


def program(tmp_path, source):
    """A module of the user's with this source."""
    name = "bounded_program_%d" % next(NUMBERS)
    file = tmp_path / (name + ".py")
    file.write_text(source, encoding="utf-8")
    module = types.ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module
    exec(compile(source, str(file), "exec"), vars(module))
    return module


@pytest.fixture
def made(tmp_path):
    """Make programs, and forget them."""
    before = set(sys.modules)
    yield functools.partial(program, tmp_path)
    for name in set(sys.modules) - before:
        if name.startswith("bounded_program_"):
            del sys.modules[name]


def bound_of(collection):
    """The number at which it is full; None where it may grow for ever."""
    return with_bound(holder_of(collection, SECONDS)).bound


CLASS = """
LARGEST = 70
class Settings:
    most = 60
class Cache:
    def __init__(self, size=50):
        self.size, self.settings = size, Settings()
        self.rows = ROWS
    def put(self, key, value):
        PUT
cache = Cache()
"""

IN_A_CLASS = [
    ("{}", "self.rows[key] = value\n        if len(self.rows) > self.size: self.rows.popitem()", 50),
    ("{}", "self.rows[key] = value\n        while len(self.rows) > 40: del self.rows[next(iter(self.rows))]", 40),
    ("{}", "if self.settings.most <= len(self.rows): self.rows.clear()\n        self.rows[key] = value", 60),
    ("{}", "if len(self.rows) >= LARGEST: return\n        self.rows[key] = value", 70),
    ("{}", "if len(self.rows) < 2 * self.size: self.rows[key] = value", 100),
    ("{}", "n = len(self.rows)\n        if n == 30: self.rows = {}\n        self.rows[key] = value", 30),
    ("{}", "self.rows[key % self.size] = value", 50),
    ("{}", "self.rows['%d-%d' % (key % 5, key % 8)] = value", 40),
    ("{}", "self.rows.setdefault(str(key % 20), value)", 20),
    ("{}", "at = key % 20\n        self.rows[at, 'x'] = value", 20),
    ("{}", "self.rows[key] = value\n        self.rows.pop(key - 35, None)", 35),
    ("[]", "self.rows.append(value)\n        del self.rows[:-self.size]", 50),
    ("[]", "self.rows.append(value)\n        self.rows = self.rows[-45:]", 45),
    ("[]", "self.rows = (self.rows + [value])[-LARGEST:]", 70),
    ("[]", "self.rows.insert(0, value)\n        del self.rows[55:]", 55),
    ("[]", "self.rows.append(value)\n        del self.rows[: len(self.rows) - 25]", 25),
    ("[]", "self.rows.append(value)\n        if len(self.rows) % 25 == 0: self.rows.clear()", 25),
    ("[]", "self.rows.append(value)\n        if len(self.rows) > 25: self.trim()\n"
           "    def trim(self):\n        self.rows.pop(0)", 25),
]  # fmt: skip


@pytest.mark.parametrize("rows, put, most", IN_A_CLASS)
def test_a_bound_in_the_source_is_read(made, rows, put, most):
    """It is known at which number, from constants, attributes, settings and defaults."""
    module = made(CLASS.replace("ROWS", rows).replace("PUT", put))
    rows = module.cache.rows
    for number in range(10):
        rows.append(Thing()) if type(rows) is list else rows.update({number: Thing()})
    assert bound_of(rows) == most
    assert unbounded(holder_of(rows, SECONDS)) is None


NONE = [
    ("{}", "self.rows[key] = value"),
    ("{}", "self.rows[key % 10, value] = value"),
    ("{}", "self.rows['%d-%d' % (key % 5, key)] = value"),
    ("{}", "self.rows[key] = value\n        if len(self.rows) > 30: print('many')"),
    ("[]", "if len(self.rows) < 30: return\n        self.rows.append(value)"),
    ("{}", "self.rows[key] = value\n        if len(self.other) > 30: self.rows.popitem()"),
    ("[]", "self.rows.append(value)\n        self.shown = self.rows[-30:]"),
    ("[]", "self.rows = self.rows + [value]"),
    ("[]", "self.rows.append(value)\n        if key > 30: return"),
    ("[]", "self.rows.append(value)\n        if value in self.rows: self.rows.remove(value)"),
]


@pytest.mark.parametrize("rows, put", NONE)
def test_what_only_looks_like_a_bound_is_none(made, rows, put):
    """Another's length, a part that is shown, a key of which one part never comes round."""
    module = made(CLASS.replace("ROWS", rows).replace("PUT", put))
    rows = module.cache.rows
    for number in range(10):
        rows.append(Thing()) if type(rows) is list else rows.update({number: Thing()})
    assert bound_of(rows) is None


def test_a_number_that_memory_cannot_hold_is_no_bound(made):
    """`maxsize=sys.maxsize`."""
    module = made(
        CLASS.replace("ROWS", "[]").replace("PUT", "self.rows.append(value)\n        del self.rows[:-1000000000000000]")
    )
    module.cache.rows.extend(Thing() for _ in range(40))
    assert bound_of(module.cache.rows) is None


def test_a_bound_is_believed_until_the_collection_is_longer(made):
    """A line that would cut it, and is never reached, bounds nothing."""
    module = made(CLASS.replace("ROWS", "[]").replace("PUT", "pass\n    def trim(self):\n        del self.rows[:-50]"))
    rows = module.cache.rows
    rows.extend(Thing() for _ in range(40))
    assert bound_of(rows) == 50
    rows.extend(Thing() for _ in range(100))
    assert bound_of(rows) is None
    assert unbounded(holder_of(rows, SECONDS)) is not None


def test_the_bound_of_a_closure_is_read(made):
    """`def remembered(most): answers = {} …`"""
    module = made("""
def remembered(most):
    answers = {}
    def asked(key):
        if len(answers) >= most:
            answers.clear()
        return answers.setdefault(key, [key])
    return asked
asked = remembered(80)
for number in range(9):
    asked(number)
""")
    answers = dict(zip(module.asked.__code__.co_freevars, module.asked.__closure__))["answers"].cell_contents
    assert bound_of(answers) == 80


def test_the_bound_of_a_variable_of_a_generator_is_read(made):
    """A limit beside it, in the same function."""
    module = made("""
def windows(most):
    rows = []
    while True:
        rows.append([1])
        if len(rows) > most:
            rows.pop(0)
        yield rows
running = windows(33)
rows = [next(running) for _ in range(9)][0][:0]
""")
    rows = next(module.running)
    held = holder_of(rows, SECONDS)
    assert (held.names[0], with_bound(held).bound) == ("rows", 33)


# -- queues


def asyncio_queue(most):
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        return asyncio.Queue(most)
    finally:
        asyncio.set_event_loop(None)
        loop.close()


class Urgent(queue.PriorityQueue):
    """A queue of the user's own class."""


QUEUES = [
    (queue.Queue, lambda one: one.queue), (queue.LifoQueue, lambda one: one.queue),
    (queue.PriorityQueue, lambda one: one.queue), (Urgent, lambda one: one.queue),
    (asyncio_queue, lambda one: one._queue), (multiprocessing.Queue, lambda one: one._buffer),
]  # fmt: skip


@pytest.mark.parametrize("make, inside", QUEUES, ids=["queue", "lifo", "priority", "own", "asyncio", "multiprocessing"])
def test_the_size_of_a_queue_is_its_bound(make, inside):
    """Its `maxsize` is; a queue without one may grow for ever."""
    sys.modules[__name__].QUEUE = one = make(90)
    inside(one).extend((number, Thing()) for number in range(9))
    assert bound_of(inside(one)) == 90
    assert unbounded(holder_of(inside(one), SECONDS)) is None
    if make is not multiprocessing.Queue:  # there it is what the system allows
        sys.modules[__name__].QUEUE = one = make(0)
        inside(one).extend((number, Thing()) for number in range(9))
        assert unbounded(holder_of(inside(one), SECONDS)) is not None
    del sys.modules[__name__].QUEUE


# -- all collections on a way


@pytest.fixture
def records(monkeypatch):
    """A module of the program's with one name in it: what is deep is found from there, whatever else there is."""
    module = types.ModuleType("bounded_program_records")
    module.__file__ = __file__
    module.records = {"buf": collections.deque(maxlen=100), "all": []}
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(roots, "is_users", lambda name: name == module.__name__)
    return module.records


@functools.lru_cache(maxsize=64)
def answer(number):
    return {"a": Thing(), "b": Thing(), "c": number}


def responsible_for(thing):
    return holder_at(collection_on(way_to([id(thing)], SECONDS)))


@pytest.mark.parametrize(
    "make",
    [
        lambda: (Thing(), Thing(), 3),
        lambda: {"s": Thing(), "a": Thing(), "r": 0.5},
        lambda: [Thing(), Thing(), Thing()],
        lambda: {"s": {"deep": [[Thing()] * 3] * 3, "b": 1, "c": 2}, "t": 1, "u": 2},
    ],
    ids=["tuple", "dict", "list", "nested"],
)
def test_what_a_bounded_collection_holds_at_any_depth_is_its_own(make, records):
    """The records in a deque answer for nothing; the deque does, and has a bound."""
    for kept in records.values():
        kept.extend(make() for _ in range(9))
    leaf = first_thing(records["buf"][4])
    held = responsible_for(leaf)
    assert (held.bound, held.names[0]) == (100, "buf")
    assert unbounded(responsible_for(first_thing(records["all"][4]))) is not None


def first_thing(part):
    while type(part) is not Thing:
        part = next(iter(part.values() if type(part) is dict else part))
    return part


def test_what_an_lru_cache_holds_is_the_caches():
    """A dict that a cached function has returned."""
    for number in range(9):
        answer(number)
    assert responsible_for(answer(4)["b"]).bound == 64
    answer.cache_clear()


@functools.lru_cache(maxsize=1)
def registry():
    return {}


def test_what_a_cached_function_returned_is_not_the_cache():
    """A dict made once, by a function with a cache of one, may grow for ever."""
    registry().update((number, Thing()) for number in range(9))
    held = holder_of(registry(), SECONDS)
    assert (held.path, with_bound(held).bound) == ("the lru_cache of registry()[…]", None)
    assert may_be_bounded(held, Site(__file__, 1, "f"))
    registry.cache_clear()


def test_a_place_that_is_filled_once_is_no_end_of_what_grows_in_it(made):
    """A list for each of seventeen users: the dict has a bound, the lists have none."""
    module = made("""
users = {}
def turns_of(number):
    return users.setdefault("user-%d" % (number % 17), {"turns": []})["turns"]
def spoken(number, said):
    turns_of(number).append(said)
for number in range(17 * 5):
    spoken(number, [number])
""")
    assert bound_of(module.users) == 17
    held = responsible_for(module.turns_of(3)[2])
    assert held.names[0] == "turns"
    assert unbounded(held) is not None


def test_what_grows_within_a_bounded_collection_may_have_an_end():
    """A list in a deque goes with its turn: it is looked at for longer, and no more than that."""
    sys.modules[__name__].EPISODES = collections.deque(maxlen=5)
    EPISODES.extend([Thing() for _ in range(9)] for _ in range(4))  # noqa: F821
    held = holder_of(EPISODES[2], SECONDS)  # noqa: F821
    assert unbounded(held) is not None
    assert may_be_bounded(held, Site(__file__, 1, "f"))
    del sys.modules[__name__].EPISODES


def test_source_that_cannot_be_read_has_no_limits(tmp_path):
    """A file that is not there, or is none of Python's."""
    broken = tmp_path / "broken.py"
    broken.write_text("rows = [", encoding="utf-8")
    assert limits_of("rows", str(broken)) == limits_of("rows", str(tmp_path / "none.py")) == ()


def test_no_property_is_asked_for_a_number(made):
    """A limit that is a property is not known."""
    module = made("""
class Cache:
    def __init__(self):
        self.rows = list(range(9))
    @property
    def size(self):
        raise AssertionError("asked")
    def put(self, value):
        self.rows.append(value)
        if len(self.rows) > self.size:
            self.rows.pop(0)
cache = Cache()
""")
    assert bound_of(module.cache.rows) is None


RENEWED = """
import random
class Episode:
    def __init__(self):
        self.most, self.rows = random.randint(100, 400), []
class Agent:
    def __init__(self):
        self.episode = Episode()
    def act(self, row):
        self.episode.rows.append(row)
        if len(self.episode.rows) == self.episode.most:
            self.learn()
    def learn(self):
        AGAIN
agent = Agent()
agent.episode.rows += range(20)
"""


@pytest.mark.parametrize("again, may_be", [("self.episode = Episode()", (True, 400)), ("pass", (False, 0))])
def test_what_belongs_to_an_object_that_is_made_anew_goes_with_it(made, again, may_be):
    """Up to the number at which that happens; where it never happens there is none."""
    module = made(RENEWED.replace("AGAIN", again).replace("len(self.episode.rows)", "self.count()"))
    holding = holding_at(way_to([id(module.agent.episode.rows)], SECONDS))
    assert (holding.may_be_bounded, holding.may_be_kept_at) == may_be
