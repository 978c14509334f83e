"""`tfmemwatch.recycle()`: a worker that is nearly out of memory finishes its requests and is replaced."""

import http.client
import os
import signal
import socket
import sys
import threading
from pathlib import Path

import pytest
from parts import installed
from servers import eventually, free_port, read, running

import tfmemwatch
from tfmemwatch.memory.limits import Limit
from tfmemwatch.monitor import recycling
from tfmemwatch.monitor.supervisor import Place, place
from tfmemwatch.safety.sibling_lock import SiblingLock

TREE = Path(__file__).resolve().parents[2]
GIB = 1 << 30


class Machine:
    """A clock, a process and a container of 4 GiB, as a test wants them."""

    def __init__(self, name, **asked):
        self.now, self.own, self.used, self.told = 0.0, GIB, 2 * GIB, []
        self.place = Place()
        settings = {"at": 0.9, "on_full": self.told.append, "supervised": False, "startup_seconds": 60, **asked}
        self.lock = SiblingLock(name)
        self.recycling = recycling.Recycling(
            recycling.wish(**settings), lambda: self.own, list, self, lambda: self.now, lambda: self.place, self.lock
        )

    def read(self):
        return [Limit("container limit", 4 * GIB, self.used, True)]

    def passes(self, seconds):
        for _ in range(seconds):
            self.now += 1
            self.recycling.look()

    def fills(self, share=0.91):
        """After a quiet start-up."""
        self.passes(70)
        self.own, self.used = GIB + (1 << 28), int(share * 4 * GIB)


@pytest.fixture
def machine(request):
    made = []

    def make(**asked):
        made.append(Machine("%s-%d" % (request.node.name, os.getpid()), **asked))
        return made[-1]

    yield make
    for one in made:
        one.recycling.leave()


def test_a_worker_that_is_full_is_told_once(machine, caplog):
    """One warning, with the limit, its share, and what the process has gained."""
    one = machine()
    one.fills()
    one.passes(100)
    (reason,) = one.told
    assert "91 % of the container limit of 4 GiB is used, 256 MiB of it gained by this process since" in reason
    assert [record.levelname for record in caplog.records] == ["WARNING"] and reason in caplog.text


def test_a_swing_is_no_reason(machine):
    """A reading or two above the share: a large batch."""
    one = machine()
    one.fills()
    for _ in range(20):
        one.used = int(0.91 * 4 * GIB)
        one.passes(2)
        one.used = 2 * GIB
        one.passes(2)
    assert one.told == []


def test_what_a_new_worker_would_not_give_back_is_no_reason(machine):
    """Memory of others, and that of the start-up: a new worker would be as full, and be replaced again and again."""
    one = machine()
    one.passes(70)
    one.used = int(0.97 * 4 * GIB)
    one.passes(100)
    other = machine()
    other.own, other.used = 3 * GIB, int(0.93 * 4 * GIB)
    other.passes(200)
    assert one.told == other.told == []


def test_workers_end_one_after_another(machine):
    """While one is ending, and for ten seconds more, the next one waits; unless the limit is very near."""
    first, second, third = machine(), machine(), machine()
    for one in (first, second, third):
        one.fills()
    first.passes(5)
    second.passes(60)
    assert len(first.told) == 1 and second.told == []
    third.used = int(0.96 * 4 * GIB)
    third.passes(1)
    assert len(third.told) == 1
    first.lock.give_back()  # its process has ended
    third.lock.give_back()
    second.passes(8)
    assert second.told == []
    second.passes(4)
    assert len(second.told) == 1


def test_a_worker_that_has_gone_at_once_is_waited_for(machine):
    """Those that fill at the same time know that it went; else none would serve while it starts anew."""
    first, second = machine(), machine()
    for one in (first, second):
        one.fills()
    for _ in range(5):
        first.passes(1)
        second.passes(1)
    assert len(first.told) == 1
    first.lock.give_back()
    second.passes(9)
    assert second.told == []
    second.passes(3)
    assert len(second.told) == 1


def test_nothing_ends_that_nobody_starts_again(machine, caplog):
    """A script is told that it is full, once, and goes on; a master of workers goes on in silence."""
    script, master = machine(on_full=None), machine()
    master.place = Place(is_master=True)
    for one in (script, master):
        one.fills()
        one.passes(50)
    assert len(caplog.records) == 1 and master.told == []
    assert "the process is not replaced: nobody is known who starts it again" in caplog.text


def test_a_process_that_is_supervised_gets_sigterm(machine, caplog):
    """Once; and what it does about it is its own."""
    got = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: got.append(number))
    try:
        one = machine(on_full=None, supervised=True)
        one.fills()
        one.passes(50)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert got == [signal.SIGTERM]
    assert "for whoever started it to replace it" in caplog.text


def test_a_process_that_ignores_sigterm_is_told_so(machine, caplog):
    """It would never end."""
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        one = machine(on_full=None, supervised=True)
        one.place = place()
        one.fills()
        one.passes(50)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert "the process is not replaced: it ignores SIGTERM; give recycle() an on_full" in caplog.text


@pytest.mark.parametrize(
    ("asked", "said"),
    [({"at": 1.5}, "at=1.5; it must be a share"), ({"on_full": 3}, "on_full=3; it must be a function"),
     ({"supervised": "gunicorn"}, "supervised='gunicorn'"), ({"startup_seconds": -1}, "startup_seconds=-1")],
)  # fmt: skip
def test_what_means_nothing_is_an_error(asked, said):
    """Before anything is done, with the argument, its value and what is allowed."""
    with pytest.raises(tfmemwatch.ConfigError, match="recycle.. has " + said):
        tfmemwatch.recycle(**asked)


def test_it_belongs_to_install():
    """Without, it is an error; `uninstall()` takes it back, and another call replaces it."""
    with pytest.raises(RuntimeError, match="install"):
        tfmemwatch.recycle()
    watch = tfmemwatch.install(log=False)
    tfmemwatch.recycle()
    tfmemwatch.recycle(at=0.8)
    assert len(watch.on_wake) == 1
    tfmemwatch.uninstall()
    assert watch.on_wake == []


def test_a_forked_child_is_not_replaced(machine):
    """It is a helper of the process that asked, and nobody starts it again."""
    one = machine()
    one.fills()
    child = os.fork()
    if not child:
        one.passes(200)
        os._exit(len(one.told))
    assert os.waitpid(child, 0)[1] == 0


APP = """
import os, resource, time
import tfmemwatch

PAGE = resource.getpagesize()

def data():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[5]) * PAGE

MOST = data() + (200 << 20)
resource.setrlimit(resource.RLIMIT_DATA, (MOST, MOST))
kept, leaks_at = [], [time.monotonic()]
tfmemwatch.install(sample_seconds=1)
tfmemwatch.recycle(at=0.8, startup_seconds=0)

def answer(path):
    if path == "/slow":
        time.sleep(0.3)
    while data() < 0.85 * MOST and time.monotonic() > leaks_at[0]:  # so that it takes some seconds
        leaks_at[0] += 0.03
        kept.append(b"x" * (1 << 20))
    return b"%d" % os.getpid()

def app(environ, start_response):
    body = answer(environ["PATH_INFO"])
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]

async def served(scope, receive, send):
    if scope["type"] == "http":
        body = answer(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})
"""
GUNICORN = ["-m", "gunicorn", "-w", "2", "-b", "127.0.0.1:{port}"]
SERVERS = {
    "sync": (["gunicorn"], [*GUNICORN, "app:app"], "gunicorn", False),
    "gthread": (["gunicorn"], [*GUNICORN, "-k", "gthread", "--threads", "3", "app:app"], "gunicorn", False),
    # uvicorn closes a connection that it has accepted and not read from when it ends, whoever ends it.
    "uvicorn": (["uvicorn"], ["-m", "uvicorn", "--workers", "2", "--port", "{port}", "app:served"], "uvicorn", True),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SERVERS)
def test_a_server_under_load_replaces_its_worker_and_loses_no_request(tmp_path, kind):
    """Requests that are under way are finished, a new worker serves, and the log says why."""
    parts, command, server, asks_again = SERVERS[kind]
    installed(*parts)
    (tmp_path / "app.py").write_text(APP)
    port, stop = free_port(), threading.Event()
    words = [sys.executable, *(word.format(port=port) for word in command)]
    pids, lost = set(), []

    def ask(path):
        while not stop.wait(0.01):
            try:
                pids.add(_asked(port, path, asks_again))
            except (OSError, http.client.HTTPException) as error:
                lost.append((path, error))

    environ = {**os.environ, "PYTHONPATH": str(TREE)}
    with running(words, cwd=str(tmp_path), env=environ) as program:
        eventually(lambda: read(port, "/"))
        threads = [threading.Thread(target=ask, args=(path,)) for path in ("/", "/slow", "/slow", "/slow", "/slow")]
        for thread in threads:
            thread.start()
        try:
            eventually(lambda: len(pids) >= 3)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
    assert lost == []
    ends = [line for line in program.said.splitlines() if "for %s to replace it" % server in line]
    assert 1 <= len(ends) <= len(pids) and all("WARNING tfmemwatch: process " in line for line in ends)
    assert "% of the limit of data (ulimit -d) of" in ends[0]
    assert len({line.split(":")[1] for line in ends}) == len(ends)  # each once


def _asked(port, path, asks_again):
    """Once more, if it is wished, where a connection was closed before anything was sent back: as proxies do."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as one:
        try:
            one.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % path.encode())
            answer = http.client.HTTPResponse(one)
            answer.begin()
            return int(answer.read())
        except ConnectionError:  # RemoteDisconnected is one
            if not asks_again:
                raise
    return _asked(port, path, False)
