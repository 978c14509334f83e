"""Who holds a thing: the shortest way to it from the program's own names."""

import collections
import concurrent.futures
import functools
import gc
import itertools
import logging
import sys
import threading
import time
import types
import weakref

import pytest

from tfmemwatch.holders.cures import cure_for
from tfmemwatch.holders.items import items_at
from tfmemwatch.holders.names import holder_at
from tfmemwatch.holders.search import way_to
from tfmemwatch.holders.words import path_to, told

SECONDS = 20.0  # enough for any machine; the time box has a test of its own


class Thing:
    pass


class Slotted:
    __slots__ = ("inner",)


class Trainer:
    kept = None

    def __init__(self):
        self.history = []
        self.by_name = {}


Trainer.kept = []
trainer = Trainer()
slotted = Slotted()
cycle = []


@functools.lru_cache(maxsize=None)
def remembered(number):
    return Thing()


def closing_over(thing):
    def inside():
        return thing

    return inside


closure = closing_over(Thing())
bound = functools.partial(print, Thing())


def held(place):
    return path_to([id(place)], SECONDS)


@pytest.fixture
def program():
    """A module of the program's with one name in it: what is deep is found from there, whatever else there is."""
    module = types.ModuleType("program")
    module.__file__ = __file__
    module.trainer = Trainer()
    sys.modules["program"] = module
    yield module
    del sys.modules["program"]


def test_an_item_of_an_attribute(program):
    """`trainer.history (list, 5 items) → [2] → Thing`."""
    program.trainer.history = [Thing() for _ in range(5)]
    assert held(program.trainer.history[2]) == "program.trainer.history (list, 5 items) → [2] → Thing"


@pytest.mark.parametrize(
    "make, told",
    [
        (lambda: trainer.by_name.setdefault("a", [Thing()])[0],
         'test_holders.trainer.by_name (dict, 1 item) → ["a"] (list, 1 item) → [0] → Thing'),
        (lambda: remembered(3),
         "test_holders.remembered (_lru_cache_wrapper) → its cache (dict, 1 item) → [3] → Thing"),
        (lambda: closure(), "test_holders.closure → closure `thing` → Thing"),
        (lambda: bound.args[0], "test_holders.bound (partial) → its arguments (tuple, 1 item) → [0] → Thing"),
        (lambda: setattr(slotted, "inner", Thing()) or slotted.inner, "test_holders.slotted.inner → Thing"),
        (lambda: Trainer.kept.append(Thing()) or Trainer.kept[0],
         "test_holders.Trainer.kept (list, 1 item) → [0] → Thing"),
    ],
    ids=["dict", "lru_cache", "closure", "partial", "slots", "class"],
)  # fmt: skip
def test_the_way_is_told_as_one_would_write_it(make, told):
    """Attributes, keys, indexes, closures, caches, partials, slots and classes by name."""
    assert held(make()) == told
    for collection in (trainer.by_name, Trainer.kept):
        collection.clear()


def test_a_local_of_a_running_function_in_another_thread():
    """What a thread holds in a variable is found under the name of the variable and its function."""
    ready, done = threading.Event(), threading.Event()
    told = []

    def serve():
        batches = [Thing(), Thing()]
        told.append(weakref.ref(batches[1]))
        ready.set()
        done.wait(60)
        del batches

    thread = threading.Thread(target=serve)
    thread.start()
    ready.wait(60)
    text = path_to([id(told[0]())], SECONDS)
    done.set()
    thread.join()
    assert text == "batches of serve() in a thread (list, 2 items) → [1] → Thing"


def test_an_attribute_of_a_local_stands_before_its_function():
    """`here.history of main()` is what one would look for, not an attribute of a function."""
    here = Trainer()
    here.history.append(Thing())
    told = "here.history of test_an_attribute_of_a_local_stands_before_its_function() (list, 1 item) → [0] → Thing"
    assert held(here.history[0]) == told


def test_a_chain_of_objects_is_told_in_short(program):
    """Each with the one before it: `history.next….thing`."""
    chained = program.trainer.history = Trainer()
    for _ in range(9):
        chained.next = chained = Trainer()
    thing = chained.thing = Thing()
    del chained
    assert held(thing) == "program.trainer.history.next….thing → Thing"


def test_a_chain_of_a_thousand_objects_is_told_from_both_ends(program):
    """Its beginning is a name, its end the thing, and what lies between is one word."""
    last = first = Thing()
    for _ in range(1000):
        last.before = Thing()
        last = last.before
    thing, last.state = Thing(), []
    last.state.append(thing)
    del last
    program.trainer.head = first
    del first
    way = held(thing)
    assert way.startswith("program.trainer.head.before…")
    assert way.endswith("state (list, 1 item) → [0] → Thing")
    assert len(way) < 200
    link = program.trainer.head
    while link is not None:  # without a recursion a thousand deep
        link = link.__dict__.pop("before", None)


def test_a_variable_of_a_generator_that_waits():
    """It is held by whoever holds the generator."""

    def averaged():
        history = [Thing()]
        yield weakref.ref(history[0])

    trainer.history = averaged()
    thing = next(trainer.history)()
    told = "test_holders.trainer.history (generator) → history (list, 1 item) → [0] → Thing"
    assert held(thing) == told
    trainer.history = []


def test_what_nobody_holds_has_no_way_and_a_cycle_ends():
    """A structure that leads back to itself is searched once."""
    cycle.append(cycle)
    lonely = Thing()
    text = path_to([id(lonely)], SECONDS)
    assert text == "lonely of test_what_nobody_holds_has_no_way_and_a_cycle_ends() → Thing"
    del cycle[:]


def test_a_search_keeps_nothing_alive():
    """What was looked at dies when the program lets go of it, at once."""
    trainer.history = [Thing() for _ in range(100)]
    gc.collect()
    ref, everything = weakref.ref(trainer.history[50]), len(gc.get_objects())
    held(trainer.history[50])
    gc.collect()
    assert len(gc.get_objects()) <= everything + 5
    trainer.history = []
    assert ref() is None


class Quarrelsome:
    """Raises, whatever it is asked."""

    def __init__(self):
        self.__dict__["inner"] = Thing()

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __eq__(self, other):
        raise RuntimeError("eq")

    __hash__ = None

    def __repr__(self):
        raise RuntimeError("repr")

    def __len__(self):
        raise RuntimeError("len")


quarrelsome = Quarrelsome()


def test_no_code_of_the_program_is_run():
    """Things that raise when they are compared, printed or measured are passed through."""
    assert held(quarrelsome.__dict__["inner"]) == "test_holders.quarrelsome.inner → Thing"


def test_a_search_ends_in_its_time():
    """Without any left, it gives up."""
    trainer.history = [Thing()]
    assert path_to([id(trainer.history[0])], 0.0) == ""
    trainer.history = []


def test_a_million_objects_are_within_200_milliseconds(request):
    """In a list of a million, the search with 200 ms ends in about that, wherever the thing is."""
    trainer.history = [Thing() for _ in range(1000000)]
    request.addfinalizer(trainer.history.clear)
    started = time.thread_time()
    path_to([1], 0.2)
    assert time.thread_time() - started < 0.4


class Served:
    """Has itself closed at its end, by a method of its own."""

    def __init__(self):
        weakref.finalize(self, self.close)

    def close(self):
        pass


def test_a_finalizer_that_is_a_method_of_its_object_is_named():
    """`weakref.finalize(self, self.close)` keeps its object for ever."""
    serving = Served()
    thing = id(serving)
    del serving
    assert path_to([thing], SECONDS).startswith("weakref.finalize._registry")


def cure(thing, kind="model_rebuild"):
    way = way_to([id(thing)], SECONDS)
    return cure_for(way, told(way), kind)


def test_the_cure_is_about_the_holder_where_it_is_the_programs(program):
    """A list of the program's keeps each model: `clear_session()` would not help."""
    program.trainer.history = [Thing() for _ in range(5)]
    assert cure(program.trainer.history[2]) == (
        "Take each out of Trainer.history when it is done, or keep only what is needed of it."
    )
    assert cure(program.trainer.history[2], "session_unclosed") == ""


def test_what_no_collection_holds_has_the_general_cure():
    """An attribute keeps one thing, not those before it."""
    slotted.inner = Thing()
    assert cure(slotted.inner) == ""


def test_a_finalizer_has_a_cure_of_its_own():
    """The bound method is what keeps the object."""
    serving = Served()
    thing = id(serving)
    del serving
    way = way_to([thing], SECONDS)
    assert "a bound method holds it" in cure_for(way, told(way), "variable")


@pytest.mark.parametrize(
    "item, called",
    [
        (ValueError(), "exceptions"),
        (logging.LogRecord("x", 1, "f", 1, "m", (), None), "records"),
        (trainer.__init__, "callbacks"),
        (lambda: 1, "callbacks"),
        (functools.partial(print), "callbacks"),
        (concurrent.futures.Future(), "tasks"),
        (threading.Thread(), "threads"),
        (1.0, ""),
        (Thing(), ""),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
@pytest.mark.parametrize(
    "kind", [list, collections.deque, lambda items: dict(enumerate(items))], ids=["list", "deque", "dict"]
)
def test_of_what_kind_the_items_of_a_collection_are(program, kind, item, called):
    """The newest one says so; of a dict its value."""
    program.trainer.history = kind([0, 0, item])
    assert items_at(way_to([id(program.trainer.history)], SECONDS)) == called


def test_what_tensorflow_puts_around_a_list_of_a_layer_has_the_name_of_the_attribute(program):
    """`trainer.rows`, and not `ListWrapper._last_wrapped_list_snapshot`."""
    wrapper = type("ListWrapper", (list,), {"__module__": "tensorflow.python.trackable.data_structures"})
    program.trainer.rows = wrapper([Thing() for _ in range(5)])
    program.trainer.rows._last_wrapped_list_snapshot = [Thing() for _ in range(5)]
    for thing in (program.trainer.rows, program.trainer.rows._last_wrapped_list_snapshot):
        holder = holder_at(way_to([id(thing)], SECONDS))
        assert (holder.path, holder.names[0], holder.is_within) == ("Trainer.rows", "rows", False)


def test_what_tensorflow_keeps_inside_is_not_the_programs(program):
    """A list that an object written in C++ refers to, without a name for it, is kept within that object."""
    opaque = type("Graph", (itertools.repeat,), {"__module__": "tensorflow.python.framework.ops", "__slots__": ()})
    kept = [Thing() for _ in range(5)]
    program.trainer.graph = opaque(kept)
    way = way_to([id(kept)], SECONDS)
    holder = holder_at(way)
    assert (holder.path, holder.is_within) == ("Trainer.graph (Graph.…)", True)
