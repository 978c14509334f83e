"""A container that grows is found, and named as the program names it."""

import functools
import gc
import logging.handlers
import sys
import threading
import types
from collections import defaultdict, deque

import pytest

from tfmemwatch.evidence import census, large_values
from tfmemwatch.heap.instances import number_of
from tfmemwatch.heap.room import Size
from tfmemwatch.holders.names import holder_of
from tfmemwatch.holders.search import way_to
from tfmemwatch.memory import object_weights


class Holder:
    """An object of the user's."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


def grown_by(grow, least=5):
    """The containers that have grown most while `grow` ran ten times."""
    gc.collect()
    before = census.take()
    for number in range(10):
        grow(number)
    return census.grown(before, census.take(), least)


def is_among(thing, found):
    return id(thing) in [one.way.steps[-1] for one in found]


@pytest.mark.parametrize(
    "make, put",
    [
        (lambda: [0] * 8, lambda rows, number: rows.append(number)),
        (lambda: {key: [] for key in "abcdefgh"}, lambda rows, number: rows.update({number: [number]})),
        (lambda: set("abcdefgh"), lambda rows, number: rows.add(number)),
        (lambda: deque("abcdefgh"), lambda rows, number: rows.append([number])),
    ],
    ids=["list", "dict", "set", "deque"],
)
def test_a_container_that_grows_is_found(make, put):
    """Lists, dicts, sets and deques, among all that there are in the process."""
    owner = Holder(rows=make(), still=[[] for _ in range(50)])
    found = grown_by(lambda number: put(owner.rows, number))
    assert is_among(owner.rows, found)
    assert not is_among(owner.still, found)


def test_a_dict_of_plain_numbers_that_grows_is_found():
    """`losses[step] = float(loss)` for ever is a leak too."""
    owner = Holder(losses=dict.fromkeys(range(100, 110), 0.5))
    found = grown_by(lambda number: owner.losses.update({number: 0.25}))
    assert is_among(owner.losses, found)


def test_eager_tensors_are_counted(monkeypatch):
    """Of the class that TensorFlow has for them: nothing of it is imported here."""
    monkeypatch.setattr(Size, "too_large", lambda size: "")  # of this process, which runs all tests
    kind = type("EagerTensor", (), {})
    monkeypatch.setitem(sys.modules, "a_module_that_brings_it", types.ModuleType("a_module_that_brings_it"))
    before = census.take(kind).tensors
    kept = [kind() for _ in range(7)]
    assert census.take(kind).tensors - before == 7
    assert census.weight_of_item(kept).tensors == 1
    assert census.weight_of_item([1, 2, 3]).tensors == 0


class EagerTensor:
    """Stands for TensorFlow's, as far as the census looks."""

    def __init__(self, size=1000):
        self._size = size
        self.dtype = types.SimpleNamespace(size=4)

    def _num_elements(self):
        return self._size

    def _datatype_enum(self):
        return 1


def closure_over(tensor):
    return lambda: tensor


def error_with(tensor):
    try:
        raise ValueError
    except ValueError as error:
        return error


SHARED = EagerTensor(10**9)


@pytest.mark.parametrize(
    "item",
    [
        lambda tensor: (1, tensor),
        lambda tensor: {"loss": tensor, "shared": SHARED},
        lambda tensor: Holder(step=Holder(loss=tensor), shared=SHARED),
        closure_over,
        error_with,
        lambda tensor: functools.partial(print, tensor),
        lambda tensor: Holder(x=tensor).__repr__,
    ],
    ids=["tuple", "dict", "objects", "closure", "exception", "partial", "method"],
)
def test_what_an_item_holds_is_weighed(item):
    """However deep it lies; and what all items share is nobody's."""
    weight = census.weight_of_item([item(EagerTensor()) for _ in range(5)])
    assert weight.tensors == 1
    assert 4000 <= weight.bytes < 8000


def test_the_same_thing_again_and_again_weighs_nothing():
    """`history.append(model)` holds one model."""
    assert census.weight_of_item([SHARED] * 9).bytes < 1000


def named(holder):
    """The likeliest name and the path of a holder."""
    return holder and (holder.names[0], holder.path)


def test_a_global_of_a_module_is_named():
    """`program.RESULTS`."""
    module = types.ModuleType("program")
    exec("RESULTS = [[], [], []]", module.__dict__)
    assert named(holder_of(module.RESULTS)) == ("RESULTS", "program.RESULTS")


def test_an_attribute_is_named_with_the_class():
    """`Holder.rows`, and the module where the class is."""
    owner = Holder(rows=[[]])
    holder = holder_of(owner.rows)
    assert named(holder) == ("rows", "Holder.rows")
    assert holder.module == __name__


def test_an_entry_of_a_dict_is_named_by_its_key():
    """`state["x"]`."""
    module = types.ModuleType("program")
    exec("state = {'x': [[]], 'y': []}", module.__dict__)
    assert named(holder_of(module.state["x"])) == ("x", "program.state['x']")


def test_an_entry_of_a_defaultdict_is_named_too():
    """`listeners[topic].append(…)`: the list, by the name of what it is in."""
    owner = Holder(listeners=defaultdict(list, weights=[[], [], []]))
    holder = holder_of(owner.listeners["weights"])
    assert named(holder) == ("weights", "Holder.listeners['weights']")
    assert "listeners" in holder.names


def test_what_a_library_keeps_inside_is_named_and_known_to_be_inside():
    """A MemoryHandler's buffer has the handler's name; whether it is bounded, the library knows."""
    owner = Holder(handler=logging.handlers.MemoryHandler(100))
    owner.handler.buffer.extend(([], [], []))
    holder = holder_of(owner.handler.buffer)
    assert named(holder) == ("handler", "Holder.handler (MemoryHandler.buffer)")
    assert holder.inner[:2] == ("buffer", "logging.handlers")


def test_a_key_that_is_no_name_is_not_told():
    """A token, an address, a name of a user: the dict that has it is named, and no more."""
    module = types.ModuleType("program")
    exec("sessions = {'jane@example.org': [[]], 'b': []}", module.__dict__)
    assert holder_of(module.sessions["jane@example.org"]).path == "program.sessions[…]"


def test_a_slot_is_named_like_any_attribute():
    """An object without a `__dict__` has names for what it holds as well."""

    class Rows:
        __slots__ = ("rows",)

    owner = Rows()
    owner.rows = [[]]
    assert named(holder_of(owner.rows)) == ("rows", "Rows.rows")


def test_a_variable_of_what_waits_is_named():
    """Of a generator, or of a coroutine in a task: no frame of theirs runs."""

    def averaged():
        history = [[]]
        yield history

    async def serve():
        results = [[]]
        box.append(results)
        await Waits()

    box, generator, coroutine = [], averaged(), serve()
    found = holder_of(next(generator))
    assert named(found) == ("history", "history of averaged()")
    coroutine.send(None)
    found = holder_of(box.pop())
    assert named(found) == ("results", "results of serve()")
    coroutine.close()


class Waits:
    """Something that a coroutine waits for."""

    def __await__(self):
        yield


def test_a_field_of_a_named_tuple_is_named():
    """`state.outputs.append(…)`."""
    module = types.ModuleType("program")
    exec("import collections; state = collections.namedtuple('State', 'step outputs')(0, [[]])", module.__dict__)
    assert named(holder_of(module.state.outputs)) == ("outputs", "State.outputs")


def test_a_closure_is_named():
    """The variable of the function around it."""

    def outer():
        kept = [[]]

        def inner(value):
            kept.append(value)

        return inner

    inner = outer()
    assert named(holder_of(inner.__closure__[0].cell_contents)) == ("kept", "kept")


def test_a_local_is_named():
    """A list that a long-running function fills, seen from the thread that watches."""
    result = []
    looked = threading.Event()
    made = threading.Event()
    box = []

    def work():
        losses = [[1], [2]]
        box.append(losses)
        made.set()
        looked.wait(20)
        return losses

    thread = threading.Thread(target=work)
    thread.start()
    made.wait(20)
    result.append(holder_of(box.pop()))
    looked.set()
    thread.join()
    assert named(result[0]) == ("losses", "losses")


def test_a_function_cache_is_named_with_the_line_of_the_function():
    """`@lru_cache(maxsize=None)` is no name in the source: the function is told."""

    @functools.lru_cache(maxsize=None)
    def embed(number):
        return [number]

    for number in range(20):
        embed(number)
    caches = [one for one in gc.get_referents(embed) if type(one) is dict and len(one) == 20]
    if not caches:
        pytest.skip("this Python's lru_cache shows no dict")
    holder = holder_of(caches.pop())
    assert (holder.names[0], holder.path, holder.bound) == ("embed", "the lru_cache of embed()", None)
    assert holder.line[2] == "embed"


def test_a_bound_of_a_deque_is_told():
    """A deque with maxlen fills up and is no leak."""
    owner = Holder(rows=deque([[]], maxlen=100))
    assert holder_of(owner.rows).bound == 100


def test_a_list_that_nothing_names_has_no_holder():
    """None rather than a guess."""
    holder = holder_of(next(iter([[[1], [2]]])))
    assert holder is None


def test_a_way_that_leads_back_to_the_collection_is_no_name():
    """As in `logging`, where each logger in the dict knows the manager whose dict it is: the manager has a name."""

    class Manager:
        """A library's."""

    class Logger:
        """Another, which leads to the manager."""

    Manager.__module__ = Logger.__module__ = "logging"

    def filled():
        manager = Manager()
        manager.rows = {}
        for number in range(40):
            manager.rows["request.%d" % number] = logger = Logger()
            logger.manager = manager
        return manager

    manager = filled()
    holder = holder_of(manager.rows, 20.0)  # among all that other tests have left
    assert (holder.path, holder.names) == ("manager (Manager.rows)", ("manager",))


def test_what_the_watch_itself_holds_is_not_told():
    """Its own collections are no finding."""
    from tfmemwatch.ledger.counts import Ledger
    from tfmemwatch.model import Site

    ledger, things = Ledger(), [Holder() for _ in range(90)]
    owner = Holder(ledger=ledger)

    def grow(number):
        for thing in things[9 * number :][:9]:
            owner.ledger.born("variable", Site("a.py", 1, "f"), thing)
        ledger.read()

    assert grown_by(grow) == []


def test_the_size_of_an_item_is_that_of_its_data(needs):
    """An array or a tensor weighs what its data weighs, not what its Python object does."""
    numpy = needs("numpy")
    assert census.weight_of_item([numpy.ones(5000) for _ in range(3)]).bytes == pytest.approx(40000, rel=0.1)
    assert census.weight_of_item([]).bytes == 0


class Touchy:
    """Whoever asks it for anything runs the program's code."""

    asked = ()

    def __getattribute__(self, name):
        Touchy.asked += (name,)
        raise RuntimeError(name)

    @property
    def nbytes(self):
        raise RuntimeError("nbytes")


def test_no_code_of_an_item_is_run():
    """Not when it is weighed, nor when its name is looked for."""
    rows = [Touchy() for _ in range(5)]
    assert census.weight_of_item(rows).bytes < 1000
    assert named(holder_of(rows)) == ("rows", "rows")
    assert Touchy.asked == ()


def test_a_tuple_under_construction_is_never_held():
    """Threads that build tuples while everything is looked at get no SystemError: the looks hold no unfinished one."""
    broken = []
    done = threading.Event()

    def build():
        try:
            while not done.is_set():
                tuple(number for number in range(300))
        except SystemError as error:
            broken.append(error)

    threads = [threading.Thread(target=build) for _ in range(3)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for _ in range(4):
            census.take()
            number_of(list)
            object_weights.read()
            large_values.large()
    finally:
        done.set()
        sys.setswitchinterval(interval)
        for thread in threads:
            thread.join()
    assert broken == []


class Guarded:
    """As TensorFlow wraps what must not be forgotten: whoever asks it for anything has used it."""

    asked = False

    def __init__(self, inner):
        object.__setattr__(self, "hidden", inner)

    def __getattribute__(self, name):
        type(self).asked = True
        return getattr(object.__getattribute__(self, "hidden"), name)


Guarded.__module__ = "tensorflow.python.util.tf_should_use"


def test_the_name_is_found_through_wrappers_of_tensorflows_which_do_not_notice():
    """`state["array"] = array.write(…)`: what it returns hides the array behind a wrapper that notices."""
    Guarded.asked = False
    inner = Holder(rows=[[1], [2], [3]])
    type(inner).__module__, old = "tensorflow.python.ops.tensor_array_ops", type(inner).__module__
    try:
        module = types.ModuleType("program")
        module.__dict__.update(__builtins__={}, state={"array": Guarded(inner)})
        del inner
        holder = holder_of(object.__getattribute__(module.state["array"], "hidden").rows)
    finally:
        Holder.__module__ = old
    assert (holder.names[0], holder.is_within) == ("array", True)
    assert not Guarded.asked


def test_what_stands_in_a_collection_more_than_once_has_a_weight():
    """A heap has the newest anywhere, and the same item again: some of those that came since are weighed."""
    rows = [bytes(4000 + number) for number in range(100)]
    queue = [(number, rows[number // 8]) for number in range(800)]
    assert census.weight_of_item(queue).bytes < 500
    assert census.weight_of_item(queue, 400).bytes >= 4000


@functools.lru_cache(maxsize=100)
def kilobytes(number):
    return bytearray(number + 5000)


@functools.lru_cache(maxsize=None)
def kilobytes_for_ever(number):
    return bytearray(number + 5000)


@pytest.mark.parametrize("cached", [kilobytes, kilobytes_for_ever], ids=["bounded", "unbounded"])
def test_what_a_function_cache_holds_has_a_weight(cached):
    """With a bound its dict does not lead to what it holds: the cache does."""
    for number in range(20):
        cached(number)
    cache = next(part for part in gc.get_referents(cached) if type(part) is dict and len(part) == 20)
    weight = census.weight_at(way_to([id(cache)], 20.0))
    assert 5000 <= weight.bytes <= 5500
    cached.cache_clear()
