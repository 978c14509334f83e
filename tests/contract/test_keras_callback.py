"""LeakCallback in `fit`, `evaluate` and `predict` of every Keras that is here; LeakHook in sessions of TensorFlow 1."""

import copy
import csv
import importlib.util
import pickle
import subprocess
import sys

import pytest

import tfmemwatch
from tfmemwatch.estimator import LeakHook
from tfmemwatch.keras import LeakCallback
from tfmemwatch.memory.limits import Limit, Limits
from tfmemwatch.monitor import loop

BATCHES = 60
kept = []


def kerases():
    """TensorFlow's own, which is Keras 2 or 3, and tf_keras where it is here."""
    return ["tf.keras", *(["tf_keras"] if importlib.util.find_spec("tf_keras") is not None else [])]


@pytest.fixture(params=kerases())
def keras(request, tf):
    """One Keras."""
    return tf.keras if request.param == "tf.keras" else importlib.import_module(request.param)


@pytest.fixture
def model(keras):
    made = keras.Sequential([keras.layers.Dense(1)])
    made.compile("sgd", "mse")
    return made


@pytest.fixture
def data(tf):
    return tf.zeros((BATCHES * 2, 3)).numpy(), tf.zeros((BATCHES * 2, 1)).numpy()


def leaking(keras, tf):
    """A callback of the program's that keeps a variable of each batch."""

    class Keeping(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            kept.append(tf.Variable(0.0))  # CULPRIT

    return Keeping()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Nothing is kept yet; who holds what is looked for in one test alone, since it takes most of the time."""
    monkeypatch.setenv("TFMEMWATCH_EVIDENCE", "0")
    del kept[:]


def fit(model, data, *callbacks, **more):
    return model.fit(*data, batch_size=2, verbose=0, callbacks=list(callbacks), **more)


def test_a_training_that_leaks_is_named_and_one_that_does_not_is_silent(keras, tf, model, data, caplog, monkeypatch):
    """Batch by batch, with the line and who holds it; nothing is watched afterwards."""
    monkeypatch.delenv("TFMEMWATCH_EVIDENCE")
    callback = LeakCallback()
    fit(model, data, callback, leaking(keras, tf))
    (found,) = callback.findings
    assert found.kind == "variable" and found.site.function == "on_train_batch_end" and ".kept" in found.holder
    assert "test_keras_callback.py" in caplog.text and "fit(): 60 steps" in str(callback.report())
    fit(model, data, callback)
    assert callback.findings == [] and tfmemwatch.monitor.watch.begun == []


def test_evaluate_and_predict_are_watched(model, data):
    """Each batch is a step; the validation of a fit() is a part of it."""
    callback = LeakCallback()
    model.evaluate(*data, batch_size=2, verbose=0, callbacks=[callback])
    assert "evaluate(): 60 steps" in str(callback.report())
    model.predict(data[0], batch_size=2, verbose=0, callbacks=[callback])
    assert "predict(): 60 steps" in str(callback.report())
    fit(model, data, callback, validation_data=data, epochs=2)
    assert "fit(): 120 steps" in str(callback.report()) and callback.findings == []


def test_a_leak_stops_or_raises_where_that_is_asked_for(keras, tf, model, data):
    """`stop_training`, or LeakFound out of fit()."""
    callback = LeakCallback(on_leak="stop")
    fit(model, data, callback, leaking(keras, tf), epochs=3)
    assert "on_train_batch_end" in callback.stopped and len(kept) <= 2 * BATCHES
    with pytest.raises(tfmemwatch.LeakFound, match="on_train_batch_end"):
        fit(model, data, LeakCallback(on_leak="raise"), leaking(keras, tf), epochs=3)
    assert tfmemwatch.monitor.watch.begun == []


def test_memory_stands_in_the_logs(keras, model, data, tmp_path):
    """History and CSVLogger have it unasked, the same names in each epoch; other logs are as they were."""
    file = tmp_path / "log.csv"
    history = fit(model, data, LeakCallback(), keras.callbacks.CSVLogger(str(file)), epochs=2).history
    alone = fit(model, data, epochs=2).history
    assert {"mem/resident_mb", "mem/per_batch_kb", "mem/limit_used", "mem/leaks"} == set(history) - set(alone)
    with file.open() as rows:
        assert [float(row["mem/resident_mb"]) > 50 for row in csv.DictReader(rows)] == [True, True]
    assert model.evaluate(*data, batch_size=2, verbose=0, callbacks=[LeakCallback()]) >= 0


class Filling(Limits):
    """A container that fills while the training runs."""

    used = 80.0

    def read(self):
        self.used = min(100.0, self.used + 2)
        return [Limit("container limit", 10**9, int(self.used * 1e7), True)]


def test_a_training_that_reaches_the_limit_is_saved_and_ended(model, data, tmp_path, monkeypatch, caplog):
    """Before the kernel does it; one that does not grow goes on."""
    monkeypatch.setattr(loop, "_LIMITS_SECONDS", 0.0)
    monkeypatch.setattr(loop, "Limits", Filling)
    saved = []
    callback = LeakCallback(stop_at=0.9, checkpoint=saved.append)
    fit(model, data, callback, epochs=2)
    assert "has used 90 % of the container limit of 954 MiB" in callback.stopped
    assert saved == [model] and "saved by" in caplog.text
    monkeypatch.setattr(Filling, "read", lambda self: [Limit("container limit", 10**9, 95 * 10**7, True)])
    fit(model, data, callback)
    assert callback.stopped == ""


def test_used_twice_at_once_is_said_and_nothing_is_lost(keras, model, data, caplog):
    """In a list, and by a fit() within a fit(); both trainings go on, and after an error it can be used again."""
    callback = LeakCallback()
    fit(model, data, callback, callback)
    assert "stands twice in one list" in caplog.text and "fit(): 60 steps" in str(callback.report())
    other = keras.Sequential([keras.layers.Dense(1)])
    other.compile("sgd", "mse")

    class Inner(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            fit(other, data, callback)

    fit(model, data, callback, Inner())
    assert "is used twice at once" in caplog.text and "fit(): 60 steps" in str(callback.report())

    class Fails(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise KeyError("theirs")

    with pytest.raises(KeyError):
        fit(model, data, callback, Fails())
    caplog.clear()
    fit(model, data, callback)
    assert "at once" not in caplog.text and "fit(): 60 steps" in str(callback.report())


def test_a_copy_has_the_settings_and_watches_nothing(model, data):
    """Tuners copy callbacks."""
    callback = LeakCallback(on_leak="stop", stop_at=0.5, checkpoint="model.keras")
    fit(model, data, callback)
    for copied in (copy.deepcopy(callback), pickle.loads(pickle.dumps(callback))):
        assert (copied.on_leak, copied.stop_at, copied.checkpoint) == ("stop", 0.5, "model.keras")
        with pytest.raises(tfmemwatch.Unavailable):
            copied.report()


@pytest.mark.parametrize("wrong", [{"on_leak": "stopp"}, {"stop_at": 90}, {"stop_at": True}])
def test_wrong_settings_are_errors_at_once(wrong):
    """With the value, and what is allowed."""
    with pytest.raises(tfmemwatch.ConfigError, match="must be"):
        LeakCallback(**wrong)


def test_importing_them_imports_no_tensorflow():
    """Nor Keras: they are loaded when they are used."""
    asked = "import sys, tfmemwatch.keras, tfmemwatch.estimator; print({'tensorflow', 'keras'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", asked], stdout=subprocess.PIPE, check=True).stdout == b"set()\n"


# -- sessions of TensorFlow 1


def trained(tf, hook, leaks, runs=BATCHES):
    """A MonitoredSession of so many runs; the leak is an operation that each run adds."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        step = v1.train.get_or_create_global_step()
        up = step.assign_add(1)
        with v1.train.SingularMonitoredSession(hooks=[hook]) as session:
            graph._unsafe_unfinalize() if leaks else None
            for _ in range(runs):
                if session.should_stop():
                    break
                if leaks:
                    tf.constant(1.0)  # CULPRIT
                session.run(up)
        return graph


@pytest.mark.parametrize("leaks", [True, False])
def test_a_session_is_judged_run_by_run(tf, leaks):
    """The pair: operations added to the graph of a MonitoredSession, and the same loop without."""
    hook = LeakHook()
    trained(tf, hook, leaks)
    assert [one.kind for one in hook.findings] == (["graph_growth"] if leaks else [])
    assert "60 steps" in str(hook.report())


def test_a_hook_ends_its_session(tf):
    """It asks it to stop; or LeakFound comes out of `run`."""
    hook = LeakHook(on_leak="stop")
    trained(tf, hook, True, 10 * BATCHES)
    assert "leaks" in hook.stopped
    with pytest.raises(tfmemwatch.LeakFound):
        trained(tf, LeakHook(on_leak="raise"), True, 10 * BATCHES)
    assert isinstance(hook, (LeakHook, tf.compat.v1.train.SessionRunHook)) and tfmemwatch.monitor.watch.begun == []
