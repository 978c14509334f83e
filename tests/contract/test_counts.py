"""On the real TensorFlow, the probes count what happened, at the line where it happened."""

import functools
import gc
import threading

import numpy as np
import pytest

import tfmemwatch
from tfmemwatch.probes import model_calls
from tfmemwatch.seams import places


def traced(counts, mark=""):
    """Traces of both kinds, the first and those again."""
    return counts.made("trace", mark) + counts.made("retrace", mark)


# -- traces


def test_every_trace_counts_at_the_line_of_the_call(tf, counts):
    """A tf.function that is traced for each Python number is named with the line that calls it."""

    @tf.function
    def step(number):
        return number + 1

    for number in range(5):
        step(number)  # traced for each number
    assert traced(counts, "traced for each number") == traced(counts) == 5
    assert counts.notes("trace", "traced for each number") == ["step"]


def test_traces_in_turn_from_two_lines_count_at_their_own(tf, counts):
    """The way up the stack that was right for the last trace is not taken for that of the next."""

    def deeper(function, number):
        return function(number)  # from inside

    step = tf.function(lambda number: tf.constant(number))
    other = tf.function(lambda number: tf.constant(-number))
    for number in range(40):
        step(number)  # from outside
        deeper(other, number)
        other.get_concrete_function(-1 - number)  # as concrete
    assert traced(counts, "from outside") == 40
    assert traced(counts, "from inside") == 40
    assert traced(counts, "as concrete") == 40


def test_a_call_that_finds_its_trace_is_none(tf, counts):
    """A hundred calls with the same signature are one trace, and no retrace."""
    step = tf.function(lambda x: x + 1)
    for _ in range(100):
        step(tf.ones(3))
    assert (traced(counts), counts.made("retrace")) == (1, 0)


def test_new_traces_of_a_known_function_are_retraces(tf, counts):
    """Once a function is known, each new trace is a retrace."""
    step = tf.function(lambda number: tf.constant(number))
    for number in range(10):
        step(number)  # again and again
    assert counts.made("retrace", "again and again") >= 8


def test_first_traces_are_no_retraces(tf, counts):
    """Ten functions traced once each are ten traces, no retrace, and ten live functions."""
    functions = [tf.function(lambda x: x + 1) for _ in range(10)]
    for function in functions:
        function(1.0)  # ten functions
    assert (counts.made("trace", "ten functions"), counts.made("retrace")) == (10, 0)
    assert counts.alive("function", "ten functions") == len(functions)


def test_a_function_that_makes_its_variables_is_not_retraced(tf, counts):
    """TensorFlow traces it twice at its first call; that is how it works, and no retrace."""

    class Adds(tf.Module):
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(1.0)
            return x + self.v

    adds = Adds()
    for _ in range(5):
        adds(tf.constant(1.0))
    assert counts.made("retrace") == 0
    assert counts.alive("variable") == 1


def ways_to_trace(tf):
    class Model:
        @tf.function(autograph=False)  # TensorFlow 1.15 can't convert the method of a local class
        def method(self, number):
            return tf.constant(number)

    model = Model()
    function = tf.function(lambda number: tf.constant(number))
    plain = tf.function(lambda x, number: x + number)
    signed = tf.function(lambda x: x)
    return {
        "method": model.method,
        "lambda": function,
        "partial": tf.function(functools.partial(lambda scale, number: tf.constant(number * scale), 2)),
        "partial_of_function": functools.partial(plain, tf.constant(1)),
        "get_concrete_function": function.get_concrete_function,
        "shapes": lambda number: signed(tf.ones(number + 1)),
        "dtypes": lambda number: signed(tf.cast(1, [tf.int32, tf.int64, tf.float32, tf.float64][number])),
        "concrete_function_of_specs": lambda number: signed.get_concrete_function(tf.TensorSpec([number], tf.int32)),
    }


@pytest.mark.parametrize(
    "way",
    "method lambda partial partial_of_function get_concrete_function shapes dtypes concrete_function_of_specs".split(),
)
def test_all_ways_of_tracing_are_seen(tf, counts, way):
    """Methods, lambdas, partials, get_concrete_function: four signatures are four traces."""
    trace = ways_to_trace(tf)[way]
    for number in range(4):
        trace(number)
    assert traced(counts) == 4


def test_branches_and_loops_are_no_traces(tf, counts):
    """The bodies of cond, while, and of what AutoGraph makes of if and for, belong to the trace around them."""

    @tf.function
    def step(x):
        if tf.reduce_sum(x) > 0:
            x = x + 1
        for _ in tf.range(3):
            x = tf.cond(tf.reduce_sum(x) > 1, lambda: x * 2, lambda: x)  # noqa: B023
        x = tf.map_fn(lambda one: one + 1, x)
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + 1), [0, x])

    step(tf.ones(3))  # one trace
    assert traced(counts, "one trace") == traced(counts) == 1


def test_gradients_of_a_function_are_no_traces_of_it(tf, counts):
    """The backward pass of a tf.function is not a trace of the user's function."""
    v = tf.Variable(1.0)
    step = tf.function(lambda: v * v)
    for _ in range(3):
        with tf.GradientTape() as tape:
            y = step()
        tape.gradient(y, v)
    assert counts.made("retrace") == 0


def test_dataset_functions_are_no_retraces(tf, counts):
    """What map, filter and interleave trace counts as dataset functions, at their line."""
    data = tf.data.Dataset.range(3).map(lambda x: x + 1)  # a map
    data = data.filter(lambda x: x > 0)  # a filter
    assert (counts.made("retrace"), counts.alive("function_graph")) == (0, 0)
    assert counts.made("dataset_graph", "a map") == counts.made("dataset_graph", "a filter") == 1
    assert [int(x) for x in data] == [1, 2, 3]


def test_compiling_for_xla_is_one_trace(tf, counts):
    """jit_compile does not change what is traced."""
    try:
        step = tf.function(lambda x: x + 1, jit_compile=True)
    except TypeError:
        pytest.skip("this TensorFlow has no jit_compile")
    for _ in range(3):
        step(tf.ones(3))
    assert traced(counts) == 1


def test_code_that_autograph_rewrote_is_named_as_the_user_wrote_it(tf, counts):
    """What is made inside a converted function names the file and line of the source, not of the copy."""
    kept = []

    def inner():
        if not kept:
            kept.append(tf.Variable(2.0))  # a variable, two conversions deep
        return kept[0]

    @tf.function
    def outer(x):
        if x > 0:
            x = x + 1
        return x + inner()

    outer(tf.constant(1.0))
    assert counts.alive("variable", "a variable, two conversions deep") == 1


def test_dropped_functions_are_no_longer_alive(tf, counts):
    """Functions and their graphs are gone when nothing holds them; what happened has happened."""
    function = tf.function(lambda x: x + 1)
    function(1.0)
    assert (counts.alive("function"), counts.alive("function_graph")) == (1, 1)
    del function
    assert (counts.alive("function"), counts.alive("function_graph"), traced(counts)) == (0, 0, 1)


def test_a_trace_that_fails_is_not_counted_as_alive(tf, counts):
    """An exception in the traced code leaves nothing behind in the books."""

    def fails(x):
        raise ValueError("no")

    with pytest.raises(ValueError):
        tf.function(fails)(1.0)
    assert counts.alive("function_graph") == 0
    tf.function(lambda x: x)(1.0)
    assert traced(counts) == 1


# -- variables


def test_code_that_takes_the_place_of_other_code_has_its_own_lines(tf, watch):
    """A program that compiles, runs and drops code, again and again at the same address, has each told as its own."""
    names, addresses = ["<code %02d>" % number for number in range(20)], set()
    for name in names:
        code = compile("for _ in range(3): tf.Variable(1.0)", name, "exec")
        addresses.add(id(code))
        exec(code, {"tf": tf})
        del code
        gc.collect()
    made = {key.site[:2]: tally.born for key, tally in tfmemwatch.snapshot().tallies.items() if key.kind == "variable"}
    assert made == {(name, 1): 3 for name in names}
    if len(addresses) == 20:
        pytest.skip("TensorFlow keeps all code that has called it, in this process")


def test_variables_count_with_their_bytes(tf, counts):
    """Live variables and their size are known by the line that made them."""
    variables = [tf.Variable(tf.zeros([10, 10])) for _ in range(3)]  # three of 400 bytes
    assert counts.alive("variable", "three of 400 bytes") == 3
    assert counts.bytes("variable", "three of 400 bytes") == 1200
    variables.pop()
    assert counts.alive("variable", "three of 400 bytes") == 2
    assert counts.bytes("variable", "three of 400 bytes") == 800


def test_an_assignment_makes_no_variable(tf, counts):
    """What assign() returns is not a variable that anybody made."""
    v = tf.Variable(1.0)
    kept = [v.assign_add(1.0) for _ in range(3)]
    assert len(kept) == 3
    assert counts.made("variable") == 1


def test_variables_of_all_threads_count(tf, counts, in_threads):
    """A variable made in another thread counts like any other."""
    kept = [None] * 4

    def make(number):
        kept[number] = tf.Variable(1.0)  # in a thread

    in_threads(4, make)
    assert counts.alive("variable", "in a thread") == 4


def test_variables_of_layers_count_where_they_are_built(tf, counts):
    """A Keras layer's weights belong to the line that built it."""
    layer = tf.keras.layers.Dense(3)
    layer.build((None, 2))  # kernel and bias
    assert counts.alive("variable", "kernel and bias") == 2
    assert counts.bytes("variable", "kernel and bias") == 4 * (2 * 3 + 3)


def test_slots_of_an_optimizer_count(tf, counts):
    """Adam keeps two variables for each that it trains, made at the first apply_gradients()."""
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.keras.optimizers.Adam(0.1)
    optimizer.apply_gradients([(tf.constant([1.0, 1.0]), v)])  # slots
    assert counts.alive("variable", "slots") >= 2
    del optimizer
    assert counts.alive("variable", "slots") == 0


def test_variables_of_a_loaded_model_count_where_it_is_loaded(tf, counts, tmp_path):
    """SavedModel loading makes variables at the line of load()."""
    saved = tf.Module()
    saved.v = tf.Variable([1.0, 2.0])
    tf.saved_model.save(saved, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))  # loaded
    assert counts.alive("variable", "loaded") == 1
    assert counts.bytes("variable", "loaded") == 8
    del loaded
    assert counts.alive("variable", "loaded") == 0


def test_a_distributed_variable_counts_once(tf, counts):
    """The copies that a MirroredStrategy makes are one variable to the user."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    before = counts.alive("variable")
    with strategy.scope():
        v = tf.Variable(1.0)  # mirrored
    assert len(v.values) == 2
    assert counts.alive("variable", "mirrored") == counts.alive("variable") - before == 1


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_of_a_graph_belong_to_the_graph(tf, counts, use_resource):
    """Graph-mode variables, of both kinds, are counted apart from eager ones and go with their graph."""
    with tf.Graph().as_default() as graph:
        tf.compat.v1.get_variable("v", [2], use_resource=use_resource)  # in a graph
    assert (counts.alive("graph_variable", "in a graph"), counts.made("variable")) == (1, 0)
    del graph
    assert counts.alive("graph_variable", "in a graph") == 0


# -- sessions


@pytest.fixture
def graph(tf):
    with tf.Graph().as_default() as graph:
        yield graph


def test_sessions_are_open_until_closed(tf, counts, graph):
    """close() and the end of a with block close a session, though something still holds it."""
    held = [tf.compat.v1.Session() for _ in range(3)]  # opened
    assert counts.alive("session", "opened") == 3
    held[0].close()
    with held[1]:
        pass
    assert counts.alive("session", "opened") == 1
    assert counts.made("session_closed", "opened") == 2
    held[0].close()  # twice is once
    assert counts.made("session_closed", "opened") == 2


def test_a_session_dropped_unclosed_is_not_accused(tf, counts, graph):
    """Python closes what nobody holds: counted as dropped, and not open any more."""
    tf.compat.v1.Session()  # dropped
    assert counts.alive("session", "dropped") == 0
    assert (counts.made("session_dropped", "dropped"), counts.made("session_closed")) == (1, 0)


def test_an_interactive_session_left_entered_is_open(tf, counts, graph):
    """InteractiveSession counts as open until it is closed, also where its name is lost."""
    session = tf.compat.v1.InteractiveSession()  # interactive
    assert counts.alive("session", "interactive") == 1
    session.close()
    assert counts.alive("session", "interactive") == 0


def test_a_monitored_session_is_one_session(tf, counts, graph):
    """MonitoredSession opens one at the user's line, and closes it."""
    tf.compat.v1.train.create_global_step()
    with tf.compat.v1.train.MonitoredSession() as session:  # monitored
        session.run(tf.compat.v1.train.get_global_step())
        assert counts.alive("session", "monitored") == 1
    assert counts.alive("session", "monitored") == 0


# -- graphs


def test_graphs_are_alive_until_dropped(tf, counts):
    """Each tf.Graph counts at its line, until nothing holds it."""
    graphs = [tf.Graph() for _ in range(3)]  # graphs
    assert counts.alive("graph", "graphs") == 3
    graphs.pop()
    assert counts.alive("graph", "graphs") == 2


def test_operations_added_after_a_run_count_by_line(tf, counts, graph):
    """What is in the graph at the first run is the program; what comes later is growth, named by line."""
    x = tf.constant(1.0)
    with tf.compat.v1.Session() as session:
        session.run(x)
        assert counts.made("graph_op") == 0
        for _ in range(5):
            session.run(tf.identity(x))  # one more in each round
    assert counts.alive("graph_op", "one more in each round") == counts.made("graph_op") == 5


def test_constants_added_after_a_run_weigh_what_they_hold(tf, counts, graph):
    """A million floats baked into the graph are four megabytes at their line."""
    with tf.compat.v1.Session() as session:
        session.run(tf.constant(1.0))
        tf.constant(np.ones(1000 * 1000, np.float32))  # baked in
    assert 4000000 <= counts.bytes("graph_op", "baked in") <= 4100000


def test_operations_go_with_their_graph(tf, counts):
    """A graph that grew and was dropped holds nothing."""
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        session.run(tf.constant(1.0))
        session.run(tf.constant(2.0))  # grew
        assert counts.alive("graph_op", "grew") == 1
    del graph, session
    assert counts.alive("graph_op", "grew") == 0


# -- models


def model_of(tf, *layers):
    return tf.keras.Sequential([tf.keras.layers.InputLayer((2,)), *list(layers)])


def calls(watch):
    """How often each method of each model has been called."""
    return {(row.model, row.method): row.calls for row in watch.answers.calls()}


METHODS = {
    "predict": lambda model, x, y: model.predict(x, verbose=0),
    "fit": lambda model, x, y: model.fit(x, y, epochs=2, verbose=0),
    "evaluate": lambda model, x, y: model.evaluate(x, y, verbose=0),
    "train_on_batch": lambda model, x, y: model.train_on_batch(x, y),
    "test_on_batch": lambda model, x, y: model.test_on_batch(x, y),
    "predict_on_batch": lambda model, x, y: model.predict_on_batch(x),
    "__call__": lambda model, x, y: model(x),
}


@pytest.mark.parametrize("method, times", [(name, 10 if name == "predict" else 2) for name in METHODS])
def test_each_call_of_a_model_is_one_call(tf, watch, method, times):
    """Ten predict() are ten calls, and so for every way of calling; what they call inside is part of them."""
    model = model_of(tf, tf.keras.layers.Dense(1))
    model.compile("sgd", "mse")
    x, y = np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)
    for _ in range(times):
        METHODS[method](model, x, y)
    assert calls(watch) == {("Sequential " + model.name, method): times}


def test_at_level_off_a_model_that_was_counted_is_counted_no_more(tf, watch):
    """The quick way for models that are known is closed too."""
    model, x = model_of(tf, tf.keras.layers.Dense(1)), tf.ones((2, 2))
    model(x)
    before = calls(watch)
    watch.set_level("off")
    model(x)
    assert before and calls(watch) == before


def test_a_nested_model_is_part_of_the_outer_call(tf, watch):
    """A model that calls models is called once."""
    inner = model_of(tf, tf.keras.layers.Dense(2))
    outer = model_of(tf, inner, tf.keras.layers.Dense(1))
    before = sum(calls(watch).values())
    outer(tf.ones((1, 2)))
    assert sum(calls(watch).values()) == before + 1
    assert calls(watch)[("Sequential " + outer.name, "__call__")] == 1


def test_a_model_that_was_called_alone_counts_within_no_other(tf, watch):
    """A backbone is called by itself, then within a model around it, then by itself: 50, not 90, and 40 around."""
    inner, x = model_of(tf, tf.keras.layers.Dense(2)), tf.ones([1, 2])

    class Around(tf.keras.Model):
        def call(self, x):
            return inner(x) + 1.0

    around = Around()
    for model, times in ((inner, 40), (around, 40), (inner, 10)):
        for _ in range(times):
            model(x)
    counted = calls(watch)
    assert counted[("Sequential " + inner.name, "__call__")] == 50
    assert counted[("Around " + around.name, "__call__")] == 40


def test_a_wrong_call_within_a_call_fails_as_it_would_alone(tf, watch, failures):
    """Model.__call__() without a model is a TypeError of the program's, wherever it is made."""

    class Wrong(tf.keras.Model):
        def call(self, x):
            with pytest.raises(TypeError):
                tf.keras.Model.__call__()
            return x + 1.0

    wrong = Wrong()
    for _ in range(2):
        wrong(tf.ones([1, 2]))
    assert calls(watch) == {("Wrong " + wrong.name, "__call__"): 2}
    assert failures == {}


def test_traced_calls_are_told_apart(tf, watch):
    """A model called while a function is traced is one traced call, however often that function runs."""
    model = model_of(tf, tf.keras.layers.Dense(1))
    run = tf.function(lambda x: model(x))
    for _ in range(5):
        run(tf.ones((1, 2)))
    assert calls(watch) == {("Sequential " + model.name, "__call__ (traced)"): 1}


def test_a_symbolic_call_is_no_eager_one(tf, watch):
    """Building a functional model from models calls none of them eagerly."""
    inner = model_of(tf, tf.keras.layers.Dense(1))
    x = tf.keras.Input((2,))
    tf.keras.Model(x, inner(x))
    assert calls(watch).get(("Sequential " + inner.name, "__call__"), 0) == 0


def test_overlapping_calls_blame_nobody(tf, watch, in_threads):
    """Two models that run at the same time are counted, but neither is charged with the memory of both."""

    class Waits(tf.keras.Model):
        together = None

        def call(self, x):
            if self.together is not None:
                self.together.wait(60)
            return x

    models = [Waits(name="waits_%d" % number) for number in range(2)]
    for model in models:
        model(tf.ones((1, 2)))
    together = threading.Barrier(2)
    for model in models:
        object.__setattr__(model, "together", together)
    alone = {row.model: row.measured for row in watch.answers.calls()}
    for _ in range(40):
        in_threads(2, lambda number: models[number](tf.ones((1, 2))))
    rows = watch.answers.calls()
    assert [row.calls for row in rows] == [41, 41]
    assert {row.model: row.measured for row in rows} == alone


def test_after_many_threads_a_lone_call_is_measured_again(tf, watch, in_threads, monkeypatch):
    """Whatever the threads did, the count of calls under way comes back to none."""
    for share in ("_READING_SHARE", "_QUICK_SHARE"):
        monkeypatch.setattr(model_calls, share, 1e9)  # readings wait for calls alone, not for the clock
    model = model_of(tf, tf.keras.layers.Dense(1))
    x = np.ones((1, 2), np.float32)
    model.predict_on_batch(x)

    def work(number):
        for _ in range(20):
            model.predict_on_batch(x)

    in_threads(8, work)
    (before,) = [row.measured for row in watch.answers.calls() if row.method == "predict_on_batch"]
    for _ in range(1000):  # readings lie the farther apart, the more calls there were
        model.predict_on_batch(x)
    (after,) = [row.measured for row in watch.answers.calls() if row.method == "predict_on_batch"]
    assert after > before


def test_a_signature_of_a_saved_model_is_called_like_a_model(tf, watch, tmp_path):
    """signatures["serving_default"](…) is a model call."""
    module = tf.Module()
    module.run = tf.function(lambda x: {"y": x + 1}, input_signature=[tf.TensorSpec([None], tf.float32, "x")])
    tf.saved_model.save(module, str(tmp_path), signatures=module.run)
    loaded = tf.saved_model.load(str(tmp_path))
    serve = loaded.signatures["serving_default"]
    before = {row.model for row in watch.answers.calls()}
    for _ in range(3):
        serve(x=tf.ones(2))
    assert [row.calls for row in watch.answers.calls() if row.model not in before] == [3]


def test_a_second_keras_is_seen_when_it_is_imported(tf, watch):
    """tf_keras beside Keras 3, imported after install(): its models count too."""
    tf_keras = pytest.importorskip("tf_keras")
    model = tf_keras.Sequential([tf_keras.layers.InputLayer((2,)), tf_keras.layers.Dense(1)])
    for _ in range(3):
        model.predict_on_batch(np.ones((1, 2), np.float32))
    assert calls(watch) == {("Sequential " + model.name, "predict_on_batch"): 3}


def test_models_and_compilations_count_by_line(tf, counts):
    """Models alive, and each compile(), belong to the user's line."""
    models = [model_of(tf, tf.keras.layers.Dense(1)) for _ in range(2)]
    for model in models:
        model.compile("sgd", "mse")  # compiled
    assert counts.alive("model") == 2
    assert counts.made("compile", "compiled") == 2
    del models, model
    tf.keras.backend.clear_session()
    assert counts.alive("model") == 0


# -- what is held


def test_iterators_that_are_kept_are_alive(tf, counts):
    """Each iter(dataset) that something holds counts at its line."""
    data = tf.data.Dataset.range(3)
    kept = [iter(data) for _ in range(3)]  # iterators
    assert counts.alive("iterator", "iterators") == 3
    del kept
    assert counts.alive("iterator", "iterators") == 0
    assert [int(x) for x in data] == [0, 1, 2]  # a loop
    assert (counts.made("iterator", "a loop"), counts.alive("iterator")) == (1, 0)


def test_tapes_that_are_kept_are_alive(tf, counts):
    """A tape counts once at its line, until nothing holds it; recording again does not make it two."""
    kept = []
    v = tf.Variable(1.0)
    for _ in range(3):
        with tf.GradientTape(persistent=True) as tape:  # tapes
            v * v
        with tape:
            v * v
        kept.append(tape)
    del tape
    assert counts.alive("tape", "tapes") >= 3
    del kept[:]
    assert counts.alive("tape") == 0


def test_a_tape_that_is_stopped_and_begun_anew_is_one_tape(tf, counts):
    """stop_recording() and reset() end the recording and begin it again, on another line."""
    v = tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:  # the only one
        for _ in range(5):
            with tape.stop_recording():  # paused
                v.assign_add(1.0)
            tape.reset()  # anew
    assert counts.alive("tape", "the only one") == counts.alive("tape") == 1
    assert counts.made("tape") == 1


def registered_for_python():
    """What TensorFlow itself holds."""
    gc.collect()
    return places.find("pyfuncs").value.size()


def doubling(tf):
    def double(x):
        return np.float32(x * 2)

    @tf.function
    def step(x):
        return tf.numpy_function(double, [x], tf.float32)  # for Python

    return step


def test_functions_for_python_live_as_long_as_their_graph(tf, counts):
    """What numpy_function holds is alive with the tf.function that calls it."""
    step = doubling(tf)
    before = registered_for_python()
    assert float(step(tf.constant(2.0))) == 4.0
    assert counts.made("pyfunc", "for Python") == counts.alive("pyfunc") == registered_for_python() - before == 1
    del step
    assert counts.alive("pyfunc") == registered_for_python() - before


def test_an_eager_py_function_counts_each_time(tf, counts):
    """Each eager call has a token of its own, which stays in the cache of kernels."""
    for _ in range(3):
        tf.py_function(lambda x: x, [tf.constant(1.0)], tf.float32)  # a token
    assert counts.made("pyfunc_token", "a token") == 3


def test_custom_gradients_count_for_each_trace(tf, counts):
    """Each trace of a custom gradient leaves an entry in the registry, for ever."""

    @tf.custom_gradient
    def same(x):
        return tf.identity(x), lambda upstream: upstream

    step = tf.function(lambda x, number: same(x) + number)
    for number in range(3):
        step(tf.constant(1.0), float(number))  # an entry
    assert counts.made("custom_gradient") >= 3
    entries = counts.made("custom_gradient")
    same(tf.constant(1.0))
    assert counts.made("custom_gradient") == entries


def test_seeds_count_after_a_global_seed(tf, counts):
    """With a global seed every eager random operation has a new one; without, none."""
    tf.random.normal([1])
    assert counts.made("seed") == 0
    tf.random.set_seed(7)
    try:
        for _ in range(3):
            tf.random.normal([1])  # seeded
        assert counts.made("seed", "seeded") == 3
    finally:
        tf.random.set_seed(None)


def test_eager_queues_and_tables_count_by_line(tf, counts):
    """Queues and lookup tables that are made anew leave a resource or a kernel each."""
    for _ in range(3):
        tf.queue.FIFOQueue(1, [tf.int32])  # a queue
        keys = tf.lookup.KeyValueTensorInitializer(tf.constant(["a"]), tf.constant([1]))
        tf.lookup.StaticHashTable(keys, 0)  # a table
    assert counts.made("queue", "a queue") == 3
    assert counts.made("table", "a table") == 3


def test_summary_writers_are_open_until_closed(tf, counts, tmp_path):
    """A writer counts at its line until close()."""
    writers = [tf.summary.create_file_writer(str(tmp_path)) for _ in range(2)]  # writers
    assert counts.alive("writer", "writers") == 2
    writers[0].close()
    assert counts.alive("writer", "writers") == 1


def test_everything_is_in_the_report(tf, counts):
    """The text for a person names the line."""
    kept = [tf.Variable(1.0) for _ in range(3)]  # reported
    assert len(kept) == 3
    assert "test_counts.py:%d" % counts.line("reported") in str(tfmemwatch.report())


def test_functions_of_the_runtime_are_counted(tf, watch):
    """A trace registers at least one; where this TensorFlow does not tell, there is no number."""
    tf.constant(1.0)
    before = watch.answers.sample().registered_functions
    if before is None:
        assert not hasattr(tf.__internal__ if hasattr(tf, "__internal__") else tf, "eager_context")
        return
    kept = tf.function(lambda x: x + 1.0)
    kept(tf.constant(1.0))
    assert watch.answers.sample().registered_functions > before


def test_causes_of_retraces_are_for_export(tf, watch):
    """The argument by its name, without what it was."""
    scored = tf.function(lambda x, boost: x * boost)
    for turn in range(4):
        scored(tf.constant(1.0), turn + 0.5)
    found = {(one.argument, one.times) for one in watch.answers.sample().causes}
    assert ("boost", 3) in found
    assert not any("0.5" in one.cause or "1.5" in one.cause for one in watch.answers.sample().causes)


def test_functions_without_an_owner_are_counted_for_export(tf, watch):
    """When there are many new ones, and not with every look: it is a look at the whole heap."""
    tfmemwatch.uninstall()
    watch = tfmemwatch.install(sample_seconds=3600, log=False)  # with evidence
    if watch.answers.functions()[1] is None:
        return  # this TensorFlow does not tell whose a function is
    values = tfmemwatch.api._installations[0].export.values
    kept = [tf.function(lambda x: x + 1.0).get_concrete_function(tf.constant(1.0)) for _ in range(60)]
    watch.look()
    counted, at = values._orphans, values._orphans_at
    watch.look()
    assert counted == watch.answers.functions()[1]
    assert (values._orphans_at, len(kept)) == (at, 60)
