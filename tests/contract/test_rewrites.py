"""What is to be written instead: the code that is suggested gives as few traces as it says."""

import functools
import gc
import inspect
import re

import numpy as np
import pytest

from tfmemwatch.explain.reasons import instead
from tfmemwatch.probes.traces import Traces


class Config:
    scale = 2.0


def scaled(factor, x):
    return x * factor


CASES = []


def case(after, relaxed=None, **options):
    """Calls of this function, and how many traces the code that is suggested makes of them."""

    def claimed(pair):
        CASES.append((pair.__name__, pair, after, relaxed, options))
        return pair

    return claimed


@case(1)
def new_shapes(tf):
    def step(x):
        return tf.reduce_sum(x)

    return step, [(tf.ones((size, 3)),) for size in range(1, 8)]


@case(1)
def new_ranks(tf):
    def step(x):
        return tf.reduce_sum(x)

    return step, [(tf.ones([1] * size),) for size in range(1, 5)]


@case(1)
def new_floats(tf):
    def step(x, rate):
        return x * rate

    return step, [(tf.ones(3), 0.1 * number) for number in range(6)]


@case(1)
def new_floats_with_doubles(tf):
    def step(x, rate):
        return x * rate

    return step, [(tf.ones(3, tf.float64), 0.1 * number) for number in range(6)]


@case(1)
def numbers_of_a_request_that_are_computed_with(tf):
    def step(x, number):
        return x + number

    return step, [(tf.ones(3), number) for number in range(6)]


@case(1)
def numbers_that_count(tf):
    def step(x, times):
        return tf.tile(x, [times])

    return step, [(tf.ones(3), number) for number in range(6)]


@case(1)
def shapes_and_floats(tf):
    def step(x, rate):
        return x * rate

    return step, [(tf.ones((2 + number, 3)), 0.1 * number) for number in range(6)]


@case(1)
def tensors_and_floats(tf):
    def step(x, rate):
        return x * rate

    return step, [(tf.ones(3), tf.constant(0.5) if number % 2 else 0.1 * number) for number in range(6)]


@case(1)
def two_dtypes(tf):
    def step(x):
        return x + 1

    return step, [(tf.ones(3),), (tf.ones(3, tf.float64),), (tf.ones(3, tf.int32),)]


@case(1)
def numpy_batches(tf):
    def step(x):
        return x + 1

    return step, [(np.ones((32, 2), "f4"),)] * 4 + [(np.ones((7, 2), "f4"),)]


@case(2, relaxed=True)
def shapes_beside_a_mode(tf):
    def step(x, mode):
        return x if mode == "train" else -x

    return step, [(tf.ones((1 + number, 3)), "train") for number in range(6)]


@case(2)
def floats_in_two_modes(tf):
    def step(x, rate, training):
        return x * rate if training else x

    return step, [(tf.ones(3), 0.1 * number, number % 2 == 0) for number in range(6)]


@case(1)
def a_number_in_a_dict(tf):
    def step(x, options):
        return x * options["rate"] + options["shift"]

    return step, [(tf.ones(3), {"rate": 0.1 * number, "shift": 1.0}) for number in range(6)]


@case(1)
def a_number_in_a_list(tf):
    def step(x, options):
        return x * options[1]

    return step, [(tf.ones(3), ["mode", 0.1 * number]) for number in range(6)]


@case(1)
def shapes_in_a_dict(tf):
    def step(batch):
        return tf.reduce_sum(batch["a"]) + tf.reduce_sum(batch["b"][0])

    return step, [({"a": tf.ones((1 + number, 2)), "b": [tf.ones(number)]},) for number in range(6)]


@case(1)
def longer_and_longer_lists(tf):
    def step(numbers):
        return tf.reduce_sum(numbers)

    return step, [([0.5] * number,) for number in range(2, 8)]


@case(1)
def lists_of_tensors(tf):
    def step(parts):
        return tf.reduce_sum(tf.stack(parts), 0)

    return step, [([tf.ones(3)] * number,) for number in range(2, 8)]


@case(1, kept=True)
def objects_made_anew(tf):
    def step(x, config):
        return x * config.scale

    return step, [(tf.ones(3), Config()) for _ in range(5)]


@case(1, kept=True)
def partials_made_anew(tf):
    def step(x, loss):
        return loss(x)

    return step, [(tf.ones(3), functools.partial(scaled, 2.0)) for _ in range(5)]


@case(1)
def ever_new_names(tf):
    def step(x, name):
        return tf.strings.join([x, name])

    return step, [(tf.constant("a"), "name-%d" % number) for number in range(8)]


def written(tf, code, python_function, calls):
    """The function as suggested, called as suggested; how many traces that made."""
    traces = []

    @functools.wraps(python_function)
    def counted(*args, **kwargs):
        traces.append(args)
        return python_function(*args, **kwargs)

    lines = [line for line in code.splitlines() if not line.startswith(("#", "def "))]
    decorators = [line for line in lines if line.startswith("@")]
    (call,) = [line for line in lines if not line.startswith("@")]
    decorate = eval(decorators[0][1:], {"tf": tf}) if decorators else tf.function
    names = python_function.__code__.co_varnames[: python_function.__code__.co_argcount]
    function = decorate(counted)
    once = {name: calls[0][index] for index, name in enumerate(names) if "# make %s " % name in code}
    for arguments in calls:
        given = dict(zip(names, arguments), **once)
        eval(call.split("#")[0].strip(), dict(given, tf=tf, np=np, step=function))
    return len(traces)


@pytest.mark.parametrize("row", CASES, ids=lambda row: row[0])
def test_suggested_code_makes_as_few_traces_as_it_says(tf, watch, failures, row):
    """The code for the user's function, run on the calls that were seen: the number of traces that stands in it."""
    _, make, after, relaxed, _ = row
    python_function, calls = make(tf)
    (probe,) = [probe for probe in watch.probes if isinstance(probe, Traces)]
    function = tf.function(python_function)
    for arguments in calls:
        function(*arguments)
    probe.reasons.compare_waiting()
    (account,) = [one for one in probe.reasons._accounts.values() if one.function.endswith("step") and one.traces]
    better = instead(account)
    assert better is not None
    assert "%d traces become %d" % (better.before, better.after) in better.code
    if "experimental_relax_shapes" in better.code:
        after += 1  # the older option passes over the first trace
    assert (written(tf, better.code, python_function, calls), better.after) == (after, after), better.code
    assert ("input_signature" in better.code) is (not relaxed) or not relaxed
    assert failures == {}


@pytest.mark.parametrize("row", CASES, ids=lambda row: row[0])
def test_the_short_form_in_the_log_makes_as_few_traces_too(tf, watch, failures, row):
    """The option and the arguments that it names, and nothing else changed: the same number. None is long."""
    make = row[1]
    python_function, calls = make(tf)
    (probe,) = [probe for probe in watch.probes if isinstance(probe, Traces)]
    function = tf.function(python_function)
    for arguments in calls:
        function(*arguments)
    probe.reasons.compare_waiting()
    (account,) = [one for one in probe.reasons._accounts.values() if one.function.endswith("step") and one.traces]
    better = instead(account)
    parts = better.short[: better.short.rindex(" (")]
    before, after = map(int, re.findall(r"\d+", better.short[len(parts) :]))
    assert better.after <= after < before == better.before and len(parts) <= 100
    options = [one for one in re.findall("`(.*?)`", parts) if re.match(r"\w+=", one)]
    call = better.code.splitlines()[-1]
    assert all(one in options or one in call for one in re.findall("`(.*?)`", parts))
    notes = [line for line in better.code.splitlines() if line.startswith("# make ")]
    code = "\n".join([*notes, *("@tf.function(%s)" % one for one in options), call])
    assert written(tf, code, python_function, calls) == after, code
    assert failures == {}


@pytest.mark.parametrize("make", [float, int], ids=["floats", "ints"])
def test_the_cure_for_new_numbers_leaves_nothing_of_them(tf, watch, make):
    """A tensor that is made of a Python number is kept by TensorFlow for ever, some 600 bytes each; these are not."""

    def step(x, rate):
        return tf.cast(x, tf.float32) * tf.cast(rate, tf.float32)

    function = tf.function(step)
    for number in range(6):
        function(tf.ones(3), make(10_000_000 + number))
    (probe,) = [probe for probe in watch.probes if isinstance(probe, Traces)]
    probe.reasons.compare_waiting()
    (account,) = [one for one in probe.reasons._accounts.values() if one.function.endswith("step") and one.traces]
    call = compile(instead(account).code.splitlines()[-1].split("#")[0].strip(), "cure", "eval")
    function, x = tf.function(step), tf.ones(3)

    def held_after(numbers):
        for number in numbers:
            eval(call, {"x": x, "rate": make(number), "tf": tf, "np": np, "step": function})
        gc.collect()
        return watch.process.read().held_bytes

    before = held_after(range(500))
    assert held_after(range(1000, 4000)) - before < 3000 * 200


def test_a_lambda_is_made_anew_by_its_function(tf, watch):
    """It has no name and no line to decorate: the code wraps what is there."""
    function = tf.function(lambda x: x * 2.0)
    for size in range(1, 5):
        function(tf.ones(size))
    (probe,) = [probe for probe in watch.probes if isinstance(probe, Traces)]
    probe.reasons.compare_waiting()
    (code,) = [instead(one).code for one in probe.reasons._accounts.values() if one.traces]
    assert code.splitlines() == [
        "function = tf.function(function, input_signature=[tf.TensorSpec([None], tf.float32)])",
        "function(x)  # 4 traces become 1",
    ]


def test_of_many_traces_it_is_said_on_how_many_the_code_was_tried(tf, watch, failures):
    """What is promised for all of them would be a guess."""

    @tf.function
    def scaled(x, rate):
        return x * rate

    for number in range(140):
        scaled(tf.ones(2), number / 7)
    (probe,) = [probe for probe in watch.probes if isinstance(probe, Traces)]
    probe.reasons.compare_waiting()
    (better,) = [instead(one) for one in probe.reasons._accounts.values() if one.traces]
    assert "(the first 128 traces become 1)" in better.short


def test_nothing_is_suggested_where_nothing_helps(tf, watch, failures):
    """A function whose two modes are two traces has them for good: no code."""

    @tf.function
    def step(x, training):
        return x

    step(tf.ones(3), True), step(tf.ones(3), False)
    (probe,) = [probe for probe in watch.probes if isinstance(probe, Traces)]
    probe.reasons.compare_waiting()
    assert [instead(account) for account in probe.reasons._accounts.values()] == [None]
    assert failures == {}


def suggested(watch, tf, make):
    """The code for a function after some calls; the Python function and the calls themselves."""
    python_function, options, calls = make(tf)
    (probe,) = [probe for probe in watch.probes if isinstance(probe, Traces)]
    function = tf.function(python_function, **options)
    for args, kwargs in calls:
        function(*args, **kwargs)
    probe.reasons.compare_waiting()
    (account,) = [one for one in probe.reasons._accounts.values() if one.traces]
    return instead(account), python_function, calls


def call(*args, **kwargs):
    return args, kwargs


def with_a_star(tf):
    def step(x, *rest):
        return x + sum(rest)

    return step, {}, [call(tf.ones((size, 2)), tf.ones((size, 2)), 0.5) for size in range(1, 6)]


def by_keyword(tf):
    def step(x, *, rate, **named):
        return x * rate * named["scale"]

    return step, {}, [call(tf.ones(3), rate=0.1 * number, scale=2.0) for number in range(5)]


def partly_given(tf):
    def step(scale, x, rate):
        return x * rate * scale

    return functools.partial(step, 2.0), {}, [call(tf.ones(3), 0.1 * number) for number in range(5)]


def partly_given_by_keyword(tf):
    def step(scale, x, rate):
        return x * rate * scale

    return functools.partial(step, rate=2.0), {}, [call(0.1 * number, tf.ones(3)) for number in range(5)]


def with_defaults(tf):
    def step(x, rate=0.5, training=False):
        return x * rate

    return step, {}, [call(tf.ones(3), 0.1 * number) for number in range(5)]


@pytest.mark.parametrize("make", [with_a_star, by_keyword, partly_given, partly_given_by_keyword, with_defaults])
def test_functions_of_any_form_are_called_as_they_can_be(tf, watch, failures, make):
    """With a star, with keywords, with defaults, partly given before: what is suggested runs, and makes few traces."""
    better, python_function, calls = suggested(watch, tf, make)
    lines = better.code.splitlines()
    traces = []
    inner = getattr(python_function, "func", python_function)

    @functools.wraps(inner)
    def counted(*args, **kwargs):
        traces.append(args)
        return inner(*args, **kwargs)

    function, option = counted, re.search(r"(\w+)=True\)$", lines[0])
    if inner is not python_function:
        function = functools.partial(counted, *python_function.args, **python_function.keywords)
    options = {option.group(1): True} if option and lines[0] != lines[-1] else {}
    function = tf.function(function, **options)
    for args, kwargs in calls:
        bound = inspect.signature(python_function).bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments, **bound.arguments.get("named", {}))
        eval(lines[-1].split("#")[0].strip(), dict(given, tf=tf, np=np, step=function, function=function))
    assert len(traces) == better.after < better.before


def counted_with(tf):
    def step(x, times):
        for _ in range(times):
            x = x + 1.0
        return x

    return step, {"autograph": False}, [call(tf.ones(3), number) for number in range(5)]


def multiplied_lists(tf):
    def step(x, times):
        return tf.stack([x] * times)

    return step, {}, [call(tf.ones(3), number) for number in range(1, 6)]


def chosen_by_number(tf):
    weights = [1.0, 2.0, 3.0, 4.0, 5.0]

    def step(x, task):
        return x * weights[task]

    return step, {}, [call(tf.ones(3), number) for number in range(5)]


def names_of_scopes(tf):
    def step(x, name):
        with tf.name_scope(name):
            return x + 1.0

    return step, {}, [call(tf.ones(3), "scope_%d" % number) for number in range(8)]


@pytest.mark.parametrize("make", [counted_with, multiplied_lists, chosen_by_number, names_of_scopes])
def test_what_must_stay_a_python_value_is_left_one(tf, watch, failures, make):
    """A number that a list is indexed by, or that Python counts with, would be an error as a tensor: no code."""
    assert suggested(watch, tf, make)[0] is None


def test_no_code_is_suggested_for_a_function_of_keras(tf, watch, failures):
    """It is not the user's to decorate."""
    if not hasattr(tf, "function") or not tf.executing_eagerly():
        pytest.skip("Keras traces nothing here")
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    for size in range(2, 8):
        model.train_on_batch(np.ones((size, 2)), np.ones((size, 1)))
    (probe,) = [probe for probe in watch.probes if isinstance(probe, Traces)]
    probe.reasons.compare_waiting()
    accounts = [one for one in probe.reasons._accounts.values() if one.traces]
    assert [instead(one) for one in accounts] == [None] * len(accounts)
