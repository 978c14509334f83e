"""The variables of the program's functions are read, and stay as they are: under a profiler, under a tracer, bare."""

import gc
import sys
import threading

import pytest

from tfmemwatch.heap import frames


def read_all():
    return [one.variables for one in frames.running()]


def stopped_in(begin, profiled):
    """What a function returns in a thread with a profiler that has let go of its frame, and waits while we read."""
    called, looked = threading.Event(), threading.Event()
    results = []

    def called_back(frame, what, argument):
        is_here = frame.f_code is profiled.__code__ and what in ("call", "c_call", "line")
        while frame is not None:  # it walks the stack, and does not hold the frame any more
            frame = frame.f_back
        if is_here:
            called.set()
            looked.wait(30)

    def run():
        begin(called_back)
        try:
            results.append(profiled([1, 2]))
        except UnboundLocalError as error:
            results.append(error)
        finally:
            begin(None)

    thread = threading.Thread(target=run)
    thread.start()
    assert called.wait(30)
    read_all()
    looked.set()
    thread.join(30)
    return results


@pytest.mark.parametrize("begin", [sys.setprofile, sys.settrace], ids=["profiler", "tracer"])
def test_a_function_keeps_its_variables_while_a_profiler_has_let_go_of_its_frame(begin):
    """After a profiler was called, Python takes the variables of a function from `f_locals`: we do not empty it."""

    def profiled(given):
        first, second = given, [3]
        return len(first), first, second

    assert stopped_in(begin, profiled) == [(2, [1, 2], [3])]


def test_what_a_debugger_has_written_into_the_variables_stays():
    """Before Python 3.13 `f_locals` is the debugger's table: reading the variables does not write into it."""
    if type(sys._getframe().f_locals) is not dict:
        pytest.skip("here f_locals is the variables themselves")
    frame = sys._getframe()
    table = frame.f_locals
    table["frame"] = "written"
    found = dict(frames.variables(frame))
    assert (found["frame"], table["frame"]) == (frame, "written")


def test_every_variable_is_read_by_its_name():
    """Arguments, those that inner functions share, those that came later; none that is not set any more."""

    def shown(one, two, *rest, three=3):
        gone = four = [one, two]
        del gone
        five = 5
        found = frames.variables(sys._getframe())
        unset = found
        return found, lambda: (two, four, five, unset)

    found, _ = shown("one", ["two"], 4)
    names = {"one": "one", "two": ["two"], "rest": (4,), "three": 3, "four": ["one", ["two"]], "five": 5}
    assert {name: value for name, value in found if name in names} == names
    assert {name for name, _ in found} <= {*names, "frames", "sys"}


def test_reading_leaves_the_collector_as_it_is():
    """On as it was, or off as the program has set it."""
    was_on = gc.isenabled()
    try:
        for switch in (gc.disable, gc.enable):
            switch()
            before = gc.isenabled()
            read_all()
            assert gc.isenabled() is before
    finally:
        (gc.enable if was_on else gc.disable)()


def test_functions_that_come_and_go_are_read_at_any_moment():
    """Variables have the values that they had, whatever is done in their threads meanwhile."""
    kinds = {"depth": int, "given": list, "kept": (list, int), "inner": type(lambda: 0), "over": threading.Event}
    over, interval, wrong = threading.Event(), sys.getswitchinterval(), []

    def called(depth, given):
        kept = [given, depth]

        def inner():
            return kept

        if depth:
            called(depth - 1, kept)
        del kept
        kept = 3
        return inner

    def work():
        while not over.is_set():
            called(6, [1])

    threads = [threading.Thread(target=work) for _ in range(3)]
    sys.setswitchinterval(1e-5)
    try:
        [thread.start() for thread in threads]
        for _ in range(1500):
            for one in frames.running():
                if one.function == "called":
                    wrong += [name for name, value in one.variables if not isinstance(value, kinds.get(name, object))]
    finally:
        over.set()
        sys.setswitchinterval(interval)
    [thread.join() for thread in threads]
    assert wrong == []
