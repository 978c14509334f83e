"""Exports start and stop as a whole: whatever raises or interrupts, nothing of them is left."""

import socket
import threading
import time
import types

import pytest
from interrupting import interrupted_at, sockets

import tfmemwatch
from tfmemwatch import config
from tfmemwatch.errors import ConfigError
from tfmemwatch.monitor import exported_values, job_end
from tfmemwatch.monitor.exports import Export
from tfmemwatch.monitor.program_registry import ProgramRegistry
from tfmemwatch.monitor.watch import Watch
from tfmemwatch.outputs.server import Server
from tfmemwatch.seams import imports


@pytest.fixture
def client(needs):
    return needs("prometheus_client")


class Left:
    """What there is now, and what of an export's is left of it later."""

    def __init__(self, registry, monkeypatch):
        self._registry = registry
        self._exits = exits = []  # the interpreter does not say how many there are

        def unregister(function):
            exits[:] = [other for other in exits if other != function]

        monkeypatch.setattr(job_end, "atexit", types.SimpleNamespace(register=exits.append, unregister=unregister))
        self._sockets = sockets()
        self._threads = threading.active_count()

    def __call__(self):
        """In words; nothing where all is as it was."""
        waiting = [ref() for refs in imports._waiting.values() for ref in refs]
        listeners = [one for one in waiting if isinstance(_owner(one), ProgramRegistry)]
        end = time.monotonic() + 5
        while threading.active_count() > self._threads and time.monotonic() < end:
            time.sleep(0.001)  # a thread has ended its work, and not yet its life
        return {
            "sockets": sockets() - self._sockets,
            "threads": threading.active_count() - self._threads,
            "exits": len(self._exits),
            "registered": len(self._registry._collector_to_names),
            "listeners": len(listeners),
        }


def _owner(method):
    return getattr(method, "__self__", None)


FILES = (
    "monitor/exports.py", "monitor/exported_values.py", "monitor/job_end.py", "monitor/program_registry.py",
    "monitor/served_port.py", "outputs/server.py", "outputs/prometheus.py",
)  # fmt: skip
NOTHING = {"sockets": 0, "threads": 0, "exits": 0, "registered": 0, "listeners": 0}


def test_ctrl_c_at_any_line_of_a_start_or_stop_leaves_nothing(client, tmp_path, monkeypatch):
    """No descriptor, thread, registry entry or exit handler: after the stop() that follows, or that was interrupted."""
    registry = client.CollectorRegistry()
    left, line, ways = Left(registry, monkeypatch), 0, 0
    is_there = "yes"
    while is_there:
        watch = Watch(config.load({"sample_seconds": 3600, "registry": registry, "port": 0,
                                   "textfile": str(tmp_path / "job.prom")}))  # fmt: skip
        made = []

        def from_the_start(watch=watch, made=made):
            made.append(Export(watch, "0"))
            made[0].start()
            made[0].stop()
            made.clear()

        is_there = interrupted_at(line, from_the_start, FILES)
        for one in made:
            one.stop()
        watch.process.close()
        assert left() == NOTHING, "interrupted at " + is_there
        line += 1
        ways += bool(is_there)
    assert ways > 100


STEPS = (
    "_job_end.not_at_exit", "_job_end.leave", "_silence", "_no_listening", "_registry.no_hook", "_registry.leave",
    "_port.no_server", "_port.no_turn",
)  # fmt: skip


@pytest.mark.parametrize("error", [ZeroDivisionError, SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("step", STEPS)
def test_stop_takes_every_step_whatever_one_of_them_raises(client, failures, monkeypatch, step, error):
    """An exception is contained and counted; an interrupt or an exit goes on, after the last step."""
    registry = client.CollectorRegistry()
    left = Left(registry, monkeypatch)
    watch = Watch(config.load({"sample_seconds": 3600, "registry": registry, "port": 0}))
    one = Export(watch, "0")
    one.start()
    part, _, name = step.rpartition(".")
    owner = getattr(one, part) if part else one
    undo = getattr(owner, name)

    def broken():
        undo()
        raise error()

    monkeypatch.setattr(owner, name, broken)
    if error is ZeroDivisionError:
        one.stop()
        assert failures == {"end of the exports": 1}
    else:
        with pytest.raises(error):
            one.stop()
    watch.process.close()
    assert left() == NOTHING
    assert one._looked not in watch.after_look


def test_a_registry_that_is_mad_does_not_stop_uninstall(client, failures):
    """What the program's registry raises is contained; the port is given back, and TensorFlow left alone."""

    class Mad(client.CollectorRegistry):
        def unregister(self, collector):
            raise RuntimeError("mad")

    watch = tfmemwatch.install(sample_seconds=3600, registry=Mad(), port=0)
    port = tfmemwatch.port()
    tfmemwatch.uninstall()
    assert not watch.is_running
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))
    assert failures == {"end of the exports": 1}


def test_a_port_that_is_refused_leaves_no_socket(client):
    """However often one tries."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        before = sockets()
        for _ in range(20):
            with pytest.raises(ConfigError):
                tfmemwatch.install(port=taken.getsockname()[1])
        assert sockets() == before


def test_a_server_that_gets_no_descriptor_leaves_none(monkeypatch):
    """The port is given back where there is no second socket."""
    before = sockets()

    def none(*arguments):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(socket, "socketpair", none)
    with pytest.raises(OSError):
        Server(lambda accept: (b"", ""))
    assert sockets() == before


def test_a_server_that_was_stopped_does_not_start():
    """stop() of another thread may come before start()."""
    server = Server(lambda accept: (b"", ""))
    server.stop()
    server.start()
    server.stop()
    assert server._thread is None


# -- scrapes


@pytest.fixture
def one(client):
    tfmemwatch.install(sample_seconds=3600, registry=client.CollectorRegistry())
    return tfmemwatch.api._installations[0].export.values


def test_a_signal_handler_that_scrapes_in_a_scrape_does_not_wait(one, monkeypatch):
    """It gets what was said before: its own thread can't go on until it is done."""
    before = one.families()
    one._read_at, seen = None, []
    sample = one._watch.answers.sample

    def interrupted(seconds):
        began = time.monotonic()
        seen.append((one.families() is before, time.monotonic() - began < 0.5))
        return sample(seconds)

    monkeypatch.setattr(one._watch.answers, "sample", interrupted)
    assert one.families() is not before
    assert seen == [(True, True)]


def test_an_interrupt_that_takes_the_lock_along_costs_one_wait(one, monkeypatch):
    """Who was interrupted between taking it and using it never gives it back; the next but one scrape is fresh."""
    monkeypatch.setattr(exported_values, "_FRESH_SECONDS", 0.01)
    before = one.families()
    one._lock.acquire()
    assert one.families() is before
    time.sleep(0.02)
    assert one.families() is not before


@pytest.mark.usefixtures("one")
def test_who_imports_and_who_installs_register_once(failures):
    """Two threads at the same moment, without a lock that one of them could wait for, or lose."""
    registry = tfmemwatch.api._installations[0].export._registry
    registered = registry._registered
    threads = [threading.Thread(target=registry._client_imported) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert registry._registered is registered
    assert failures == {}
