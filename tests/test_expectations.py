"""What the program says should be dead: told when it dies, or why it does not."""

import gc
import logging

import pytest

import tfmemwatch


class Model:
    pass


models = []


@pytest.fixture
def watch():
    yield tfmemwatch.install(sample_seconds=3600, evidence=False)
    tfmemwatch.uninstall()


def test_what_holds_it_is_told_once(watch, caplog):
    """A model that a list still holds is a warning with the way to it, at the line that expected it to be gone."""
    heard = []
    tfmemwatch.uninstall()
    watch = tfmemwatch.install(sample_seconds=3600, evidence=False, on_finding=heard.append)
    models.append(Model())
    expected = tfmemwatch.expect_dead(models[0], "model after unload")
    for _ in range(4):
        watch.look()
    (finding,) = heard
    assert finding.kind == "still_alive" and finding.site.function == "test_what_holds_it_is_told_once"
    assert finding.holder == "test_expectations.models (list, 1 item) → [0] → Model"
    assert "model after unload" in str(finding) and not expected.is_dead
    assert len([record for record in caplog.records if "model after unload" in record.getMessage()]) == 1
    models.clear()
    assert expected.is_dead


def test_its_death_is_told(watch, caplog):
    """A model in a cycle dies in a collection; that it has gone is a line of the log."""
    caplog.set_level(logging.INFO, "tfmemwatch")
    model = Model()
    model.me = model
    expected = tfmemwatch.expect_dead(model, "the old model")
    del model
    gc.collect()
    watch.look()
    assert expected.is_dead and expected.why() == ""
    assert any("the old model: the Model is gone" in record.getMessage() for record in caplog.records)


def test_garbage_that_waits_for_the_collector_is_not_told(watch, caplog):
    """Before anything is said there is a collection."""
    model = Model()
    model.me = model
    tfmemwatch.expect_dead(model, "the old model")
    del model
    for _ in range(4):
        watch.look()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_without_a_watch_it_says_what_is_missing():
    """expect_dead needs install()."""
    with pytest.raises(RuntimeError, match="install"):
        tfmemwatch.expect_dead(Model(), "model")
