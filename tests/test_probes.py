"""Each probe sees its way of growing: on a TensorFlow of ten lines a module, in milliseconds.

The contract tests make the same claims on the real one.
"""

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tfmemwatch
from tfmemwatch.config import Config
from tfmemwatch.ledger.counts import Ledger
from tfmemwatch.memory.process import Process
from tfmemwatch.model import UNKNOWN
from tfmemwatch.monitor.watch import Watch
from tfmemwatch.probes import BY_NAME, PROBES
from tfmemwatch.probes.scene import RANK, Scene
from tfmemwatch.probes.traces import _weighed

TREE = str(Path(__file__).resolve().parent.parent)


def this_line():
    """The number of the line from which it is called."""
    return sys._getframe(1).f_lineno


class Watched:
    """A probe that is installed, and what it has counted."""

    def __init__(self, name, level):
        self.scene = Scene(Ledger(), Process(), level)
        self.probe = BY_NAME[name](self.scene)
        self.probe.install()

    def tallies(self, kind):
        """The accounts of a kind, in the order of their first events."""
        self.probe.read()
        rows = [tally for tally in self.scene.ledger.read().values() if tally.key.kind == kind]
        return sorted(rows, key=lambda tally: tally.order)

    def counted(self, kind):
        """Lines of this file, and how many of a kind were made and are alive there."""
        return [(tally.key.site.line, tally.born, tally.alive) for tally in self.tallies(kind)]


@pytest.fixture
def watched(fake_tf, failures):
    """Install one probe; at the end it must have failed nowhere, and left nothing."""
    all_watched = []

    def install(name, level="sites"):
        all_watched.append(Watched(name, level))
        return all_watched[-1]

    yield install
    for one in all_watched:
        one.probe.uninstall()
        one.scene.process.close()
    assert failures == {}


def nothing(*args):
    """A Python function to trace."""


# -- traces


def test_each_trace_is_counted_once_by_line(watched, fake_tf):
    """The first trace of a function, and each further one as a retrace, at the line that called it."""
    traces = watched("traces")
    step = fake_tf.polymorphic_function.Function(nothing)
    for number in (1, 1, 2, 3, 3):
        line = this_line() + 1
        step(number)
    assert traces.counted("trace") + traces.counted("retrace") == [(line, 1, 1), (line, 2, 2)]
    assert traces.counted("function") == [(line, 1, 1)]
    assert traces.counted("function_graph") == [(line, 3, 3)]
    assert traces.tallies("retrace")[0].note == "step"


def test_the_second_trace_of_a_function_that_makes_variables_is_no_retrace(watched, fake_tf):
    """Its first call traces it twice; the third time is the first retrace."""
    traces = watched("traces")
    step = fake_tf.polymorphic_function.Function(nothing)
    step._created_variables = [object()]
    for number in range(5):
        step(number)
    assert [row[1] for row in traces.counted("trace")] == [2]
    assert [row[1] for row in traces.counted("retrace")] == [3]


def test_functions_made_anew_at_one_line_are_told_apart_from_retraces(watched, fake_tf):
    """`tf.function(lambda …)` in a loop: many functions, each traced once, none retraced."""
    traces = watched("traces")
    kept = []
    for number in range(4):
        kept.append(fake_tf.polymorphic_function.Function(nothing))
        kept[-1](number)
    del kept[:2]
    assert [row[1:] for row in traces.counted("function")] == [(4, 2)]
    assert [row[1:] for row in traces.counted("function_graph")] == [(4, 2)]
    assert traces.counted("retrace") == []


def test_branches_are_not_traces(watched, fake_tf):
    """The bodies of cond and while belong to the trace around them, or to none."""
    traces = watched("traces")
    fake_tf.polymorphic_function.Function(lambda: fake_tf.cond_v2.cond(nothing))()
    fake_tf.cond_v2.cond(nothing)
    assert [row[1] for row in traces.counted("trace")] == [1]
    assert [row[1] for row in traces.counted("function_graph")] == [1]


def test_what_is_traced_inside_a_trace_belongs_to_it(watched, fake_tf):
    """A tf.function called by another is a part of that one's trace."""
    traces = watched("traces")
    inner = fake_tf.polymorphic_function.Function(nothing, "inner")
    fake_tf.polymorphic_function.Function(inner, "outer")()
    assert [(row.note, row.born) for row in traces.tallies("trace")] == [("outer", 1)]


def test_functions_of_datasets_are_no_functions_of_the_program(watched, fake_tf):
    """What `map` traces is counted as the dataset's."""
    traces = watched("traces")
    kept = fake_tf.structured_function.StructuredFunctionWrapper(nothing)
    assert [row[1:] for row in traces.counted("dataset_graph")] == [(1, 1)]
    assert traces.counted("function_graph") == []
    del kept
    assert [row[1:] for row in traces.counted("dataset_graph")] == [(1, 0)]


def test_a_trace_that_fails_is_not_counted_and_passes_its_exception(watched, fake_tf):
    """The program sees its own error; the next trace is counted as ever."""
    traces = watched("traces")

    def failing():
        raise ValueError("shapes do not match")

    with pytest.raises(ValueError, match="shapes do not match"):
        fake_tf.polymorphic_function.Function(failing)()
    fake_tf.polymorphic_function.Function(nothing)()
    assert [row[1] for row in traces.counted("trace")] == [1]


def test_traces_in_other_threads_are_counted_each_for_itself(watched, fake_tf):
    """A trace under way in one thread does not hide one in another."""
    traces = watched("traces")
    other = fake_tf.polymorphic_function.Function(nothing, "other")

    def body():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    fake_tf.polymorphic_function.Function(body)()
    assert sum(row[1] for row in traces.counted("trace")) == 2


# -- variables


def test_variables_are_counted_by_line_with_their_bytes(watched, fake_tf):
    """Made here, so many alive, so many bytes; a variable can be neither hashed nor compared."""
    variables = watched("variables")
    make = fake_tf.resource_variable_ops.BaseResourceVariable
    line = this_line() + 1
    kept = [make(shape=(10, 10)) for _ in range(3)]
    make()
    del kept[0]
    assert [row[1:] for row in variables.counted("variable")] == [(3, 2), (1, 0)]
    tally = variables.tallies("variable")[0]
    assert (tally.key.site.line, tally.key.site.file) == (line, __file__)
    assert tally.live_bytes == 800


def test_copies_of_a_distributed_variable_are_not_counted(watched, fake_tf):
    """`w/replica_1` is part of `w`; and what `assign` returns is no variable that anybody made."""
    variables = watched("variables")
    make = fake_tf.resource_variable_ops.BaseResourceVariable
    kept = [
        make("w"),
        make("w/replica_1"),
        make("w/replica_2"),
        fake_tf.resource_variable_ops._UnreadVariable(),
    ]
    assert [row[1:] for row in variables.counted("variable")] == [(1, 1)]
    assert len(kept) == 4


def test_variables_of_a_graph_are_counted_apart(watched, fake_tf):
    """In TensorFlow 1 a variable belongs to its graph."""
    variables = watched("variables")
    kept = fake_tf.resource_variable_ops.BaseResourceVariable(in_graph_mode=True)
    assert (len(variables.counted("graph_variable")), variables.counted("variable")) == (1, [])
    del kept


def test_variables_made_in_another_thread_are_counted(watched, fake_tf):
    """A creator scope would miss them."""
    variables = watched("variables")
    kept = []
    thread = threading.Thread(target=lambda: kept.append(fake_tf.resource_variable_ops.BaseResourceVariable()))
    thread.start()
    thread.join()
    assert [row[1:] for row in variables.counted("variable")] == [(1, 1)]


# -- sessions and graphs


def test_sessions_are_open_until_they_are_closed(watched, fake_tf):
    """A closed one that is still held is not open."""
    sessions = watched("sessions")
    line = this_line() + 1
    opened = [fake_tf.session.BaseSession() for _ in range(3)]
    opened[0].close()
    assert sessions.counted("session") == [(line, 3, 2)]
    assert sessions.counted("session_closed") == [(line, 1, 1)]
    assert sessions.counted("session_dropped") == []


def test_sessions_that_are_dropped_are_counted_and_not_accused(watched, fake_tf):
    """A session collected without a close is closed by its finalizer."""
    sessions = watched("sessions")
    line = this_line() + 1
    fake_tf.session.BaseSession()
    assert sessions.counted("session") == [(line, 1, 0)]
    assert sessions.counted("session_dropped") == [(line, 1, 1)]
    assert sessions.counted("session_closed") == []


def test_sessions_that_are_dropped_in_a_cycle_are_counted(watched, fake_tf):
    """`self.session.owner = self` makes no difference."""
    sessions = watched("sessions")
    session = fake_tf.session.BaseSession()
    session.owner = session
    del session
    gc.collect()
    assert [row[1:] for row in sessions.counted("session")] == [(1, 0)]
    assert [row[1] for row in sessions.counted("session_dropped")] == [1]


def test_a_session_opened_before_the_watch_runs_and_closes_as_ever(watched, fake_tf):
    """What was there before is not counted, and not disturbed."""
    session = fake_tf.session.BaseSession()
    sessions = watched("sessions")
    assert session.run("loss") == "loss"
    session.close()
    assert session._closed
    assert sessions.counted("session_closed") == []


def test_ever_new_lists_of_fetches_are_counted(watched, fake_tf):
    """Each distinct list leaves executors in the session; the same list again does not."""
    sessions = watched("sessions")
    session = fake_tf.session.BaseSession()
    one, two = object(), object()
    for fetches in ([one], [one, two], [two], [one], [one, two], one, two, "loss", "loss"):
        assert session.run(fetches) is fetches
    assert sum(row[2] for row in sessions.counted("fetch")) == 4 + 2
    session.close()
    assert sum(row[2] for row in sessions.counted("fetch")) == 0


def test_new_lists_of_fetches_are_counted_after_a_long_time_of_known_ones(watched, fake_tf):
    """Runs that ask for what is known are looked at rarely; a session that is opened, or a new list, ends that."""
    sessions = watched("sessions")
    session = fake_tf.session.BaseSession()
    one = object()
    for _ in range(500):
        session.run(one)
    fetched = [[object()] for _ in range(100)]
    for fetches in fetched:
        session.run(fetches)
    assert sum(row[2] for row in sessions.counted("fetch")) >= 1 + 100 - 32
    for _ in range(500):
        session.run(one)
    other = fake_tf.session.BaseSession()
    other.run(one)
    assert sum(row[2] for row in sessions.counted("fetch")) >= 2 + 100 - 32


def test_a_list_and_a_single_fetch_of_the_same_are_two(watched, fake_tf):
    """`run(a)` and `run("a:0")` and `run([a, b])` have executors of their own, `run(fetches=a)` has none."""
    sessions = watched("sessions")
    session = fake_tf.session.BaseSession()
    one, two = object(), object()
    session.run(one)
    session.run(fetches=one)
    session.run([one, two], feed_dict={})
    assert sum(row[2] for row in sessions.counted("fetch")) == 2


def test_graphs_are_counted_and_those_of_traces_are_not(watched, fake_tf):
    """A FuncGraph belongs to its trace."""
    graphs = watched("graphs")
    kept = [fake_tf.ops.Graph(), fake_tf.ops.Graph(), fake_tf.func_graph.FuncGraph("step")]
    assert sum(row[2] for row in graphs.counted("graph")) == 2
    del kept[:2]
    assert sum(row[2] for row in graphs.counted("graph")) == 0


def test_operations_added_after_the_first_run_are_counted_by_their_line(watched, fake_tf):
    """What was built before the first run is the program; what comes after it is the leak, at its line."""
    graphs = watched("graphs")
    session = fake_tf.session.BaseSession()
    session._graph.add("/project/train.py", 5, "build")
    session.run("loss")
    assert graphs.counted("graph_op") == []
    for _ in range(3):
        session._graph.add("/project/train.py", 41, "step")
    (tally,) = graphs.tallies("graph_op")
    assert (tally.key.site.short, tally.alive) == ("train.py:41 step()", 3)


def test_operations_go_with_their_graph(watched, fake_tf):
    """A graph that is dropped takes its operations along."""
    graphs = watched("graphs")
    session = fake_tf.session.BaseSession()
    session.run("loss")
    before = graphs.probe.operations()
    session._graph.add("/project/train.py", 41, "step")
    assert graphs.counted("graph_op") == [(41, 1, 1)]
    assert graphs.probe.operations() == before + 1
    del session
    gc.collect()
    assert graphs.counted("graph_op") == [(41, 1, 0)]
    assert graphs.probe.operations() == 0


def test_ten_thousand_new_operations_are_counted_without_asking_each(watched, fake_tf):
    """A share of them is asked for its line; the sum is right."""
    graphs = watched("graphs")
    session = fake_tf.session.BaseSession()
    session.run("loss")
    for number in range(10000):
        session._graph.add("/project/train.py", 41 + number % 2, "step")
    assert sum(row[2] for row in graphs.counted("graph_op")) == pytest.approx(10000, abs=10)


# -- what fills TensorFlow's own caches


def test_custom_gradients_are_counted_and_others_are_not(watched, fake_tf):
    """Each trace of a custom gradient registers one for ever."""
    gradients = watched("gradients")
    registry = fake_tf.ops.gradient_registry
    line = this_line() + 1
    registry.register(nothing, "CustomGradient-1")
    registry.register(nothing, name="CustomGradient-2")
    registry.register(nothing, "MatMul")
    assert gradients.counted("custom_gradient") == [(line, 1, 1), (line + 1, 1, 1)]


@pytest.mark.parametrize("kind, module, name", [
    ("queue", "data_flow_ops", "QueueBase"),
    ("table", "lookup_ops", "LookupInterface"),
])  # fmt: skip
def test_queues_and_tables_are_counted_when_made_eagerly(watched, fake_tf, kind, module, name):
    """In eager mode each leaves something behind though it is dropped; in a graph it is the graph's."""
    caches = watched("caches")
    make = getattr(getattr(fake_tf, module), name)
    line = this_line() + 1
    make()
    fake_tf.context.eagerly = False
    make()
    assert caches.counted(kind) == [(line, 1, 1)]


def test_ever_new_seeds_are_counted(watched, fake_tf):
    """A seed that was there before costs nothing, nor does no seed at all."""
    caches = watched("caches")
    for seed in (1, 2, 2, 3, None):
        fake_tf.random_seed.get_seed(seed)
    assert [row[1] for row in caches.counted("seed")] == [3]


# -- what is held


def test_tapes_are_counted_and_the_open_ones_known(watched, fake_tf):
    """A tape lives until it is dropped, and records until it is left."""
    tapes = watched("tapes")
    left = fake_tf.backprop.GradientTape()
    with left:
        pass
    recording = fake_tf.backprop.GradientTape(persistent=True)
    line = this_line() + 1
    recording.__enter__()
    assert sum(row[2] for row in tapes.counted("tape")) == 2
    assert [site.line for site in tapes.probe.recording(0)] == [line]
    del left
    assert sum(row[2] for row in tapes.counted("tape")) == 1


def test_a_tape_that_died_while_it_recorded_is_not_open(watched, fake_tf):
    """What is gone records nothing."""
    tapes = watched("tapes")
    fake_tf.backprop.GradientTape().__enter__()
    assert tapes.probe.recording(0) == []


def test_a_tape_of_the_step_that_runs_has_not_recorded_for_long(watched, fake_tf):
    """By the clock one reads in the middle of a step: only what was opened before is a tape that never ends."""
    tapes = watched("tapes")
    tape = fake_tf.backprop.GradientTape()
    tape.__enter__()
    watch = Watch(Config())
    watch.probes.append(tapes.probe)
    assert len(watch._readings.tapes(0.0)) == 1
    assert watch._readings.tapes(60.0) == []


def test_iterators_are_counted(watched, fake_tf):
    """Made here, so many alive."""
    datasets = watched("datasets")
    kept = [fake_tf.iterator_ops.OwnedIterator() for _ in range(3)]
    del kept[0]
    assert [row[1:] for row in datasets.counted("iterator")] == [(3, 2)]


def test_caches_in_memory_are_counted_and_those_in_files_are_not(watched, fake_tf):
    """`cache("file")` takes no memory."""
    datasets = watched("datasets")
    dataset = fake_tf.dataset_ops.DatasetV2()
    kept = [dataset.cache(), dataset.cache("file"), dataset.cache(filename="file")]
    assert sum(row[2] for row in datasets.counted("cache_dataset")) == 1
    assert len(kept) == 3


def test_python_functions_are_counted_while_they_live(watched, fake_tf):
    """A function registered with TensorFlow and kept."""
    pyfuncs = watched("pyfuncs")
    fake_tf.script_ops._py_funcs.insert(nothing)
    fake_tf.script_ops._py_funcs.insert(func=lambda: 1)
    assert sum(row[2] for row in pyfuncs.counted("pyfunc")) == 2


def test_writers_are_counted_until_they_are_closed(watched, fake_tf):
    """A writer that was dropped without a close still has its thread and its file."""
    writers = watched("writers")
    closed = fake_tf.event_file_writer.EventFileWriter()
    kept = fake_tf.event_file_writer.EventFileWriter()
    closed.close()
    assert sum(row[2] for row in writers.counted("writer")) == 1
    assert not kept._closed


# -- models


@pytest.fixture
def keras(fake_tf):
    """The fake Keras."""
    import keras

    return keras


def calls(models):
    return {(row.method, row.calls) for row in models.probe.calls()}


def test_models_are_counted_where_they_are_made_and_compiled(keras, watched):
    """A model, and a compilation, each at its line."""
    models = watched("models")
    line = this_line() + 1
    model = keras.Model()
    model.compile()
    assert models.counted("model") == [(line, 1, 1)]
    assert [row[:2] for row in models.counted("compile")] == [(line + 1, 1)]


def test_of_nested_models_the_outermost_call_counts(keras, watched):
    """A model inside a model is not counted again, nor are the calls that predict() makes."""
    models = watched("models")
    inner = keras.Model()
    outer = keras.Model(inner)
    assert [outer(3), outer(4), inner(5)] == [3, 4, 5]
    assert outer.predict([1, 2, 3]) == [1, 2, 3]
    assert calls(models) == {("__call__", 2), ("__call__", 1), ("predict", 1)}


def test_a_model_that_has_gone_leaves_nothing(keras, watched):
    """The accounts of a model go with it."""
    models = watched("models")
    keras.Model()(1)
    gc.collect()
    assert models.probe.calls() == []


def test_a_call_that_fails_passes_its_exception_and_is_over(keras, watched):
    """The next call counts as an outermost one again."""
    models = watched("models")
    model = keras.Model(inner=lambda value: 1 / value)
    with pytest.raises(ZeroDivisionError):
        model(0)
    model(1)
    assert calls(models) == {("__call__", 2)}


@pytest.mark.parametrize("name", ["model", "session", "original", "patch", "instance", "wrapped"])
def test_the_arguments_of_a_call_reach_it_whatever_their_names(fake_tf, watched, name):
    """A SavedModel signature may have an input named `model`."""
    watched("models")
    function = fake_tf.concrete_function.ConcreteFunction()
    assert function(1, **{name: 2}) == (1,)


# -- levels, and being off


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_at_level_off_nothing_is_counted(watched, fake_tf, name):
    """`set_level("off")` leaves the hooks in place, and they do nothing."""
    one = watched(name, level="off")
    use_everything(fake_tf)
    one.probe.read()
    assert one.scene.ledger.read() == {}


def test_at_level_counts_no_line_is_asked_for(watched, fake_tf):
    """One account for each kind, at an unknown line."""
    variables = watched("variables", level="counts")
    kept = [fake_tf.resource_variable_ops.BaseResourceVariable()]
    assert [tally.key.site for tally in variables.tallies("variable")] == [UNKNOWN]
    assert len(kept) == 1


def test_at_level_stacks_the_callers_are_kept(watched, fake_tf):
    """Who called the line that made it."""
    variables = watched("variables", level="stacks")
    line = this_line() + 1
    kept = [fake_tf.resource_variable_ops.BaseResourceVariable()]
    assert line in [site.line for site in variables.tallies("variable")[0].stack]
    assert len(kept) == 1


def test_the_level_can_be_switched_while_it_runs(watched, fake_tf):
    """What was made meanwhile is not known, what is made after is."""
    variables = watched("variables", level="off")
    kept = [fake_tf.resource_variable_ops.BaseResourceVariable()]
    variables.scene.rank = RANK["sites"]
    kept.append(fake_tf.resource_variable_ops.BaseResourceVariable())
    assert [row[1:] for row in variables.counted("variable")] == [(1, 1)]


def use_everything(fake_tf):
    """Touch every seam of the fake."""
    fake_tf.polymorphic_function.Function(nothing)(1)
    fake_tf.cond_v2.cond(nothing)
    session = fake_tf.session.BaseSession()
    session.run(["loss"])
    session._graph.add("/project/train.py", 41, "step")
    session.close()
    fake_tf.resource_variable_ops.BaseResourceVariable()
    fake_tf.ops.gradient_registry.register(nothing, "CustomGradient-1")
    fake_tf.data_flow_ops.QueueBase()
    fake_tf.lookup_ops.LookupInterface()
    fake_tf.random_seed.get_seed(3)
    fake_tf.iterator_ops.OwnedIterator()
    fake_tf.dataset_ops.DatasetV2().cache()
    fake_tf.script_ops._py_funcs.insert(nothing)
    fake_tf.event_file_writer.EventFileWriter().close()
    fake_tf.concrete_function.ConcreteFunction()(1)
    with fake_tf.backprop.GradientTape():
        pass


# -- the watch as a whole


def attributes(fake_tf):
    """Every attribute of every module and class of the fake."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("tensorflow", "keras"):
            found.update({(name, key): id(value) for key, value in vars(module).items() if key[:2] != "__"})
            for kind in vars(module).values():
                if isinstance(kind, type):
                    found.update({(name, kind.__name__, key): id(value) for key, value in vars(kind).items()})
    return found


@pytest.fixture
def watch(failures):
    """A watch that looks only when it is told to."""
    watch = Watch(Config(sample_seconds=3600, log=False))
    yield watch
    watch.stop()
    assert failures == {}


def test_uninstall_restores_every_attribute(keras, fake_tf, watch):
    """What stands in TensorFlow's and Keras's modules and classes is the very same as before."""
    before = attributes(fake_tf)
    watch.start(sampling=False)
    assert len(watch.probes) == len(PROBES)
    assert attributes(fake_tf) != before
    use_everything(fake_tf)
    watch.look()
    watch.stop()
    assert attributes(fake_tf) == before


def test_install_and_uninstall_again_and_again_restores_everything(keras, fake_tf):
    """A second watch finds the same program as the first."""
    before = attributes(fake_tf)
    for _ in range(5):
        tfmemwatch.install(sample_seconds=3600)
        use_everything(fake_tf)
        tfmemwatch.uninstall()
    assert attributes(fake_tf) == before


def test_everything_is_counted_without_a_failure(keras, fake_tf, watch):
    """All probes together, each with something to see."""
    watch.start(sampling=False)
    use_everything(fake_tf)
    kinds = {key.kind for key in watch.snapshot().tallies}
    assert kinds >= {
        "trace", "function", "session", "session_closed", "graph", "variable", "custom_gradient", "queue",
        "table", "seed", "iterator", "cache_dataset", "pyfunc", "writer", "tape",
    }  # fmt: skip


def test_a_probe_that_has_no_place_stays_off_and_says_why(fake_tf, watch):
    """A TensorFlow that lacks something costs that one probe; the reason names where it was looked for."""
    del fake_tf.backprop.GradientTape._pop_tape
    push = vars(fake_tf.backprop.GradientTape)["_push_tape"]
    watch.start(sampling=False)
    assert sorted(watch.off) == ["tapes"]
    assert "tensorflow.python.eager.backprop:GradientTape._pop_tape" in watch.off["tapes"]
    assert [probe.name for probe in watch.probes if probe.name == "tapes"] == []
    assert vars(fake_tf.backprop.GradientTape)["_push_tape"] is push


def test_a_tensorflow_that_has_nothing_we_know_leaves_all_probes_off(fake_tf, watch):
    """Too old or broken: the program goes on, and each probe says what it missed."""
    for name in [name for name in sys.modules if name.startswith("tensorflow.")]:
        del sys.modules[name]
    watch.start(sampling=False)
    assert sorted(watch.off) == sorted(BY_NAME)
    assert all("at any of" in why or "no summary writers" in why for why in watch.off.values())
    watch.look()


def test_a_probe_that_is_left_out_is_not_installed(fake_tf):
    """`probes=` and `without=`: only these, and all but these."""
    only = tfmemwatch.install(sample_seconds=3600, probes=["tapes", "traces"], without=["tapes"])
    assert [probe.name for probe in only.probes] == ["traces"]
    assert set(only.off) == set(BY_NAME) - {"traces"}


def test_keras_that_is_imported_later_is_watched(fake_tf, watch):
    """TensorFlow first, then install, then Keras."""
    watch.start(sampling=False)
    import keras

    watch.state.probes.imported()
    model = keras.Model()
    assert watch.snapshot().alive("model") == 1
    del model
    watch.stop()
    assert "__call__" not in vars(keras.Model)


WAITING = """
import sys
import tfmemwatch
watch = tfmemwatch.install(sample_seconds=3600)
assert "tensorflow" not in sys.modules
assert watch.probes == [] and watch.off == {}, (watch.probes, watch.off)
import tensorflow
kept = tensorflow.resource_variable_ops.BaseResourceVariable()
assert watch.snapshot().alive("variable") == 1, watch.off
import keras
model = keras.Model()
assert watch.snapshot().alive("model") == 1
run = tensorflow.session.BaseSession.run
tfmemwatch.uninstall()
assert tensorflow.session.BaseSession.run is not run
assert "__call__" not in vars(keras.Model)
print("done")
"""
CANCELLED = """
import tfmemwatch
tfmemwatch.install(sample_seconds=3600)
tfmemwatch.uninstall()
import tensorflow
assert type(vars(tensorflow.session.BaseSession)["run"]).__name__ == "function"
assert vars(tensorflow.session.BaseSession)["run"].__module__ == "tensorflow.python.client.session"
assert not hasattr(vars(tensorflow.session.BaseSession)["run"], "__wrapped__")
print("done")
"""
BY_IMPORT = """
import tfmemwatch.auto
import tensorflow
assert tfmemwatch.current().config.level == "counts"
kept = tensorflow.resource_variable_ops.BaseResourceVariable()
assert tfmemwatch.snapshot().alive("variable") == 1
print("done")
"""


def answer_of(program, fake_packages, **environ):
    """What a fresh Python with the fake TensorFlow prints, errors too."""
    path = os.pathsep.join([str(fake_packages), TREE])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=dict(os.environ, PYTHONPATH=path, **environ), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.stdout.decode()


def test_installed_before_tensorflow_it_waits_and_then_works(fake_packages):
    """`install()` may come first; it imports nothing itself, and says nothing on the screen."""
    assert answer_of(WAITING, fake_packages) == "done\n"


def test_uninstalled_before_tensorflow_is_imported_it_wraps_nothing(fake_packages):
    """A deferred hook is cancelled."""
    assert answer_of(CANCELLED, fake_packages) == "done\n"


def test_importing_auto_installs_with_the_settings_of_the_environment(fake_packages):
    """`import tfmemwatch.auto`, before TensorFlow, with TFMEMWATCH_LEVEL."""
    assert answer_of(BY_IMPORT, fake_packages, TFMEMWATCH_LEVEL="counts") == "done\n"


def test_waiting_hooks_do_not_pile_up(failures):
    """Installing and uninstalling a thousand times leaves no thousand hooks in wrapt's registry."""
    from wrapt import importer

    registry = importer._post_import_hooks
    name = next(name for name in ("tf_keras", "keras", "tensorflow") if name not in sys.modules)
    before = len(registry.get(name) or ())
    for _ in range(10):
        tfmemwatch.install(sample_seconds=3600)
        tfmemwatch.uninstall()
    assert len(registry.get(name) or ()) - before <= 1


def test_a_second_install_changes_nothing_and_says_where_the_first_was(fake_tf, caplog):
    """The running watch comes back; settings that differ are named as ignored."""
    line = this_line() + 1
    first = tfmemwatch.install(sample_seconds=3600)
    assert tfmemwatch.install(sample_seconds=3600) is first
    assert caplog.records == []
    assert tfmemwatch.install(sample_seconds=3600, level="counts") is first
    (record,) = caplog.records
    assert "test_probes.py:%d" % line in record.getMessage()
    assert "level='counts'" in record.getMessage()
    assert first.level == "sites"


def test_the_memory_of_many_traces_is_that_of_some_of_them():
    """The first of a function are read each; then those that are read stand for all, whatever the rhythm."""
    assert [_weighed(number) for number in range(8)] == [1] * 8
    assert sum(map(_weighed, range(8, 8008))) == pytest.approx(8000, rel=0.1)
    for every in (2, 3, 4, 8):
        assert sum(map(_weighed, range(8, 32008, every))) == pytest.approx(32000 / every, rel=0.15)
