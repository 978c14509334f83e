"""What living objects weigh: found wherever the program holds them, each once, and let go of again."""

import collections
import gc
import sys
import weakref

import pytest

from tfmemwatch.memory import object_weights

MB = 1000000


class Owner:
    """An object of the user's."""


def held_by(what, thing):
    """Something that holds a thing in one of the ways there are."""
    owner = Owner()
    owner.thing = thing
    return {
        "list": lambda: [thing],
        "tuple": lambda: [(1, (2, thing))],
        "dict": lambda: {"a": {"b": thing}},
        "deque": lambda: collections.deque([thing]),
        "attribute": lambda: owner,
        "closure": lambda: lambda: thing,
        "default": lambda: lambda value=thing: value,
        "generator": lambda: (thing for _ in range(2)),
        "nested": lambda: [({"a": (thing,)},)],
    }[what]()


@pytest.mark.slow
@pytest.mark.parametrize("what", "list tuple dict deque attribute closure default generator nested".split())
def test_a_large_object_is_found_wherever_it_is_held(what):
    """Once, with its bytes, though two hold it; and is gone from the books when it goes."""
    gc.collect()
    before = object_weights.read().python_bytes
    held = [held_by(what, bytes(5 * MB))]
    gc.collect()  # what holds no object of its own is then forgotten by the collector
    assert object_weights.read().python_bytes - before == pytest.approx(5 * MB, rel=0.02)
    held.append(held[0])
    assert object_weights.read().python_bytes - before == pytest.approx(5 * MB, rel=0.02)
    del held
    assert abs(object_weights.read().python_bytes - before) < 0.1 * MB


@pytest.mark.slow
def test_what_of_the_longest_is_not_weighed_is_said():
    """A list of a million texts: its first parts are weighed, and the answer says that those are not all."""
    assert object_weights.read().off == ""
    kept = [bytes(600)] * 1000000
    assert object_weights.read().off == "of a collection of 1,000,000 parts only the first 40,000"
    del kept
    assert object_weights.read().off == ""


@pytest.mark.slow
def test_what_a_long_collection_holds_is_weighed_to_its_end():
    """A hundred thousand texts in a list, which are asked in several calls: no thread waits for all of them."""
    before = object_weights.read().python_bytes
    kept = [bytes(1000) for _ in range(100000)]
    expected = sys.getsizeof(kept) + sum(map(sys.getsizeof, kept))
    assert object_weights.read().python_bytes - before == pytest.approx(expected, rel=0.02)


@pytest.mark.slow
def test_a_long_collection_weighs_what_its_table_does():
    """Lists, dicts and sets of a hundred thousand."""
    before = object_weights.read().python_bytes
    kept = [list(range(100000)), dict.fromkeys(range(100000)), set(range(100000))]
    expected = sum(map(sys.getsizeof, kept))
    assert object_weights.read().python_bytes - before == pytest.approx(expected, rel=0.02)


@pytest.mark.slow
def test_an_array_weighs_what_it_owns(needs):
    """A view owns nothing; NumPy itself is never imported for it."""
    numpy = needs("numpy")
    before = object_weights.read()
    kept = [numpy.ones(100000)]
    kept.append(kept[0][5:])
    after = object_weights.read()
    assert after.arrays_bytes - before.arrays_bytes == pytest.approx(800000, rel=0.01)


@pytest.mark.slow
def test_weighing_keeps_nothing_alive():
    """An object that goes afterwards is gone at once, also where a local variable of a running function held it."""
    thing = Owner()
    gone = weakref.ref(thing)
    object_weights.read()
    del thing
    assert gone() is None


@pytest.mark.slow
def test_weighing_takes_no_memory_for_good():
    """Four readings leave as many blocks of Python as one did."""
    object_weights.read()
    before = sys.getallocatedblocks()
    for _ in range(4):
        object_weights.read()
    assert sys.getallocatedblocks() - before < 300
