"""Many workers: one sum, no dead ones alive, no files that pile up."""

import contextlib
import http.client
import os
import re
import signal
import sys
import threading
import time
import urllib.error
from pathlib import Path

import pytest
from parts import installed
from servers import LONGEST_SECONDS, eventually, free_port, read, running, scrape, values

import tfmemwatch
from tfmemwatch import catalog
from tfmemwatch.errors import ConfigError
from tfmemwatch.outputs import workers
from tfmemwatch.outputs.all_workers import AllWorkers
from tfmemwatch.outputs.series import Family
from tfmemwatch.outputs.workers import Slot, sweep

pytest.importorskip("fcntl", reason="such servers run where there is fcntl")
TREE = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path, needs):
    """A folder that workers share."""
    needs("prometheus_client.multiprocess")
    return str(tmp_path)


@pytest.fixture
def slot(folder):
    """Make workers, as far as the folder is concerned."""
    return lambda: Slot(folder, most=50)


def families(**values):
    """Families of one sample each, by the last part of a metric's name."""
    return [
        Family(metric, [(tuple("x" for _ in metric.labels), float(value))])
        for name, value in values.items()
        for metric in [catalog.BY_NAME["tfmemwatch_" + name]]
    ]


def together(folder):
    """What a scrape of all workers shows, by name and `pid`."""
    return {
        (sample.name, sample.labels.get("pid", "")): sample.value
        for family in AllWorkers(folder).collect()
        for sample in family.samples
    }


def test_workers_are_added_up_as_the_catalogue_says(folder, slot):
    """Counters and levels are summed, ages are the largest, limits the least, memory is each worker's own."""
    one, two = slot(), slot()
    one.write(families(retraces_total=3, live_variables=10, oldest_session_seconds=50, memory_bytes=100, limit_bytes=9))
    two.write(families(retraces_total=4, live_variables=20, oldest_session_seconds=70, memory_bytes=200, limit_bytes=8))
    shown = together(folder)
    assert shown["tfmemwatch_retraces_total", ""] == 7
    assert shown["tfmemwatch_live_variables", ""] == 30
    assert shown["tfmemwatch_oldest_session_seconds", ""] == 70
    assert shown["tfmemwatch_limit_bytes", ""] == 8
    assert shown["tfmemwatch_memory_bytes", "tfmemwatch0"] == 100
    assert shown["tfmemwatch_memory_bytes", "tfmemwatch1"] == 200


@pytest.mark.parametrize("metric", catalog.METRICS, ids=lambda metric: metric.name)
def test_every_metric_gets_through(folder, slot, metric):
    """Each row of the catalogue is there with its own type and help."""
    slot().write([Family(metric, [(tuple('a"b' for _ in metric.labels), 2.0)])])
    (shown,) = AllWorkers(folder).collect()
    assert (shown.type, shown.documentation) == (metric.type, metric.help)
    assert [(one.name, one.value) for one in shown.samples] == [(metric.name, 2.0)]


def test_what_has_gone_in_a_worker_has_no_series(folder, slot):
    """A label set that is no longer written is no longer read."""
    one = slot()
    one.write(families(live_variables=10, live_models=1))
    one.write(families(live_models=2))
    assert together(folder) == {("tfmemwatch_live_models", ""): 2}


def test_what_was_alive_in_a_worker_that_has_ended_is_swept_and_its_counts_stay(folder, slot):
    """A sum never falls: Prometheus would take that for a restart of all."""
    one, two = slot(), slot()
    one.write(families(retraces_total=3, live_variables=10))
    two.write(families(retraces_total=4, live_variables=20))
    one._lock.give_back()  # what the kernel does for a worker that was killed
    assert sweep(folder) == [0]
    assert together(folder) == {("tfmemwatch_retraces_total", ""): 7, ("tfmemwatch_live_variables", ""): 20}
    assert sweep(folder) == []


def test_the_next_worker_counts_on(folder, slot):
    """It takes the slot of one that has ended, so files do not pile up, and nothing is counted twice or lost."""
    first = slot()
    for _ in range(5):
        worker = slot()
        worker.write(families(retraces_total=4, live_variables=20))
        worker._lock.give_back()
    assert first.number is None
    assert together(folder)["tfmemwatch_retraces_total", ""] == 20
    assert together(folder)["tfmemwatch_live_variables", ""] == 20
    assert len(list(Path(folder).glob("*.db"))) == 5


def test_a_worker_that_leaves_takes_what_was_alive_along(folder, slot):
    """`uninstall()` does not wait for the others to sweep."""
    one = slot()
    one.write(families(retraces_total=3, live_variables=10))
    one.leave()
    assert together(folder) == {("tfmemwatch_retraces_total", ""): 3}


def test_what_only_earlier_workers_counted_stays_counted(folder, slot):
    """A line that is not reached again does not take its count along."""
    one = slot()
    one.write(families(retraces_total=3))
    one._lock.give_back()
    slot().write(families(compiles_total=1))
    assert together(folder) == {("tfmemwatch_retraces_total", ""): 3, ("tfmemwatch_compiles_total", ""): 1}


def compiled(**counts):
    """A counter's family, by line."""
    return [Family(catalog.BY_NAME["tfmemwatch_compiles_total"], [((line,), count) for line, count in counts.items()])]


def test_a_line_that_one_worker_no_longer_shows_falls_in_no_sum(folder, slot):
    """It lost its name to one that grows faster, and the other workers still show theirs; back again, it counts on."""
    one, two = slot(), slot()
    two.write(compiled(a=1.0))
    seen = []
    for counts in ({"a": 10.0}, {"b": 5.0}, {"b": 5.0, "a": 2.0}, {"b": 6.0}, {"a": 1.0}):
        one.write(compiled(**counts))
        (shown,) = AllWorkers(folder).collect()
        seen.append({sample.labels["site"]: sample.value for sample in shown.samples})
    assert [now["a"] for now in seen] == [11, 11, 13, 13, 14]
    assert [now.get("b") for now in seen] == [None, 5, 5, 6, 6]


@pytest.mark.parametrize("what", ["*", "*.db"])
def test_a_folder_that_is_emptied_is_filled_again(folder, slot, what):
    """Some programs wipe it when they start, in each of their workers."""
    one, two = slot(), slot()
    one.write(families(retraces_total=3))
    for path in list(Path(folder).glob(what)):
        path.unlink()
    two.write(families(retraces_total=4))
    one.write(families(retraces_total=3))
    assert together(folder) == {("tfmemwatch_retraces_total", ""): 7}


@pytest.mark.slow
def test_a_scrape_never_meets_half_a_file(folder, slot, monkeypatch):
    """Readers and writers at full speed: each scrape is whole."""
    worker, wrong, stop = slot(), [], threading.Event()

    def write():
        for turn in range(400):
            worker.write(families(retraces_total=turn + 1, **({"live_models": 1} if turn % 2 else {"live_graphs": 1})))
        stop.set()

    writer = threading.Thread(target=write)
    worker.write(families(retraces_total=1))
    writer.start()
    before = 0.0
    while not stop.is_set():
        now = together(folder)["tfmemwatch_retraces_total", ""]
        if now < before:
            wrong.append((before, now))
        before = now
    writer.join()
    assert wrong == []


def test_what_earlier_workers_counted_has_a_bound(folder, slot, monkeypatch):
    """Lines of code come and go with every deployment; the file does not grow with them for ever."""
    metric = catalog.BY_NAME["tfmemwatch_compiles_total"]
    for turn in range(10):
        worker = slot()
        worker.write([Family(metric, [(("train.py:%d f()" % (50 * turn + n),), 1.0) for n in range(50)])])
        worker._lock.give_back()
    (shown,) = AllWorkers(folder).collect()
    assert len(shown.samples) <= (workers._MOST_CARRIED + 1) * 50 + 1
    assert sum(sample.value for sample in shown.samples) == 500  # the rest is `other`, and no sum falls


@pytest.mark.parametrize("place", ["missing", "/proc", "a file"])
def test_a_folder_that_can_not_be_written_to_is_an_error_and_nothing_is_installed(tmp_path, monkeypatch, place):
    """The message names the variable, its value and what it must be."""
    path = tmp_path / place
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(path))
    threads = threading.active_count()
    with pytest.raises(ConfigError, match="PROMETHEUS_MULTIPROC_DIR is '%s'; it must be a folder" % path):
        tfmemwatch.install()
    assert (tfmemwatch.current(), threading.active_count()) == (None, threads)


def test_a_folder_that_fills_up_while_one_installs_is_an_error_and_nothing_is_installed(folder, monkeypatch):
    """Neither the thread nor the metrics are left behind."""
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", folder)

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Slot, "write", full)
    threads = threading.active_count()
    with pytest.raises(ConfigError, match="No space left"):
        tfmemwatch.install()
    assert (tfmemwatch.current(), threading.active_count()) == (None, threads)


@pytest.mark.slow
def test_workers_share_one_port(folder, monkeypatch):
    """One of them has it and shows all; the next one takes it when that has ended, with its next look."""
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", folder)
    port = free_port()
    program = (
        "import sys, tfmemwatch; watch = tfmemwatch.install(port=%d, sample_seconds=3600)\n"
        "for _ in sys.stdin: watch.look(); print(tfmemwatch.port(), flush=True)" % port
    )
    command = [sys.executable, "-c", program]
    environ = {**os.environ, "PYTHONPATH": str(TREE)}
    with running(command, at_once=True, env=environ) as one, running(command, at_once=True, env=environ) as two:
        for worker in (one, two):
            worker.is_told("look")
            worker.hears("\n")
        assert sorted((one.said, two.said)) == sorted(("%d\n" % port, "None\n"))
        assert count(scrape(port), RESIDENT) == 2
        holder, heir = (one, two) if two.said == "None\n" else (two, one)
        holder.end(at_once=True)
        heir.is_told("look")
        heir.hears("%d\n" % port)
        assert scrape(port)["tfmemwatch_build_info"] == 1


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_is_a_worker_of_its_own(folder, monkeypatch):
    """It takes a slot when it looks, leaves its parent's alone, and is swept when it has ended."""
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", folder)
    watch = tfmemwatch.install(sample_seconds=3600)
    watch.look()
    done, finish = os.pipe()
    is_there, tell = os.pipe()
    child = os.fork()
    if not child:
        os.close(finish)
        watch.look()
        os.write(tell, b".")
        os.read(done, 1)
        os._exit(0)
    os.close(done)
    os.read(is_there, 1)
    with_child = together(folder)
    os.close(finish)
    os.waitpid(child, 0)
    watch.look()
    for end in (is_there, tell):
        os.close(end)
    places = [pid for name, pid in with_child if name == "tfmemwatch_resident_bytes"]
    assert sorted(places) == ["tfmemwatch0", "tfmemwatch1"]
    assert [pid for name, pid in together(folder) if name == "tfmemwatch_resident_bytes"] == ["tfmemwatch0"]
    tfmemwatch.uninstall()
    assert not [name for name, pid in together(folder) if pid]


# -- real servers


@pytest.fixture
def serve(tmp_path):
    """Start a server with one of its workers' modules; it is ended after the test."""
    with contextlib.ExitStack() as ending:

        def started(command, files, **environ):
            for name, text in files.items():
                (tmp_path / name).write_text(text)
            shared = tmp_path / "shared"
            shared.mkdir()
            places = os.pathsep.join([str(TREE), str(tmp_path)])
            environ = {**os.environ, "PYTHONPATH": places, "PROMETHEUS_MULTIPROC_DIR": str(shared),
                       "TFMEMWATCH_SAMPLE_SECONDS": "0.2", "HOME": str(tmp_path), **environ}  # fmt: skip
            server = ending.enter_context(running([sys.executable, *command], cwd=str(tmp_path), env=environ))
            return server, shared

        yield started


FLASK = """
import os
import flask
import prometheus_client
from prometheus_client import multiprocess
import tensorflow as tf

app = flask.Flask(__name__)
kept = []

@tf.function
def score(x, boost):
    return x * boost

@app.get("/score/<int:n>")
def scored(n):
    kept.append(tf.Variable(1.0))
    score(tf.ones(2), n % 5)
    return str(os.getpid())

@app.get("/metrics")
def metrics():
    registry = prometheus_client.CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)
    return flask.Response(prometheus_client.generate_latest(registry), mimetype="text/plain")
"""


GUNICORN = """
from tfmemwatch.gunicorn import child_exit, post_fork

workers, worker_class, threads, graceful_timeout = 4, "gthread", 2, 1
"""


@pytest.mark.slow
def test_gunicorn_workers_that_are_killed_under_load_leave_no_series(serve):
    """No counter falls in any scrape, what was alive in the dead is gone, each worker is there once, files swept."""
    installed("tensorflow", "flask", "gunicorn")
    port = free_port()
    command = ["-m", "gunicorn", "-c", "conf.py", "-b", "127.0.0.1:%d" % port, "app:app"]
    server, shared = serve(command, {"app.py": FLASK, "conf.py": GUNICORN}, TFMEMWATCH_EVIDENCE="0")
    pids, killed, stop = set(), set(), threading.Event()

    def load(first):
        for n in range(first, 10**9, 3):
            if stop.is_set():
                return
            stop.wait(0.01)  # some hundred requests a second are load enough
            with contextlib.suppress(OSError, http.client.HTTPException):  # of a worker that was killed
                pids.add(int(read(port, "/score/%d" % n)))

    seen, falls, scrapes, scraped = {}, [], [], threading.Condition()

    def watch_counters():
        """Scrape on and on, through deaths and sweeps: every answer is whole, and no counter is less than it was."""
        while not stop.wait(0.05):
            try:
                text = read(port)
            except urllib.error.HTTPError as error:
                falls.append(str(error))
                continue
            except (OSError, http.client.HTTPException):  # who was to answer was killed
                continue
            now = counters(text)
            falls.extend((name, value, now.get(name)) for name, value in seen.items() if now.get(name, 0) < value)
            seen.update(now)
            with scraped:
                scrapes.append(values(text))
                scraped.notify_all()

    def settled():
        """A scrape in which four workers that have answered have all looked since: what a kill takes is known."""
        since = time.time()

        def is_settled():
            nonlocal since
            if len(pids - killed) < 4 or not scrapes:
                since = time.time()
                return False
            looked = [at for name, at in scrapes[-1].items() if name.startswith(LAST_LOOK)]
            return len(looked) == count(scrapes[-1], RESIDENT) == 4 and min(looked) > since

        with scraped:
            assert scraped.wait_for(is_settled, LONGEST_SECONDS)
            return scrapes[-1]

    server.hears("listening at")
    threads = [threading.Thread(target=load, args=(n,)) for n in (1, 2, 3)]
    threads.append(threading.Thread(target=watch_counters))
    for thread in threads:
        thread.start()
    try:
        before = settled()
        for pid in sorted(pids)[:3]:
            os.kill(pid, signal.SIGKILL)
            killed.add(pid)
        after = settled()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    print("before: %d series; after three kills: %d" % (len(before), len(after)), sorted(os.listdir(str(shared))))
    print("%d scrapes, %d counters" % (len(scrapes), len(seen)))
    assert falls == []
    assert len(scrapes) > 20
    made = "tfmemwatch_variables_made_total"
    assert after[made] > before[made]
    assert before["tfmemwatch_live_variables"] == before[made]
    assert after["tfmemwatch_live_variables"] < after[made]
    assert len(list(shared.glob("*_tfmemwatch*.db"))) == 5 * 4


def counters(text):
    """Each counter of an exposition, by name and labels; which they are, the exposition itself says."""
    names = set(re.findall(r"^# TYPE (\S+) counter$", text, re.MULTILINE))
    series = (line.rsplit(" ", 1) for line in text.splitlines() if line[:1] != "#")
    found = {name: float(value) for name, value in series if name.split("{")[0] in names}
    assert found
    return found


LAST_LOOK = "tfmemwatch_last_look_timestamp_seconds{"
RESIDENT = re.compile(r"tfmemwatch_resident_bytes\{")


def count(shown, pattern):
    return sum(1 for name in shown if pattern.match(name))


FASTAPI = """
import fastapi
import prometheus_client
from prometheus_client import multiprocess
import tfmemwatch
import tensorflow as tf

tfmemwatch.install()
app = fastapi.FastAPI()
registry = prometheus_client.CollectorRegistry()
multiprocess.MultiProcessCollector(registry)
app.mount("/metrics", prometheus_client.make_asgi_app(registry))
kept = []

@app.get("/score/{n}")
def scored(n: int):
    kept.append(tf.Variable(1.0))
    return n
"""


@pytest.mark.slow
def test_uvicorn_workers_are_added_up(serve):
    """With `--workers 2` and nothing but `install()`."""
    installed("tensorflow", "fastapi", "uvicorn")
    port = free_port()
    command = ["-m", "uvicorn", "app:app", "--workers", "2", "--port", str(port)]
    server, _ = serve(command, {"app.py": FASTAPI})
    server.hears("application startup complete", times=2)
    for n in range(40):
        read(port, "/score/%d" % n)
    shown = eventually(lambda: (lambda shown: shown.get("tfmemwatch_live_variables") == 40 and shown)(scrape_at(port)))
    assert shown["tfmemwatch_variables_made_total"] == 40
    assert count(shown, RESIDENT) == 2


def scrape_at(port):
    with_slash = read(port, "/metrics/")
    assert with_slash
    return scrape(port)
