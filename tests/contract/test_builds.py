"""What XLA builds behind a trace: counted by line, explained, and nothing of it left in the program."""

import copy

import pytest

import tfmemwatch
from tfmemwatch.explain.advice import advice
from tfmemwatch.model import Finding
from tfmemwatch.probes.builds import Builds


def compiled(tf, function, **options):
    """The function, as XLA compiles it; the test is skipped where none is compiled for each shape."""
    if "builds" in tfmemwatch.current().off:
        pytest.skip("no builds on this TensorFlow")
    return tf.function(function, jit_compile=True, **options)


def finding(watch, counts, mark, name):
    """What would be told of too many builds at a line."""
    site = next(tally.key.site for tally in counts._tallies("xla_build", mark))
    row = advice("executable", name)
    return watch.explanations.explained(
        Finding(row.kind, site, 0.0, 9, 1.0, "step", 0, "leak", row.cause, row.cure, 1.0)
    )  # fmt: skip


def test_each_new_shape_is_a_build_with_seconds_and_bytes(tf, watch, counts, failures):
    """Four calls with three shapes: one trace and three builds, at the line that calls."""
    score = compiled(tf, lambda x: tf.reduce_sum(tf.nn.softmax(x)), input_signature=[tf.TensorSpec([None, 8])])
    for size in (1, 2, 3, 2):
        score(tf.ones((size, 8)))  # BUILDS
    assert counts.made("xla_build", "BUILDS") == 3
    assert counts.made("trace", "BUILDS") == 1 and counts.made("retrace") == 0
    (tally,) = counts._tallies("xla_build", "BUILDS")
    assert tally.seconds > 0.003 and tally.bytes > 10000
    assert ": 3 builds for 1 trace, " in str(tfmemwatch.report())
    assert failures == {}


def test_a_trace_of_fixed_shapes_is_built_once_and_let_go(tf, watch, counts, failures):
    """Where each shape is a trace of its own, one build of each; later calls pass through nothing of ours."""
    double = compiled(tf, lambda x: x * 2)
    for size in (1, 2, 1):
        double(tf.ones(size))
    assert counts.made("xla_build") == 2 and counts.made("retrace") == 1
    other = tf.function(lambda x: x * 2).get_concrete_function(tf.ones(1))
    assert type(double.get_concrete_function(tf.ones(1))) is type(other)
    assert failures == {}


def test_a_function_that_is_not_compiled_is_as_tensorflow_made_it(tf, watch, failures):
    """Neither an attribute nor a class of ours on its calls."""
    compiled(tf, lambda x: x)
    plain = tf.function(lambda x: x + 1, input_signature=[tf.TensorSpec([None])])
    plain(tf.ones(3))
    concrete = plain.get_concrete_function(tf.ones(3))
    kind, attributes, method = type(concrete), set(vars(concrete)), type(concrete)._call_flat
    tfmemwatch.uninstall()
    fresh = tf.function(lambda x: x + 1).get_concrete_function(tf.ones(3))
    assert type(fresh) is kind and set(vars(fresh)) == attributes and type(fresh)._call_flat is method
    assert failures == {}


def test_uninstall_leaves_a_compiled_function_as_it_was_made(tf, watch, failures):
    """Its traces have TensorFlow's own class again, copies too, and go on to work."""
    score = compiled(tf, lambda x: tf.reduce_sum(x), input_signature=[tf.TensorSpec([None])])
    assert float(score(tf.ones(3))) == 3
    concrete = score.get_concrete_function()
    copied = copy.copy(concrete)
    assert float(copied(tf.ones(4))) == 4
    own = type(concrete).__mro__[1]
    assert (type(concrete).__name__, type(concrete).__qualname__) == (own.__name__, own.__qualname__)
    assert type(copied) is own  # it is let go at its first call
    attributes = set(vars(concrete))
    tfmemwatch.uninstall()
    assert type(concrete) is own and set(vars(concrete)) == attributes
    assert float(score(tf.ones(5))) == 5
    assert failures == {}


def test_the_argument_is_named_and_the_code_gives_as_few_builds_as_it_says(tf, watch, counts, failures):
    """Ever new lengths of one of three arguments: its name, and code that pads it to powers of two."""

    def embed(rate, tokens, mask):
        return tf.reduce_sum(tokens) * rate + tf.reduce_sum(mask)

    signature = [tf.TensorSpec([]), tf.TensorSpec([None, 4]), tf.TensorSpec([None])]
    function = compiled(tf, embed, input_signature=signature)
    for size in range(1, 13):
        function(tf.constant(1.0), tf.ones((size, 4)), tf.ones(3))  # LENGTHS
    told = finding(watch, counts, "LENGTHS", "embed")
    assert told.why == "11 builds of `embed`: `tokens` a new batch size (11)"
    assert told.suggestion.endswith("# 12 builds become 5")
    assert "Cure: pad `tokens` to powers of two (12 builds become 5). Known as tf#64170" in str(told)
    built = counts.made("xla_build")
    again = compiled(tf, embed, input_signature=signature)
    for size in range(1, 13):
        given = {"tf": tf, "tokens": tf.ones((size, 4))}
        exec(told.suggestion, given)
        assert float(again(tf.constant(1.0), given["tokens"], tf.ones(3))) == 4 * size + 3
    assert counts.made("xla_build") - built == 5
    assert failures == {}


def test_a_part_of_an_argument_is_named_by_its_path(tf, watch, counts, failures):
    """`batch["tokens"]`, where TensorFlow has types for arguments."""
    signature = [{"other": tf.TensorSpec([2]), "tokens": tf.TensorSpec([None])}]
    step = compiled(tf, lambda batch: tf.reduce_sum(batch["tokens"]) + batch["other"], input_signature=signature)
    for size in range(1, 5):
        step({"other": tf.ones(2), "tokens": tf.ones(size)})  # PARTS
    told = finding(watch, counts, "PARTS", *counts.notes("xla_build", "PARTS")).why
    concrete = step.get_concrete_function()
    wanted = '`batch["tokens"]`' if hasattr(concrete, "function_type") else "`batch"
    assert wanted in told
    assert failures == {}


def test_a_build_that_fails_is_none_and_the_error_is_the_programs(tf, watch, counts, failures):
    """What XLA can't compile raises as it does alone, each time, and nothing is counted."""
    join = compiled(tf, lambda x: tf.strings.join([x, x]), input_signature=[tf.TensorSpec([None], tf.string)])
    for _ in range(2):
        with pytest.raises(Exception, match=r"(?i)xla|compil|unsupported|string"):
            join(tf.constant(["a"]))
    assert counts.made("xla_build") == 0
    (probe,) = [probe for probe in watch.probes if isinstance(probe, Builds)]
    assert all(not built.shapes for built in probe._known.values() if built.ref() is join.get_concrete_function())
    assert failures == {}


def test_gradients_and_calls_inside_another_function_are_told_apart(tf, watch, counts, failures):
    """The backward pass is a build of its own; a call that is only traced into another function builds nothing."""
    square = compiled(tf, lambda x: x * x, input_signature=[tf.TensorSpec([None])])
    outer = tf.function(lambda x: square(x) + 1)
    outer.get_concrete_function(tf.ones(2))
    assert counts.made("xla_build") == 0
    x = tf.ones(3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = square(x)  # FORWARD
    assert tape.gradient(y, x).numpy().tolist() == [2, 2, 2]  # BACKWARD
    assert counts.made("xla_build", "FORWARD") == 1
    assert [note[:15] for note in counts.notes("xla_build", "BACKWARD")] == ["the gradient of"]
    assert failures == {}


def test_builds_inside_another_function_are_counted_and_explained(tf, watch, counts, failures):
    """As in Keras, whose predict() compiles a step that a function around it calls: that one has the argument."""
    inner = compiled(tf, lambda x: tf.reduce_sum(tf.nn.softmax(x)))
    tf_function = tf.function(lambda rows: inner(rows) + 1, input_signature=[tf.TensorSpec([None, 8])])
    for size in (1, 2, 3, 2, 4):
        tf_function(tf.ones((size, 8)))  # INSIDE
    assert counts.made("xla_build", "INSIDE") == 4
    (note,) = counts.notes("xla_build", "INSIDE")
    assert "`rows` a new batch size (3)" in finding(watch, counts, "INSIDE", note).why
    assert failures == {}


@pytest.mark.parametrize("way", ["branch", "two deep"])
def test_however_deep_they_are(tf, watch, counts, failures, way):
    """In the branch of a condition, or in a function that another one calls."""
    inner = compiled(tf, lambda x: tf.reduce_sum(tf.nn.softmax(x)), input_signature=[tf.TensorSpec([None, 8])])
    middle = tf.function(lambda x: inner(x))

    def outer(x):
        if way == "two deep":
            return middle(x)
        return tf.cond(tf.reduce_sum(x) > 0, lambda: inner(x), lambda: tf.constant(0.0))

    function = tf.function(outer, input_signature=[tf.TensorSpec([None, 8])])
    for size in (1, 2, 3, 2):
        function(tf.ones((size, 8)))  # DEEP
    assert counts.made("xla_build", "DEEP") == 3
    assert failures == {}


def test_new_shapes_that_are_padded_before_they_are_compiled_are_no_builds(tf, watch, counts, failures):
    """The cure, inside the function around: twelve lengths, one executable. Large results are none either."""
    inner = compiled(tf, lambda x: tf.reduce_sum(x), input_signature=[tf.TensorSpec([None])])

    def outer(x):
        return {"sum": inner(tf.pad(x, [[0, 16 - tf.shape(x)[0]]])), "rows": [tf.tile(x, [5000])]}

    function = tf.function(outer, input_signature=[tf.TensorSpec([None])])
    for size in range(1, 13):
        assert float(function(tf.ones(size))["sum"]) == size  # PADDED
    assert counts.made("xla_build", "PADDED") == 1
    assert failures == {}


def test_threads_with_the_same_new_shape_count_one_build(tf, watch, counts, in_threads, failures):
    """Whoever is first builds; the others wait for it inside TensorFlow."""
    score = compiled(tf, lambda x: tf.reduce_sum(x), input_signature=[tf.TensorSpec([None])])
    score(tf.ones(1))
    in_threads(4, lambda number: score(tf.ones(7)))
    assert counts.made("xla_build") == 2
    assert failures == {}


def test_a_trace_that_dies_is_forgotten(tf, watch, failures):
    """The watch keeps nothing of a function that has gone."""
    import gc

    score = compiled(tf, lambda x: tf.reduce_sum(x), input_signature=[tf.TensorSpec([None])])
    score(tf.ones(1))
    (probe,) = [probe for probe in watch.probes if isinstance(probe, Builds)]
    watch.state.read()
    before = len(probe._known)
    del score
    gc.collect()
    assert len(probe._known) == before - 1


def test_where_nothing_is_compiled_for_each_shape_it_is_off_and_says_why(tf, watch):
    """On TensorFlow 1.15 the probe names the places at which it looked."""
    if "builds" not in watch.off:
        assert any(isinstance(probe, Builds) for probe in watch.probes)
        return
    assert "ConcreteFunction.__init__" in watch.off["builds"]
