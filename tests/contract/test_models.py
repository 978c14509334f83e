"""What a model has while it lives, and what of it is left when it has gone."""

import gc
import logging
import weakref

import numpy as np
import pytest

import tfmemwatch
from tfmemwatch.heap.room import heap_size
from tfmemwatch.monitor.exports import Export

kept = []


@pytest.fixture(autouse=True)
def nothing_is_kept():
    """Each test begins with nothing of the others."""
    yield
    del kept[:]
    gc.collect()


def net(tf, *layers):
    """A model of these layers and one of its own: 3 × 5 floats and 5 more."""

    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.before = list(layers)
            self.own = tf.keras.layers.Dense(5)

        def call(self, x):
            for layer in self.before:
                x = layer(x)
            return self.own(x)

    return Net()


def looks(watch, times=4):
    for _ in range(times):
        gc.collect()
        watch.look()
    return watch.state.models.left


def test_a_report_says_what_each_model_has(tf, watch, failures):
    """Variables, their bytes, traces of its functions, and what its calls left, of this model and not of another."""
    model, other = net(tf), net(tf, tf.keras.layers.Dense(3))
    for _ in range(100):
        model(tf.ones((2, 3)))
    model.compile("sgd", "mse")
    model.predict(np.ones((2, 3), "float32"), verbose=0)
    other(tf.ones((2, 3)))
    report = str(tfmemwatch.snapshot())
    lines = report[report.index("Models alive") :].splitlines()[1:3]
    assert [line.split()[2:5] for line in lines] == [["4", "128", "B"], ["2", "80", "B"]]
    rows = {row.variables: row for row in watch.state.models.alive}
    assert rows[2].traces >= 1 and rows[4].traces == 0
    assert rows[2].grown_bytes != 0 and rows[4].grown_bytes == 0
    families = {family.metric.name: dict(family.samples) for family in Export(watch, "0").values.families()}
    assert sum(families["tfmemwatch_model_weight_bytes"].values()) == 208
    assert failures == {}


def test_a_saved_model_is_a_model(tf, watch, tmp_path, failures):
    """Its variables are found wherever they lie below its root."""

    class Exported(tf.Module):
        def __init__(self):
            super().__init__()
            self.parts = [tf.Variable(tf.ones((8, 8))), {"bias": tf.Variable(tf.ones(4))}]

        @tf.function(input_signature=[tf.TensorSpec([None, 8], tf.float32)])
        def __call__(self, x):
            return tf.matmul(x, self.parts[0]) + self.parts[1]["bias"][0]

    if not tfmemwatch.seams.places.has("saved_model_load"):
        pytest.skip("this TensorFlow has another way to load a SavedModel")
    tf.saved_model.save(Exported(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    watch.look()
    assert [(row.variables, row.weight_bytes) for row in watch.state.models.alive] == [(2, 272)]
    kept.append(loaded.parts[0])
    del loaded
    (left,) = looks(watch)
    assert (left.alive, left.variables, left.bytes) == (1, 2, 256)
    assert failures == {}


def test_a_look_builds_nothing(tf, watch, failures):
    """A model that has no weights yet has none after a look, and they are told when they are there."""
    model = net(tf)
    looks(watch)
    assert not model.built
    assert [row.variables for row in watch.state.models.alive] == [0]
    model(tf.ones((2, 3)))
    watch.look()
    assert [row.variables for row in watch.state.models.alive] == [2]
    assert failures == {}


def test_a_property_of_the_users_that_raises_is_the_users(tf, watch, failures, caplog):
    """Nobody hears of it, and the other models are told."""

    class Broken(tf.keras.Model):
        @property
        def weights(self):
            raise RuntimeError("not now")

    broken, model = Broken(), net(tf)
    model(tf.ones((2, 3)))
    watch.look()
    assert sorted(row.variables for row in watch.state.models.alive) == [0, 2]
    assert failures == {} and "not now" not in caplog.text
    del broken


def test_of_many_models_of_one_line_the_log_names_a_few(tf, caplog, failures):
    """A search that keeps a kernel of each of twenty models: the first, the second, the fourth, ... not twenty."""
    caplog.set_level(logging.INFO, "tfmemwatch")
    watch = tfmemwatch.install(sample_seconds=3600, evidence=False)
    for _ in range(20):
        model = net(tf)
        model(tf.ones((2, 3)))
        watch.look()
        kept.append(model.own.kernel)
        del model
        looks(watch)
    told = [record.getMessage() for record in caplog.records if "is gone" in record.getMessage()]
    assert len(told) == 5 and told[-1].endswith("(16 so far at this line)")
    assert failures == {}


def test_variables_that_outlive_their_model_are_told_with_their_holder(tf, caplog, failures):
    """`del model`, and a list still holds a variable of it: a line of the log, once, and of each report; no warning."""
    caplog.set_level(logging.INFO, "tfmemwatch")
    watch = tfmemwatch.install(sample_seconds=3600, evidence=False)
    model = net(tf)
    model(tf.ones((2, 3)))
    watch.look()
    kept.append(model.own.kernel)
    del model
    (left,) = looks(watch)
    assert (left.model.split()[0], left.alive, left.variables, left.bytes) == ("Net", 1, 2, 60)
    assert left.site.function == "net"
    assert left.holder.startswith("test_models.kept (list, 1 item) → [0]")
    assert "1 of 2 variables still alive (60 B), held by test_models.kept" in str(tfmemwatch.snapshot())
    told = [record for record in caplog.records if "still alive" in record.getMessage()]
    assert [record.levelno for record in told] == [logging.INFO]
    assert tfmemwatch.findings() == []
    families = {family.metric.name: dict(family.samples) for family in Export(watch, "0").values.families()}
    assert sum(families["tfmemwatch_unloaded_variables"].values()) == 1
    del kept[:]
    assert looks(watch) == []
    assert "variables still alive" not in str(tfmemwatch.snapshot())
    assert failures == {}


def test_a_model_that_is_gone_as_a_whole_is_silent(tf, watch):
    """The cure of that, trained and all."""
    model = net(tf)
    model.compile("adam", "mse")
    model.fit(np.ones((2, 3), "float32"), np.ones((2, 5), "float32"), verbose=0)
    watch.look()
    del model
    tf.keras.backend.clear_session()
    assert looks(watch) == []


def test_garbage_that_waits_for_the_collector_is_not_left(tf, watch):
    """A report that is asked for at once collects before it says so."""
    model = net(tf)
    model(tf.ones((2, 3)))
    watch.look()
    cycle = [model.own.kernel]
    cycle.append(cycle)
    del model
    gc.collect()
    gc.disable()
    try:
        watch.look()
        del cycle
        assert "variables still alive" not in str(tfmemwatch.snapshot())
    finally:
        gc.enable()


def test_what_a_living_model_shares_is_its_own(tf, watch):
    """Two models with one layer: when one of them goes, nothing is left; when both have gone, the layer is, once."""
    shared = tf.keras.layers.Dense(3)
    one, other = net(tf, shared), net(tf, shared)
    one(tf.ones((2, 3)))
    other(tf.ones((2, 3)))
    watch.look()
    del one
    assert looks(watch) == []
    del other
    assert [(left.alive, left.variables) for left in looks(watch)] == [(2, 4)]


@pytest.mark.parametrize("too_large", ["", "too many objects to look at"])
def test_a_model_from_before_the_watch_may_share_too(tf, monkeypatch, too_large):
    """What it has is its own, though nobody saw it being made; and though the heap is too large to find it."""
    monkeypatch.setattr(heap_size, "too_large", lambda *_, **__: too_large)
    shared = tf.keras.layers.Dense(3)
    old = net(tf, shared)
    old(tf.ones((2, 3)))
    watch = tfmemwatch.install(sample_seconds=3600, log=False, evidence=False)
    new = net(tf, shared)
    new(tf.ones((2, 3)))
    watch.look()
    del new
    assert looks(watch) == []
    del old


def test_what_is_left_is_told_however_large_the_heap_is(tf, watch, monkeypatch):
    """The watch saw these variables being made: no model from before it has them."""
    monkeypatch.setattr(heap_size, "too_large", lambda *_, **__: "too many objects to look at")
    model = net(tf)
    model(tf.ones((2, 3)))
    kept = list(model.variables)
    watch.look()
    del model
    assert [left.alive for left in looks(watch)] == [len(kept)]


def test_nothing_of_a_model_is_kept_alive(tf, watch):
    """Neither the model nor its variables, once the program has dropped them."""
    model = net(tf)
    model(tf.ones((2, 3)))
    watch.look()
    str(tfmemwatch.snapshot())
    refs = [weakref.ref(model), *map(weakref.ref, tfmemwatch.seams.variables.variables_of(model))]
    del model
    gc.collect()
    assert [ref() for ref in refs] == [None, None, None]
