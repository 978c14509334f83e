"""Looking through the heap runs no code of the program's, keeps nothing of it alive, and leaves its collector alone."""

import collections
import functools
import gc
import os
import queue
import sys
import threading
import types
import weakref

import pytest

from tfmemwatch.evidence import census, large_values
from tfmemwatch.evidence.growing_collection import GrowingCollection
from tfmemwatch.evidence.instruments.operations_window import OperationsWindow
from tfmemwatch.heap import collector, frames
from tfmemwatch.heap.classes import ids_of
from tfmemwatch.heap.instances import newest_of, number_of, references_to
from tfmemwatch.heap.room import THING_BYTES, Size, room
from tfmemwatch.holders.names import holder_at, holder_of
from tfmemwatch.holders.search import way_to
from tfmemwatch.holders.words import path_to
from tfmemwatch.memory import object_weights

LOOKS = 8  # of each kind while the program goes on


class Thing:
    """What a program holds for a while; it says in which thread it died."""

    def __init__(self, died):
        self.died = died
        self.data = bytearray(2000)

    def __del__(self, thread=threading.get_ident):
        self.died.append(thread())


class Service:
    """Bounded collections that are filled and emptied again and again."""

    def __init__(self):
        self.ring = collections.deque(maxlen=40)
        self.cache = collections.OrderedDict()
        self.queue = queue.Queue()
        self.rows = []
        self.nested = {}

    def put(self, thing, where):
        """Keep a thing, and drop an older one: a weak reference to that."""
        old = None
        if where == 0:
            old = weakref.ref(self.ring[0]) if len(self.ring) == 40 else None
            self.ring.append(thing)
        elif where == 1:
            self.cache[id(thing)] = thing
            if len(self.cache) > 40:
                old = weakref.ref(self.cache.popitem(last=False)[1])
        elif where == 2:
            self.queue.put(thing)
            if self.queue.qsize() > 40:
                old = weakref.ref(self.queue.get())
        elif where == 3:
            self.rows.append(thing)
            if len(self.rows) > 40:
                old = weakref.ref(self.rows.pop(0))
        else:
            before = self.nested.get("state")
            old = weakref.ref(before[1][0]) if before is not None else None
            del before
            self.nested["state"] = (1, [thing])
        return old


SERVICE = Service()


def followed():
    way = way_to([id(SERVICE.rows)], 30.0)  # what all tests have left is looked through, beside a busy thread
    one = GrowingCollection(way, 3)
    one.look()
    return one.weight


EVIDENCE = {
    "a census": lambda: census.grown(census.take(Thing), census.take(Thing), 1),
    "the weight of a list": lambda: census.weight_of_item(SERVICE.rows, 40),
    "the weight of a deque": lambda: census.weight_of_item(SERVICE.ring),
    "the weight of a dict": lambda: census.weight_of_item(SERVICE.cache, 40),
    "a collection that is followed": followed,
    "large values": large_values.large,
    "what everything weighs": object_weights.read,
    "the way to a thing": lambda: path_to([1], 0.2),
    "the name of a collection": lambda: holder_of(SERVICE.rows),
    "how many there are": lambda: number_of(Thing),
    "which came last": lambda: newest_of(ids_of((Thing,)), 9),
    "weak references": lambda: references_to(ids_of((Thing,))),
}


@pytest.mark.parametrize("what", EVIDENCE)
def test_what_the_program_drops_dies_at_once_and_in_its_own_thread(what, monkeypatch):
    """From a ring, a cache, a queue, a list and a tuple in a dict, while evidence is taken."""
    died, late, threads, done = [], [], [], threading.Event()

    def program(threads, done, late, put, make, died):
        threads.append(threading.get_ident())
        number = 0
        while not done.is_set():
            number += 1
            old = put(make(died), number % 5)
            if old is not None and old() is not None:
                late.append(number)

    # In a library's file: variables of the program's functions are in our hands for some microseconds.
    code = program.__code__.replace(co_filename=pytest.__file__)
    put = types.FunctionType(Service.put.__code__.replace(co_filename=pytest.__file__), globals())
    make = types.FunctionType(Thing.__init__.__code__.replace(co_filename=pytest.__file__), globals())
    monkeypatch.setattr(Thing, "__init__", make)
    thread = threading.Thread(
        target=types.FunctionType(code, globals()),
        args=(threads, done, late, functools.partial(put, SERVICE), Thing, died),
    )
    thread.start()
    try:
        for _ in range(LOOKS):
            EVIDENCE[what]()
    finally:
        done.set()
        thread.join()
    assert late == []
    assert set(died) <= set(threads)


class Plain(type):
    """A metaclass with `__eq__` and no `__hash__`: its classes can't be hashed."""

    def __eq__(cls, other):
        return cls is other


class Loud(type):
    """A metaclass that hashes and compares in Python, as sympy's do: while it does, other threads run."""

    calls = 0

    def __hash__(cls):
        Loud.calls += 1
        return 7

    def __eq__(cls, other):
        Loud.calls += 1
        return cls is other


class Odd(metaclass=Plain):
    """Its class says no text where it was defined."""

    __module__ = property(lambda self: "x")
    __slots__ = ("items",)


class Lru(collections.OrderedDict, metaclass=Loud):
    """As in Python's documentation: what is read moves to the end."""

    calls = ()

    def __getitem__(self, key):
        Lru.calls += (key,)
        self.move_to_end(key)
        return super().__getitem__(key)

    def __iter__(self):
        Lru.calls += ("iter",)
        return super().__iter__()

    def values(self):
        Lru.calls += ("values",)
        return super().values()


class Armed(list, metaclass=Loud):
    """Whoever asks it for anything is noticed."""

    calls = ()

    def __getitem__(self, key):
        Armed.calls += (key,)
        return super().__getitem__(key)

    def __iter__(self):
        Armed.calls += ("iter",)
        return super().__iter__()

    def __sizeof__(self):
        Armed.calls += ("sizeof",)
        return 1

    @property
    def __dict__(self):
        Armed.calls += ("dict",)
        return {}

    @property
    def __class__(self):
        Armed.calls += ("class",)
        return dict


ODD, LRU, ARMED = Odd(), Lru((number, [number]) for number in range(9000)), Armed([[1], [2], [3]] * 2000)
ODD.items = [[1], [2], [3]]


@pytest.mark.parametrize("what", [name for name in EVIDENCE if "list" not in name and "deque" not in name])
def test_no_code_of_the_program_is_run(what):
    """Not of metaclasses that hash, nor of dicts and lists with methods and properties of their own."""
    before = list(LRU)[-3:]
    Loud.calls, Lru.calls, Armed.calls = 0, (), ()
    EVIDENCE[what]()
    census.weight_of_item(LRU, 100)
    census.weight_of_item(ARMED)
    told = [path_to([id(one)], 1.0) for one in (ODD.items, LRU, ARMED, ARMED[5999])]
    assert all(told[:3]), told
    Armed.calls = tuple(call for call in Armed.calls if call != 5999)  # that was the line above
    assert (Loud.calls, Lru.calls, Armed.calls) == (0, (), ())
    assert list(LRU)[-3:] == before


def test_an_array_that_raises_when_it_is_asked_is_weighed_all_the_same(needs):
    """Of a class derived from NumPy's, with an `nbytes` and an address of its own that can't be told."""
    numpy = needs("numpy")

    class Lazy(numpy.ndarray):
        @property
        def nbytes(self):
            raise OSError("the file is closed")

        @property
        def __array_interface__(self):
            raise OSError("the file is closed")

    before = object_weights.read().arrays_bytes
    kept = [Lazy((1000000,)), Lazy((1000000,))]
    assert len(kept) == 2
    assert object_weights.read().arrays_bytes - before == pytest.approx(16e6, rel=0.01)


@pytest.mark.parametrize("what", EVIDENCE)
def test_the_collector_is_as_it_was_at_every_instant(what):
    """Another thread, and a child that it forks, find it on where the program has it on, and off where it is off."""
    seen, done = [], threading.Event()

    def program(wanted):
        while not done.is_set():
            seen.append(gc.isenabled() is wanted)

    for wanted in (True, False):
        done.clear()
        (gc.enable if wanted else gc.disable)()
        thread = threading.Thread(target=program, args=(wanted,))
        thread.start()
        try:
            for _ in range(4):
                EVIDENCE[what]()
                seen.append(gc.isenabled() is wanted)
        finally:
            done.set()
            thread.join()
            gc.enable()
    assert all(seen)


@pytest.mark.parametrize("asked", [False, True])
def test_a_collector_that_is_off_is_used_only_where_a_person_asks(asked):
    """A program that has turned it off knows why."""
    before = collector.full_collections()
    gc.disable()
    try:
        assert collector.collect(asked) is asked
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert collector.full_collections() - before == asked


def test_a_collection_that_would_take_long_is_left_to_the_program(monkeypatch):
    """Only what is young is collected: a full one can't be cut."""
    monkeypatch.setattr(collector.Pace, "seconds_an_object", 1.0)
    before = collector.full_collections()
    assert not collector.collect()
    assert collector.full_collections() == before


def test_what_a_name_leads_to_is_found_though_the_heap_is_frozen():
    """`gc.freeze()` hides what lived before from the collector, and not from the names of the program."""
    before = census.take()
    gc.freeze()
    try:
        SERVICE.rows[:] = [[1]] * 3
        first = census.take()
        SERVICE.rows.extend([[1]] * 40)
        found = census.grown(first, census.take(), 5)
    finally:
        gc.unfreeze()
        SERVICE.rows.clear()
    assert before.lengths
    assert "Service.rows" in [holder_at(one.way).path for one in found]


def test_evidence_takes_little_of_what_is_left(monkeypatch):
    """At most 2 % of what is left below the limit, and 64 MB; near the limit there is none."""
    monkeypatch.setattr(room, "bytes", room.bytes)
    assert room.below(None) and room.bytes == 64 << 20
    assert room.below(10 << 30) and room.bytes == 64 << 20
    assert room.below(1 << 30) and room.bytes == int(0.02 * (1 << 30))
    assert not room.below(40 << 20)
    assert room.below(300 << 20)
    monkeypatch.setattr(Size, "_at_most", lambda size, countable: 4000000)
    assert "too little memory" in Size().too_large()
    met = census.take().met
    assert all(len(list(one.lengths())) <= room.bytes // THING_BYTES for one in met)


PEAK = """
import gc, os, resource, sys
from tfmemwatch.evidence import census
from tfmemwatch.heap.room import room
from tfmemwatch.memory import object_weights as holdings
from tfmemwatch.evidence import large_values as values
kept = [[number, number, number] for number in range(int(sys.argv[1]))]
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
first = census.take(); second = census.take(); census.grown(first, second, 1); values.large(); holdings.read()
census.weight_of_item(kept)
print(peak() - before)
"""


@pytest.mark.parametrize("objects", [100000, 3000000])
def test_evidence_has_a_bound_in_bytes_however_large_the_heap_is(objects):
    """Two looks at all collections, values and weights: less than 64 MB more at the highest, with 3 million lists."""
    import subprocess

    ran = subprocess.run(
        [sys.executable, "-c", PEAK, str(objects)], capture_output=True, text=True,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)), check=True,
    )  # fmt: skip
    assert int(ran.stdout) < 64 << 10


def test_signatures_of_operations_have_one_bound_together(monkeypatch):
    """However many lines there are with ever new shapes."""
    monkeypatch.setattr(room, "bytes", room.bytes)
    room.below(100 << 20)

    class Scene:
        """Without a process to weigh."""

        process = types.ModuleType("process")

    Scene.process.in_use_bytes = lambda: 0
    window = OperationsWindow(Scene())
    window.open()
    window.close()
    window._kinds = 50
    for number in range(400):
        window._note("op%d" % (number % 7), 0, number, ("signature", number), (number,), False)
    rows = window.read()
    assert sum(row.signatures + row.numbers + row.sizes for row in rows) <= 53


def test_frames_of_running_functions_are_known_by_their_ids():
    """What an exception leads to through its frames ends at those that run."""
    assert id(sys._getframe()) in frames.ids()
