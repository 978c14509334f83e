"""A wrapped attribute behaves as before, and is put back."""

import copy
import functools
import gc
import inspect
import logging
import pickle
import traceback
import types

import pytest
import wrapt

from tfmemwatch.probes.scene import noted, quickly
from tfmemwatch.seams.patch import Patch, undo_all


class Engine:
    """Stands for a class of TensorFlow's."""

    def start(self, fuel, *, fast=False):
        """Start it."""
        if fuel < 0:
            raise ValueError("no fuel")
        return self, fuel, fast

    @classmethod
    def build(cls, size):
        return cls, size

    @staticmethod
    def horsepower(size):
        return size * 10


class Turbo(Engine):
    """Inherits all it can do."""


def with_arguments(note):
    """The way that sees the result and the arguments too."""
    return noted(lambda result, instance, *args, **kwargs: note(instance), "the place")


def quick(note):
    """The way that sees the instance only."""
    return quickly(note, "the place")


@pytest.fixture(params=[with_arguments, quick])
def way(request):
    """Both ways to wrap; every claim holds for each."""
    return request.param


@pytest.fixture
def seen():
    """The instances that were noted."""
    return []


@pytest.fixture
def patch(way, seen):
    """Wrap `start` of Engine for the length of a test."""
    original = vars(Engine)["start"]
    yield Patch(Engine, "start", way(seen.append))
    Engine.start = original


@pytest.mark.parametrize("name", ["start", "build", "horsepower"])
def test_undo_puts_back_the_very_same_attribute(name, way, seen):
    """What stood in the class stands there again, the same object, whatever kind of method it is."""
    original = vars(Engine)[name]
    patch = Patch(Engine, name, way(seen.append))
    assert vars(Engine)[name] is not original
    patch.undo()
    assert vars(Engine)[name] is original


def test_a_function_of_a_module_is_put_back(seen):
    """The function of a module is the same object again."""
    module = types.ModuleType("some_module")
    original = module.function = lambda: 1
    Patch(module, "function", with_arguments(seen.append)).undo()
    assert module.function is original


def test_an_inherited_attribute_is_deleted_again(way, seen):
    """A class that only inherited a method has none of its own after uninstall."""
    patch = Patch(Turbo, "start", way(seen.append))
    assert "start" in vars(Turbo)
    patch.undo()
    assert "start" not in vars(Turbo)
    assert Turbo.start is Engine.start


def test_a_class_and_its_base_can_both_be_wrapped(way, seen):
    """A note on the subclass and one on the base each see the call once."""
    patches = [Patch(kind, "start", way(seen.append)) for kind in (Engine, Turbo)]
    Turbo().start(1)
    undo_all(patches)
    assert len(seen) == 2
    assert "start" not in vars(Turbo)


def test_a_wrapper_put_on_top_by_another_library_stays(patch, seen):
    """Another library that has wrapped our wrapper keeps its own, and ours is then a mere pass-through."""
    theirs = []
    ours = vars(Engine)["start"]

    @functools.wraps(ours)
    def on_top(self, *args, **kwargs):
        theirs.append(args)
        return ours.__get__(self, type(self))(*args, **kwargs)

    Engine.start = on_top
    patch.undo()
    assert vars(Engine)["start"] is on_top
    assert Engine().start(5)[1:] == (5, False)
    assert (theirs, seen) == ([(5,)], [])


def test_a_wrapper_put_on_top_can_take_itself_off(patch, seen):
    """A library that restores what it found after our uninstall leaves a pass-through that works."""
    ours = vars(Engine)["start"]
    Engine.start = lambda self, fuel: ours
    patch.undo()
    Engine.start = ours
    assert Engine().start(1)[1:] == (1, False)
    assert seen == []


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["first first", "last first"])
def test_two_patches_of_one_attribute_are_undone_in_either_order(order, way, seen):
    """Two of our patches on one attribute leave the original, whichever goes first."""
    original = vars(Engine)["start"]
    patches = [Patch(Engine, "start", way(seen.append)), Patch(Engine, "start", way(seen.append))]
    patches.pop(order[0]).undo()
    gc.collect()
    patches.pop().undo()
    assert vars(Engine)["start"] is original


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["first first", "last first"])
def test_the_patch_that_is_left_still_sees(order, way):
    """Undoing one of two patches does not switch off the other."""
    seen = [], []
    patches = [Patch(Engine, "start", way(seen[number].append)) for number in (0, 1)]
    patches[order[0]].undo()
    Engine().start(1)
    patches[order[1]].undo()
    assert len(seen[order[1]]) == 1
    assert seen[order[0]] == []


def test_undo_twice_is_harmless(patch):
    """A second undo does not bring anything back."""
    original = patch.original
    patch.undo()
    patch.undo()
    assert vars(Engine)["start"] is original


def test_the_note_gets_the_instance(patch, seen):
    """What is noted is the object, also when the method is called through its class."""
    engine = Engine()
    engine.start(1, fast=True)
    Engine.start(engine, 2)
    assert seen == [engine, engine]


def test_the_note_can_have_result_and_arguments():
    """Where the arguments matter, they are what the program passed."""
    seen = []
    patch = Patch(Engine, "start", noted(lambda *args, **kwargs: seen.append((args, kwargs)), "the place"))
    engine = Engine()
    engine.start(1, fast=True)
    patch.undo()
    assert seen == [(((engine, 1, True), engine, 1), {"fast": True})]


def test_the_signature_and_the_docstring_are_those_of_the_original(patch):
    """`inspect` and `help` show what they showed before."""
    assert str(inspect.signature(Engine.start)) == "(self, fuel, *, fast=False)"
    assert str(inspect.signature(Engine().start)) == "(fuel, *, fast=False)"
    assert (Engine.start.__name__, Engine.start.__qualname__) == ("start", "Engine.start")
    assert (Engine.start.__module__, Engine.start.__doc__) == (__name__, "Start it.")


def test_a_bound_method_is_a_method(patch):
    """`isinstance`, `inspect.ismethod` and `callable` answer as before."""
    engine = Engine()
    assert isinstance(engine.start, types.MethodType)
    assert inspect.ismethod(engine.start)
    assert isinstance(Engine.start, types.FunctionType)
    assert engine.start.__self__ is engine


def test_a_bound_method_can_be_pickled(patch):
    """A method kept in an object that is pickled goes with it, as before."""
    again = pickle.loads(pickle.dumps(Engine().start))
    assert again(3)[1:] == (3, False)


def test_a_bound_method_can_be_deep_copied(patch):
    """And so can an object that keeps one: the copy has a method of its own."""
    engine = Engine()
    engine.on_start = engine.start
    twin = copy.deepcopy(engine)
    assert twin.on_start.__self__ is twin


def test_what_another_library_has_wrapped_before_is_wrapped_and_put_back(way, seen):
    """A tracing library that came first with wrapt sees the calls as ever, and so do we."""
    theirs = []

    @wrapt.decorator
    def tracing(wrapped, instance, args, kwargs):
        theirs.append(args)
        return wrapped(*args, **kwargs)

    class Traced(Engine):
        start = tracing(vars(Engine)["start"])

    before = vars(Traced)["start"]
    patch = Patch(Traced, "start", way(seen.append))
    engine = Traced()
    assert engine.start(4, fast=True)[1:] == (4, True)
    assert (theirs, seen) == ([(4,)], [engine])
    patch.undo()
    assert vars(Traced)["start"] is before


def test_an_object_of_a_patched_class_can_be_pickled(patch):
    """Objects are pickled as before."""
    assert type(pickle.loads(pickle.dumps(Engine()))) is Engine


def test_bound_methods_of_one_object_are_equal(patch):
    """`obj.method == obj.method` holds, so that a callback list finds and removes it."""
    engine = Engine()
    callbacks = [engine.start]
    callbacks.remove(engine.start)
    assert callbacks == []


def test_an_exception_of_the_program_passes_untouched(patch, seen):
    """The exception is the same, with no other behind it, and its innermost frame is where it was raised."""
    with pytest.raises(ValueError, match="no fuel") as raised:
        Engine().start(-1)
    last = traceback.extract_tb(raised.value.__traceback__)[-1]
    assert (last.filename, last.name) == (__file__, "start")
    assert raised.value.__context__ is None
    assert seen == []


def our_mistake(instance):
    raise RuntimeError("our mistake")


def test_a_failing_note_never_reaches_the_program(way, failures, caplog):
    """Our own error is logged once for its place, counted each time, and the program gets its result."""
    patch = Patch(Engine, "start", way(our_mistake))
    results = [Engine().start(fuel)[1] for fuel in (1, 2, 3)]
    patch.undo()
    assert results == [1, 2, 3]
    assert failures == {"the place": 3}
    assert [record.levelno for record in caplog.records if "the place" in record.getMessage()] == [logging.WARNING]


class Broken(logging.Handler):
    """A handler of the application's that fails."""

    def emit(self, record):
        raise OSError("disk full")


def test_a_logging_handler_that_raises_never_reaches_the_program(way, failures, monkeypatch):
    """Not even a broken handler of the application turns our mistake into its failure."""
    monkeypatch.setattr(logging.getLogger("tfmemwatch"), "handlers", [Broken()])
    patch = Patch(Engine, "start", way(our_mistake))
    result = Engine().start(1)[1]
    patch.undo()
    assert result == 1
    assert failures == {"the place": 1}
