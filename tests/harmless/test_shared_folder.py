"""The folder that workers share may be full, torn, planted or another user's: the program lives, and is scraped."""

import contextlib
import json
import os
import struct
import subprocess
import tempfile
from pathlib import Path

import own_process
import pytest
from interrupting import interrupted_at

from tfmemwatch import catalog
from tfmemwatch.outputs.all_workers import AllWorkers
from tfmemwatch.outputs.prometheus import page
from tfmemwatch.outputs.series import Family
from tfmemwatch.outputs.worker_lock import Lock
from tfmemwatch.outputs.workers import Slot, sweep

pytest.importorskip("fcntl", reason="such servers run where there is fcntl")
NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path)


def families(**values):
    """Families of one sample each, by the last part of a metric's name."""
    return [
        Family(metric, [(tuple("x" for _ in metric.labels), float(value))])
        for name, value in values.items()
        for metric in [catalog.BY_NAME["tfmemwatch_" + name]]
    ]


def written(folder, **values):
    slot = Slot(folder, most=50)
    slot.write(families(**values))
    return slot


def shown(folder):
    text, _ = page(AllWorkers(folder))("")
    return dict(line.rsplit(" ", 1) for line in text.decode().splitlines() if line[:1] != "#")


TORN = """
import os, sys, tfmemwatch
folder = os.environ["PROMETHEUS_MULTIPROC_DIR"]
watch = tfmemwatch.install(sample_seconds=3600)
watch.look()
sizes = {}
for name in os.listdir(folder):
    if name.endswith(".db"):
        sizes[name] = os.path.getsize(os.path.join(folder, name))
        os.truncate(os.path.join(folder, name), 0)
watch.ledger.happened("retrace", tfmemwatch.Site("a.py", 1, "f"))
tfmemwatch.api._installations[0].export.values._read_at = None
watch.look()
print(all(os.path.getsize(os.path.join(folder, name)) > 100 for name in sizes), len(sizes))
"""


def test_a_file_that_others_truncate_does_not_kill_the_program(folder):
    """Writing to a mapping of it would be SIGBUS; the next look makes it whole again."""
    assert own_process.said(TORN, PROMETHEUS_MULTIPROC_DIR=folder) == ["True 5"]


FULL = """
import logging, os, sys, tfmemwatch
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stdout)
folder = os.environ["PROMETHEUS_MULTIPROC_DIR"]
watch = tfmemwatch.install(sample_seconds=3600)
watch.look()
other = os.path.join(folder, "other")
def look():
    tfmemwatch.api._installations[0].export.values._read_at = None
    watch.look()
with open(other, "wb", buffering=0) as file:
    try:
        while True:
            file.write(bytes(4096))
    except OSError:
        pass
for line in range(3000):
    watch.ledger.happened("retrace", tfmemwatch.Site("/a/b%d.py" % line, line + 1, "f"), note="f%d" % line)
look()
look()
os.remove(other)
look()
tfmemwatch.uninstall()
print(dict(tfmemwatch.safety.guard.failures))
"""

FULL_AT_ONCE = """
import os, tfmemwatch
with open(os.path.join(os.environ["PROMETHEUS_MULTIPROC_DIR"], "other"), "wb", buffering=0) as file:
    try:
        while True:
            file.write(bytes(4096))
    except OSError:
        pass
try:
    tfmemwatch.install(sample_seconds=3600)
except tfmemwatch.ConfigError as error:
    print("No space left" in str(error), tfmemwatch.current())
"""


@pytest.fixture
def small():
    """A file system with room for 256 kB."""
    place = tempfile.mkdtemp()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", place], stderr=subprocess.DEVNULL)
    if mounted.returncode:
        os.rmdir(place)
        pytest.skip("this user may not mount a small file system")
    yield place
    subprocess.run(["umount", place], check=True)
    os.rmdir(place)


def test_a_disk_that_fills_up_is_said_once_and_healed_later(small):
    """No SIGBUS: it is an error of the system's, and as soon as there is room the values are written."""
    told = own_process.said(FULL, PROMETHEUS_MULTIPROC_DIR=small)
    assert [line[:7] for line in told if "this process" in line] == ["WARNING", "INFO th"]
    assert "No space left" in "".join(told)
    assert told[-1] == "{}"


def test_a_disk_that_is_full_is_said_by_install_and_nothing_is_installed(small):
    """The program runs on, unwatched."""
    assert own_process.said(FULL_AT_ONCE, PROMETHEUS_MULTIPROC_DIR=small) == ["True None"]


# -- files that are none


def one_key(words, value=1.0):
    key = json.dumps(words).encode()
    return raw_key(key, value)


def raw_key(key, value=1.0):
    key_and_room = key + b" " * (8 - (len(key) + 4) % 8)
    row = struct.pack("i", len(key)) + key_and_room + struct.pack("dd", value, 0.0)
    return struct.pack("ii", 8 + len(row), 0) + row


GOOD = ["tfmemwatch_retraces", "tfmemwatch_retraces_total", {"function": "f", "site": "x"}, "h"]
BAD = {
    "empty": b"",
    "three bytes": b"abc",
    "longer than it is": struct.pack("ii", 1 << 30, 0) + bytes(100),
    "less than nothing": struct.pack("ii", -5, 0) + bytes(100),
    "zeros": bytes(4096),
    "noise": bytes(range(256)) * 16,
    "a name beyond the end": struct.pack("iii", 100, 0, 1 << 30) + bytes(100),
    "a name of less than nothing": struct.pack("iii", 100, 0, -4) + bytes(100),
    "a name that ends in its value": raw_key(b"x" * 40)[:50],
    "no UTF-8": raw_key(b"\xff" * 12),
    "no JSON": raw_key(b"hello world!"),
    "brackets": raw_key(b"[" * 5000),
    "one word": one_key(["tfmemwatch_retraces"]),
    "a number": one_key(5),
    "another's name": one_key(["up", "up_total", {}, "h"]),
    "a name of two lines": one_key(["tfmemwatch_x", "tfmemwatch_x_total", {"a\n": "b"}, "h"]),
    "no name": one_key(["tfmemwatch_ x", "tfmemwatch_ x_total", {}, "h"]),
    "a label that is no name": one_key([*GOOD[:2], {"a b": "c"}, "h"]),
    "a label that is a list": one_key([*GOOD[:2], {"site": []}, "h"]),
    "half a character": one_key([*GOOD[:2], {"site": "\udcff"}, "h"]),
    "no number": one_key(GOOD, float("nan")),
    "a count that falls": one_key(GOOD, -1.0),
}


@pytest.mark.parametrize("what", BAD)
def test_one_bad_file_is_left_out_and_counted(folder, failures, what):
    """A scrape shows what all the others have written; it is never an error because of one file."""
    written(folder, retraces_total=3)
    Path(folder, "counter_tfmemwatch7.db").write_bytes(BAD[what])
    before = shown(folder)
    assert before['tfmemwatch_retraces_total{function="x",site="x"}'] == "3.0"
    assert len(before) == 1
    assert failures == {"the file of a worker": 1}


def test_a_bad_file_is_replaced_by_the_next_owner_of_its_slot(folder, failures):
    """Nothing of it is carried on."""
    for what in BAD:
        Path(folder, "counter_tfmemwatch0.db").write_bytes(BAD[what])
        written(folder, retraces_total=4)._lock.give_back()
        assert shown(folder) == {'tfmemwatch_retraces_total{function="x",site="x"}': "4.0"}, what
        os.remove(os.path.join(folder, "counter_tfmemwatch0.db"))
    assert failures == {}


def plant(folder, name, what):
    path = os.path.join(folder, name)
    if what == "folder":
        os.mkdir(path)
    elif what == "pipe":
        os.mkfifo(path)
    else:
        target = {"device": "/dev/zero", "link": os.path.join(folder, "precious"), "to nowhere": "/nowhere/at/all"}
        os.symlink(target[what], path)


PLANTED = ("folder", "pipe", "device", "link", "to nowhere")


@pytest.mark.parametrize("what", PLANTED)
@pytest.mark.parametrize("name", ["counter_tfmemwatch0.db", "gauge_livesum_tfmemwatch0.db", "tfmemwatch0.lock",
                                  "counter_tfmemwatch0.db.new"])  # fmt: skip
def test_what_stands_in_the_place_of_a_file_is_not_followed(folder, failures, name, what):
    """A link, a folder, a pipe or a device: the worker's values are written, and what a link names is not touched."""
    Path(folder, "precious").write_text("precious")
    plant(folder, name, what)
    worker = written(folder, retraces_total=3, live_variables=2) if name[-4:] != ".new" or what != "folder" else None
    if worker is None:  # the one thing that nobody can take away: it is said, and the program goes on
        with pytest.raises(OSError):
            written(folder, retraces_total=3)
        return
    sweep(folder)
    values = shown(folder)
    assert values['tfmemwatch_retraces_total{function="x",site="x"}'] == "3.0"
    assert values['tfmemwatch_live_variables{site="x"}'] == "2.0"
    assert Path(folder, "precious").read_text() == "precious"
    worker.leave()


def test_one_lock_that_is_none_stops_no_sweep(folder):
    """What was alive in the others that have ended is removed all the same."""
    worker = written(folder, live_variables=2)
    os.mkdir(os.path.join(folder, "tfmemwatch5.lock"))
    Path(folder, "gauge_livesum_tfmemwatch5.db").write_bytes(b"")
    os.symlink("/dev/zero", os.path.join(folder, "tfmemwatch6.lock"))
    worker._lock.give_back()
    assert sweep(folder) == [0]


def test_a_folder_that_has_gone_is_an_empty_page(folder, failures):
    """And it is counted."""
    place = os.path.join(folder, "shared")
    os.mkdir(place)
    read = page(AllWorkers(place))
    os.rmdir(place)
    assert read("")[0] == b""
    assert failures == {"the folder of the workers": 1}


def test_the_client_itself_reads_the_same(folder):
    """A program's own MultiProcessCollector shows what our port shows, of several workers and their successors."""
    from prometheus_client import CollectorRegistry, generate_latest, multiprocess

    rows = [
        Family(metric, [(tuple('a"b é%d' % number for _ in metric.labels), number + 1.5) for number in range(3)])
        for metric in catalog.METRICS
        if metric.labels
    ]
    for _ in range(3):
        worker = Slot(folder, most=50)
        worker.write(rows)
    worker._lock.give_back()
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry, folder)
    assert sorted(generate_latest(registry).splitlines()) == sorted(page(AllWorkers(folder))("")[0].splitlines())


# -- two users


def as_nobody(work):
    """Do it in a child that is another user; what it prints comes back."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            try:
                said = work()
            except Exception as error:
                said = repr(error)
            os.write(theirs, str(said).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as file:
        said = file.read()
    os.waitpid(child, 0)
    return said


@pytest.fixture
def open_folder():
    """A folder that every user can reach."""
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o777)
        yield place


@needs_root
@pytest.mark.parametrize("mode", [0o777, 0o1777], ids=["open", "sticky"])
@pytest.mark.parametrize("mask", [0o022, 0o077], ids=["readable", "closed"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_worker_of_another_user_has_a_place_too(open_folder, mode, mask):
    """Root's worker ran and ended, or runs still; then one of another user comes, and one of root again."""
    os.chmod(open_folder, mode)
    before = os.umask(mask)
    try:
        written(open_folder, retraces_total=3)._lock.give_back()
        held = written(open_folder, retraces_total=1)
    finally:
        os.umask(before)

    def work():
        written(open_folder, retraces_total=4, live_variables=2)
        return sorted(sweep(open_folder))

    assert as_nobody(work).startswith("[")
    assert sweep(open_folder) != [held.number]
    written(open_folder, retraces_total=2)
    assert shown(open_folder)['tfmemwatch_retraces_total{function="x",site="x"}'] == "10.0"


@needs_root
@pytest.mark.parametrize("mode", [0o777, 0o1777], ids=["open", "sticky"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_worker_that_gives_up_roots_rights_goes_on(open_folder, mode):
    """As gunicorn's `--user` does after `post_fork`: its place was taken as root, and it writes on as the user."""
    os.chmod(open_folder, mode)
    worker = written(open_folder, live_variables=2)

    def work():
        worker.write(families(live_variables=5))
        worker.write(families(live_variables=6))
        return worker.number

    assert as_nobody(work) == ("0" if mode == 0o777 else "1")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_at_any_line_of_a_write_or_a_leave_leaves_nothing_alive(folder):
    """Left once more, nothing of the worker is alive in any sum, no file is half made, and its place is free."""
    line, where, descriptors = 0, "yes", len(os.listdir("/proc/self/fd"))
    while where:
        slot = Slot(folder, most=50)

        def written_and_left(slot=slot):
            slot.write(families(retraces_total=3, live_variables=2))
            slot.leave()

        where = interrupted_at(line, written_and_left, ("outputs/workers.py", "safety/descriptors.py"))
        slot.leave()
        assert [name for name in os.listdir(folder) if name not in ALWAYS] == [], where
        lock = Lock(os.path.join(folder, "tfmemwatch0.lock"))
        assert lock.take(), where
        lock.give_back()
        del slot, written_and_left
        assert len(os.listdir("/proc/self/fd")) == descriptors, where
        line += 1
    assert line > 100


ALWAYS = ("counter_tfmemwatch0.db", "tfmemwatch0.lock")
UNINSTALLED = """
import tfmemwatch
watch = tfmemwatch.install(sample_seconds=3600)
tfmemwatch.api._installations[0].export._slot._lock._path = "/nowhere"
tfmemwatch.uninstall()
print(tfmemwatch.current(), dict(tfmemwatch.safety.guard.failures))
"""


def test_a_lock_that_has_gone_does_not_stop_uninstall(folder):
    """Whoever emptied the folder."""
    assert own_process.said(UNINSTALLED, PROMETHEUS_MULTIPROC_DIR=folder) == ["None {}"]


def test_who_cannot_lock_says_so(folder):
    """A folder in the place of a lock is an error of the system's, not a lock that another one has."""
    os.mkdir(os.path.join(folder, "a.lock"))
    with pytest.raises(OSError):
        Lock(os.path.join(folder, "a.lock")).take()
