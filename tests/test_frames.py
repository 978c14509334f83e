"""The variables of functions that run: read, and nothing of them left behind."""

import gc
import sys
import threading
import weakref

import pytest

from tfmemwatch.heap import frames
from tfmemwatch.holders.names import holder_of
from tfmemwatch.holders.words import path_to
from tfmemwatch.memory import object_weights


class Thing:
    pass


def read_all():
    for one in frames.running():
        assert one.function


LOOKS = {
    "variables": read_all,
    "the way to a thing": lambda: path_to([1], 20.0),
    "the name of a collection": lambda: holder_of([]),
    "weights": lambda: (object_weights.read(), object_weights.read()),
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_variable_that_is_given_up_after_a_look_dies(look):
    """Up to Python 3.12 a function's frame keeps a copy of what it had when somebody asked for its variables."""
    thing = Thing()
    alive = weakref.ref(thing)
    LOOKS[look]()
    del thing
    gc.collect()
    assert alive() is None


def test_what_a_finalizer_is_called_for_dies_though_it_is_looked_at_meanwhile():
    """Whoever holds the frame of `__del__` while it ends holds what it was called for, though that counts as dead."""
    names, looks = [], []

    def called():
        looks.append(frames.running())
        names.append(next(looks[0]).function)

    class Closed:
        def __del__(self):
            called()

    thing = Closed()
    alive = weakref.ref(thing)
    del thing
    assert alive() is None
    assert names == ["test_what_a_finalizer_is_called_for_dies_though_it_is_looked_at_meanwhile"]


def test_a_variable_of_another_thread_dies_too():
    """The same, of a function that waits."""
    given_up, looked, here = threading.Event(), threading.Event(), threading.Event()
    alive = []

    def waiting():
        thing = Thing()
        alive.append(weakref.ref(thing))
        here.set()
        looked.wait()
        del thing
        given_up.set()
        ended.wait()

    ended = threading.Event()
    thread = threading.Thread(target=waiting)
    thread.start()
    here.wait()
    assert [name for one in frames.running() if one.function == "waiting" for name, _ in one.variables
                         if name == "thing"] == ["thing"]  # fmt: skip
    looked.set()
    given_up.wait()
    gc.collect()
    gone = alive[0]() is None
    ended.set()
    thread.join()
    assert gone


def test_what_a_program_has_of_its_variables_stays_as_it_is():
    """`locals()` is that copy, until Python 3.12: it is not emptied under the program."""
    thing = 7
    mine = locals()
    read_all()
    assert mine["thing"] == thing


def test_a_generator_is_read_where_it_waits():
    """By name, and what it gives up dies."""

    def steps():
        thing = Thing()
        yield weakref.ref(thing)
        del thing
        yield None

    generator = steps()
    alive = next(generator)
    assert [name for name, _ in frames.variables_of(generator)] == ["thing"]
    next(generator)
    assert alive() is None
    assert list(generator) == [] == frames.variables_of(generator)


def test_a_function_under_a_profiler_keeps_its_variables():
    """After a profiler was called, Python takes the variables of the function from the copy that it made for it."""
    called, looked = threading.Event(), threading.Event()
    results = []

    def profiler(frame, what, argument):
        if frame.f_code is profiled.__code__ and what == "c_call":
            called.set()
            looked.wait()

    def profiled():
        first, second = [1, 2], [3]
        return len(first), first, second

    def run():
        sys.setprofile(profiler)
        results.append(profiled())

    thread = threading.Thread(target=run)
    thread.start()
    called.wait()
    read_all()
    looked.set()
    thread.join()
    assert results == [(2, [1, 2], [3])]
