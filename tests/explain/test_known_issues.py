"""Leaks that others have met: which of them a finding is, and on which versions."""

import re

import pytest

from tfmemwatch.explain.advice import TABLE as ADVICE
from tfmemwatch.explain.known_issues import TABLE, known, said

NOW = (2, 21)


@pytest.mark.parametrize(
    "kind, story, line, issue",
    [
        ("cache", "executable", "", "tf#64170"),
        ("cache", "seed", "", "tf#37252"),
        ("cache", "queue", "", "tf#2942"),
        ("cache", "scalar", "", "tf#68196"),
        ("cache", "optimizer", "tf.keras.optimizers.Adam()", "keras#21090"),
        ("cache", "name", "model.save_weights(path)", "tf#32234"),
        ("cache", "pyfunc_token", "", "tf#35010"),
        ("model_rebuild", "model", "m = tf.keras.models.load_model(path)", "tf#35524"),
        ("model_rebuild", "model", "m = build()", "keras#2102"),
        ("graph_growth", "custom_gradient", "", "tf#97697"),
        ("graph_growth", "graph_op", "", "tf#15206"),
        ("retrace", "recompile", "", "keras#9151"),
        ("retrace", "retrace", "`loss` a bound method, which is a new object", "tf#31175"),
        ("retrace", "retrace", "`x` a new batch size (57)", "tf#38561"),
        ("session_unclosed", "session", "", "tf#10013"),
        ("variable", "graph_variable", "", "tf#20218"),
        ("dataset_iterator", "cache_dataset", "", "tf#27128"),
        ("dataset_iterator", "iterator", "", "tf#37653"),
        ("tape", "open_tape", "", "tf#32276"),
        ("live_tensors", "live_tensors", "", "tf#34606"),
        ("python_objects", "writer", "", "tf#26684"),
        ("function_library", "function_library", "", "tf#62854"),
    ],
)
def test_a_finding_is_known_by_its_issue(kind, story, line, issue):
    """The cause that is told of a growth, and its line, lead to the issue in which others met it."""
    assert issue in said(kind, ADVICE[story].cause + " " + line, NOW)


def test_what_no_longer_holds_says_so():
    """predict() in a loop leaked from 2.10 to 2.14: on 2.21 it is named as what it is not."""
    text = "memory in use outside Python rises steadily; model.predict(x)"
    assert said("native_heap", text, (2, 10)).startswith("Known as tf#44711")
    now = said("native_heap", text, NOW)
    assert "tf#44711" in now and "not on this one" in now


def test_nothing_is_said_of_the_unknown():
    """A kind that no row has, and an unknown version."""
    assert said("fragmentation", "anything", NOW) == ""
    assert said("tape", "a tape", None) == ""


def test_each_row_can_be_found_and_is_in_order():
    """At least twenty rows; patterns that compile, kinds that are told, spans that are not empty."""
    kinds = {row.kind for row in ADVICE.values()}
    assert len(TABLE) >= 20
    for row in TABLE:
        re.compile(row.like)
        assert row.kind in kinds and row.since <= row.until and row.what
        assert row in known(row.kind, row.like.replace("\\", "").split("|")[0])


@pytest.mark.parametrize(
    "version, python, is_here", [((2, 15), (3, 11), True), ((2, 15), (3, 10), False), ((2, 12), (3, 12), True)]
)
def test_forty_bytes_of_each_tensor_are_known_where_they_leak(version, python, is_here):
    """tf#62551: TensorFlow 2.12 to 2.15, on Python 3.11 and later."""
    text = said("python_objects", ADVICE["python_heap"].cause, version, python)
    assert text.startswith("Known as tf#62551 (TensorFlow 2.12 to 2.15 on Python 3.11 and later)") == is_here
    assert ("tf#62551" in text) == is_here


def test_what_is_known_by_little_is_not_told_where_it_does_not_hold():
    """More Python objects may be anything: nothing is said of forty bytes on a newer TensorFlow."""
    assert said("python_objects", ADVICE["python_heap"].cause, (2, 21), (3, 11)) == ""
