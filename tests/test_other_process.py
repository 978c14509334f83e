"""Another process of the same user may ask for a short list of things, and for nothing else."""

import json
import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tfmemwatch
from tfmemwatch.monitor import control_socket
from tfmemwatch.monitor.control_socket import ControlSocket

TREE = str(Path(__file__).resolve().parent.parent)


@pytest.fixture
def opened(tmp_path):
    """A control socket that answers «echo», and a caller that has its answer once the socket has been looked at."""
    place = ControlSocket(str(tmp_path), {"echo": lambda question: question["text"] * 2})
    place.open()

    def call(question):
        told = []
        caller = threading.Thread(
            target=lambda: told.append(control_socket.ask(str(tmp_path), os.getpid(), question, 10))
        )
        caller.start()
        while caller.is_alive():
            place.look()
        return told[0]

    yield call, place, Path(control_socket.path_of(str(tmp_path), os.getpid()))
    place.close()


def test_a_question_has_its_answer(opened):
    """At the next look."""
    assert opened[0]({"what": "echo", "text": "ab"}) == {"answer": "abab"}


def test_what_is_not_on_the_list_is_refused(opened):
    """By name; nothing is run."""
    assert opened[0]({"what": "exec"})["error"] == "'exec' can't be asked; it must be one of echo"


def test_an_answer_that_fails_is_told_and_contained(opened, failures):
    """The caller hears of it, the process goes on."""
    assert "KeyError" in opened[0]({"what": "echo"})["error"]


def test_only_this_user_may_come_in(opened):
    """The socket's file is for its owner alone."""
    assert stat.S_IMODE(opened[2].stat().st_mode) == 0o600


def test_one_who_is_silent_or_mad_is_not_waited_for(opened, monkeypatch):
    """A caller that sends nothing, or nonsense, is let go of."""
    monkeypatch.setattr(control_socket, "_PATIENCE_SECONDS", 0.01)
    for text in (b"", b"no json\n", b"[1]\n"):
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(opened[2]))
            caller.sendall(text)
            opened[1].look()
    assert opened[0]({"what": "echo", "text": "c"}) == {"answer": "cc"}


def test_without_a_folder_there_is_no_door(tmp_path):
    """The default: no file, no socket."""
    place = ControlSocket("", {})
    place.open()
    place.look()
    assert place._socket is None


def test_a_folder_that_is_not_there_says_why(tmp_path):
    """The watch goes on without a door."""
    place = ControlSocket(str(tmp_path / "absent"), {})
    place.open()
    place.look()
    assert "absent" in place.off


def test_uninstall_takes_the_door_away(tmp_path):
    """Nothing of it is left in the folder."""
    tfmemwatch.install(door=str(tmp_path), sample_seconds=3600)
    assert len(list(tmp_path.iterdir())) == 1
    tfmemwatch.uninstall()
    assert list(tmp_path.iterdir()) == []


PROGRAM = """
import sys, tfmemwatch
tfmemwatch.install(door=sys.argv[1], sample_seconds=0.05)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def program(tmp_path):
    """A program that watches itself, with a door in an empty folder."""
    running = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], env=dict(os.environ, PYTHONPATH=TREE),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert running.stdout.readline() == b"ready\n"
    yield str(tmp_path), running.pid
    running.communicate()


def told(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "tfmemwatch", *arguments], env=dict(os.environ, PYTHONPATH=TREE),
        capture_output=True,
    )  # fmt: skip
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_the_command_line_asks_the_one_process_there_is(program):
    """Remedies, owners and the report of another process, as tables."""
    folder, pid = program
    code, text, _ = told("remedies", "--door", folder)
    assert code == 0 and "gc.collect()" in text and "trim of" in text
    code, text, _ = told("owners", "--door", folder, "--pid", str(pid))
    assert code == 0 and "Python objects" in text
    code, text, _ = told("report", "--door", folder)
    assert code == 0 and "tfmemwatch · " in text
    for command, name in (("remedies", "outcomes"), ("owners", "parts"), ("report", "findings"), ("live", "findings")):
        assert name in json.loads(told(command, "--door", folder, "--json")[1])


def test_a_remedy_that_is_none_is_refused(program):
    """With the one that was meant, or the list of those there are."""
    code, _, text = told("remedies", "reboot", "--door", program[0])
    assert code == 2 and "'reboot' is not a remedy; it must be one of collect" in text
    assert "did you mean kernels?" in told("remedies", "kernel", "--door", program[0])[2]


def test_a_process_without_a_door_is_told_so(tmp_path):
    """And how it would get one."""
    code, _, text = told("owners", "--door", str(tmp_path), "--pid", "1")
    assert code == 3 and "does not answer" in text
    assert told("owners", "--door", str(tmp_path))[2].startswith("tfmemwatch: no process has a control socket in")
    assert "TFMEMWATCH_DOOR" in told("owners")[2]


FORKING = """
import os, sys, time, tfmemwatch
from tfmemwatch.monitor import control_socket as door
tfmemwatch.install(door=sys.argv[1], sample_seconds=0.05)
child = os.fork()
if not child:
    sys.stdin.read()
    tfmemwatch.uninstall()
    os._exit(0)
print(os.getpid(), child, flush=True)
os.waitpid(child, 0)
print(*sorted(os.listdir(sys.argv[1])), flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_a_door_of_its_own(tmp_path):
    """Both answer under their own number; the child's goes with it, the parent's stays."""
    running = subprocess.Popen(
        [sys.executable, "-c", FORKING, str(tmp_path)], env=dict(os.environ, PYTHONPATH=TREE),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    parent, child = map(int, running.stdout.readline().split())
    assert "Python objects" in control_socket.ask(str(tmp_path), parent, {"what": "owners"}, 30)["answer"]
    while child not in control_socket.processes_in(str(tmp_path)):
        assert running.poll() is None
    assert "Python objects" in control_socket.ask(str(tmp_path), child, {"what": "owners"}, 30)["answer"]
    rest, _ = running.communicate()
    assert rest.decode().split() == ["tfmemwatch-%d.sock" % parent]
