"""A forked child starts empty, and is watched like any process."""

import gc
import json
import os
import select
import signal
import threading
import weakref

import pytest

from tfmemwatch.config import Config
from tfmemwatch.model import Key, Site
from tfmemwatch.monitor.watch import Watch
from tfmemwatch.safety import forks

AT = Site("train.py", 41, "step")
LONGEST_SECONDS = 20

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


class Thing:
    """Something that lives."""


def in_child(question):
    """What a forked child answers; a child that hangs is ended, and fails the test."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writing, json.dumps(question()).encode())
        except BaseException as error:
            os.write(writing, json.dumps(repr(error)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    try:
        ready, _, _ = select.select([reading], [], [], LONGEST_SECONDS)
        answer = os.read(reading, 65536) if ready else b'"the child hangs"'
    finally:
        os.close(reading)
        if not os.waitpid(child, os.WNOHANG)[0]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return json.loads(answer.decode())


class Looked:
    """A probe that says when the thread has looked."""

    name = "looked"  # real probes stand before it where a test before this one has imported TensorFlow

    def __init__(self):
        self.start_afresh()

    def start_afresh(self):
        self.happened = threading.Event()

    def read(self):
        self.happened.set()

    def install_keras(self):
        pass

    def uninstall(self):
        pass


@pytest.fixture
def watch():
    """A watch that samples often, with one thing alive in its ledger."""
    watch = Watch(Config(sample_seconds=0.01))
    watch.start()
    watch.probes.append(Looked())
    yield watch
    watch.stop()


def test_the_child_starts_empty(watch):
    """What the parent made is not the child's; and what the child makes is."""
    thing = Thing()
    watch.ledger.born("variable", AT, thing)

    def question():
        before = len(watch.ledger.read())
        watch.ledger.born("variable", AT, thing)
        return before, watch.ledger.read()[Key("variable", AT)].alive

    assert in_child(question) == [0, 1]
    assert watch.ledger.read()[Key("variable", AT)].alive == 1


def test_the_thread_looks_again_in_the_child(watch):
    """A fork copies no thread: the child gets one of its own."""
    assert watch.probes[-1].happened.wait(LONGEST_SECONDS)

    def question():
        names = [thread.name for thread in threading.enumerate()]
        return watch.probes[-1].happened.wait(LONGEST_SECONDS), names.count("tfmemwatch")

    assert in_child(question) == [True, 1]


def test_a_fork_while_our_lock_is_held_does_not_hang_the_child(watch):
    """Another thread was counting at that moment; it is not there to let go of the lock."""

    def question():
        watch.ledger.happened("retrace", AT)
        return watch.ledger.read()[Key("retrace", AT)].born

    with watch.ledger._lock, watch.state.probes.reading:
        answer = in_child(question)
    assert answer == 1


def test_the_child_can_uninstall(watch):
    """It stops its own thread and gives back its own file."""

    def question():
        watch.stop()
        return [thread.name for thread in threading.enumerate() if thread.name == "tfmemwatch"]

    assert in_child(question) == []


def test_the_child_of_a_child_is_watched_too(watch):
    """As with a server that forks workers that fork."""
    assert in_child(lambda: in_child(lambda: watch.probes[-1].happened.wait(LONGEST_SECONDS))) is True


def test_a_watch_that_was_stopped_stays_off_in_the_child(watch):
    """A fork does not switch on again what the program has switched off."""
    watch.stop()
    names = in_child(lambda: [thread.name for thread in threading.enumerate()])
    assert "tfmemwatch" not in names


def test_a_watch_that_has_gone_is_not_told_of_forks():
    """Installing and uninstalling many times leaves nothing behind."""
    watches = [Watch(Config()) for _ in range(5)]
    for one in watches:
        forks.in_child(one._start_afresh)
    gone = [weakref.ref(one) for one in watches]
    del watches, one
    gc.collect()
    last = Watch(Config())
    forks.in_child(last._start_afresh)
    assert [ref() for ref in gone] == [None] * 5
    assert [listener() for listener in forks._listeners].count(None) == 0
