"""What a watch records: `install(record=…)`."""

import logging
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import tfmemwatch
from tfmemwatch.errors import ConfigError
from tfmemwatch.monitor import recorder as module
from tfmemwatch.monitor.moments import moment_of
from tfmemwatch.monitor.recorder import Recorder
from tfmemwatch.outputs.recording import load, with_children

TREE = str(Path(__file__).resolve().parent.parent)


@pytest.fixture
def recorded(fake_tf, tmp_path):
    """A watch that looks when it is told to, and the path of its recording."""
    path = str(tmp_path / "run.tfmw")
    return tfmemwatch.install(sample_seconds=3600, record=path), path


def events(path):
    return [(one.what, one.text) for one in load(path).last.events]


def test_what_happens_is_recorded(recorded, fake_tf):
    """Samples, levels, and the end."""
    watch, path = recorded
    kept = [fake_tf.resource_variable_ops.BaseResourceVariable() for _ in range(5)]
    watch.look()
    tfmemwatch.set_level("counts")
    watch.look()
    tfmemwatch.uninstall()
    run = load(path).last
    assert run.moments[-1].alive["variable"] == len(kept)
    assert run.moments[-1].python_blocks > 0
    assert run.moments[-1].variables_bytes == 24 * len(kept)
    assert run.report.made[0].alive == len(kept)
    assert [what for what, _ in events(path)] == ["level", "end"]
    assert run.ended == "the watch was uninstalled"


def test_a_finding_is_recorded_when_it_is_found_and_when_it_is_over(recorded, monkeypatch):
    """With a report of that moment."""
    watch, path = recorded
    recorder = watch.after_look[-1].__self__
    site = tfmemwatch.Site("train.py", 41, "step")
    found = tfmemwatch.Finding("variable", site, 0.0, 40, 80.0, "hour", 4096, "leak", "it grows", "Stop.", 0.9)
    clock = [1e9]
    recorder._clock = lambda: clock[0]
    for findings in ([], [found], [found], []):
        monkeypatch.setattr(type(watch), "findings", lambda self, now=findings: now)
        monkeypatch.setattr(type(watch.answers), "findings", lambda self, now=findings: now)
        clock[0] += 5
        watch.look()
    assert events(path) == [("finding", "variable train.py:41 step()"), ("over", "variable train.py:41 step()")]
    assert [(one.finding.site, one.is_over) for one in load(path).last.found] == [(site, True)]


def test_the_recording_is_checked_before_anything_is_wrapped(fake_tf, tmp_path):
    """As any setting is."""
    (tmp_path / "notes.txt").write_text("mine")
    for path in ("notes.txt", "", "absent/run.tfmw"):
        with pytest.raises(ConfigError, match="record is"):
            tfmemwatch.install(record=str(tmp_path / path))
        assert tfmemwatch.current() is None
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_full_disk_ends_the_recording_and_nothing_else(failures, recorded, caplog):
    """One warning; what was recorded stays, and the watch goes on."""
    watch, path = recorded
    watch.look()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path) + 10, limits[1]))
    try:
        with caplog.at_level(logging.WARNING, "tfmemwatch"):
            recorder = watch.after_look[-1].__self__
            for later in (1e5, 2e5, 3e5):
                recorder._clock = lambda later=later: 2e9 + later
                watch.look()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [record.getMessage().partition(path)[0] for record in caplog.records] == ["the recording "]
    assert "the program goes on: File too large" in caplog.text
    assert load(path).rest == load(path).lost == 0
    assert failures == {} and watch.is_running


def test_uninstall_leaves_no_descriptor_and_no_listener(recorded):
    """Nothing of the recorder stays but its file."""
    watch, path = recorded
    opened = [os.path.realpath("/proc/self/fd/" + name) for name in os.listdir("/proc/self/fd")]
    assert opened.count(path) == 1
    tfmemwatch.uninstall()
    opened = [os.path.realpath("/proc/self/fd/" + name) for name in os.listdir("/proc/self/fd")]
    assert opened.count(path) == 0 and watch.after_look == []


@pytest.mark.slow
def test_a_week_is_small(recorded, monkeypatch):
    """At the default pace, below 20 MB, in a program with many lines."""
    watch, path = recorded
    recorder = watch.after_look[-1].__self__
    rounds = [0]
    alive = lambda: {"kind %d" % kind: rounds[0] * kind for kind in range(12)}  # noqa: E731
    monkeypatch.setattr(module, "moment_of", lambda *given: moment_of(*given)._replace(alive=alive()))
    for second in range(0, 7 * 86400, 30):
        rounds[0] += 1
        recorder._clock = lambda now=2e9 + second: now
        recorder.looked()
    sizes = [os.path.getsize(name) for name in (path, path + ".1") if os.path.exists(name)]
    assert 1e6 < sum(sizes) < 20e6
    assert len(load(path).last.moments) >= 1000


FORKING = """
import os, sys, tfmemwatch
watch = tfmemwatch.install(record="run.tfmw", sample_seconds=0.02)
def looked():
    until = watch.state.looks + 3
    while watch.state.looks < until: pass
looked()
child = os.fork()
if child == 0:
    looked()
    sys.exit()
os.waitpid(child, 0)
brief = os.fork()
if brief == 0:
    os._exit(0)
os.waitpid(brief, 0)
looked()
"""


@pytest.mark.slow
def test_a_forked_child_records_beside_its_parent(tmp_path):
    """From its first look on: one that ends at once has no file."""
    environ = dict(os.environ, PYTHONPATH=TREE)
    subprocess.run([sys.executable, "-c", FORKING], cwd=str(tmp_path), env=environ, check=True)
    parent = load(str(tmp_path / "run.tfmw")).last
    _, (child,) = with_children(str(tmp_path / "run.tfmw"))
    assert parent.ended == child.last.ended == "the program ended"
    assert child.last.events[0].text == "this process was forked from process %d" % parent.pid
    assert len(os.listdir(str(tmp_path))) == 2


KILLED = """
import os, signal, tfmemwatch
watch = tfmemwatch.install(record="run.tfmw", sample_seconds=0.02)
while watch.state.looks < 20: pass
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_a_program_that_is_killed_leaves_what_it_has_recorded(tmp_path):
    """And the next one goes on in the same file."""
    environ = dict(os.environ, PYTHONPATH=TREE)
    for number in (1, 2):
        subprocess.run([sys.executable, "-c", KILLED], cwd=str(tmp_path), env=environ)
        found = load(str(tmp_path / "run.tfmw"))
        assert len(found.runs) == number
        assert found.last.ended == "" and len(found.last.moments) > 5
        assert "no end is recorded: it was killed, or still runs" in found.last.title


def test_a_recorder_that_was_never_started_can_be_stopped(recorded, tmp_path):
    """As every part of an install that was interrupted."""
    one = Recorder(recorded[0], str(tmp_path / "other.tfmw"))
    one.stop()
    one.stop()
