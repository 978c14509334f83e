"""The control socket: no files that pile up, nobody who waits for a caller, and no one else's words on a terminal."""

import contextlib
import json
import os
import signal
import socket
import tempfile
import threading
import time

import own_process
import pytest
from interrupting import interrupted_at, sockets

import tfmemwatch
from tfmemwatch.cli.main import main
from tfmemwatch.monitor import control_socket
from tfmemwatch.monitor.control_socket import ControlSocket

NOBODY = 65534


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path)


def files(folder):
    return sorted(os.listdir(folder))


# -- files


INSTALLS = "import sys, tfmemwatch; tfmemwatch.install(door=sys.argv[1])"


def test_a_program_that_ends_takes_its_socket_along(folder):
    """Nothing is left in the folder."""
    own_process.said(INSTALLS, folder)
    assert files(folder) == []


KILLED = INSTALLS + "; import os, signal; os.kill(os.getpid(), signal.SIGKILL)"


def test_the_socket_of_a_killed_program_goes_with_the_next_one(folder):
    """Also what it left half-made; what is another's, or no socket, stays."""
    assert own_process.run(KILLED, folder).returncode == -signal.SIGKILL
    (left,) = files(folder)
    kept = ["tfmemwatch-999999991.sock", "tfmemwatch-999999992.sock", "tfmemwatch-x.sock", "tfmemwatch-1.socks"]
    with socket.socket(socket.AF_UNIX) as half, socket.socket(socket.AF_UNIX) as alive:
        half.bind(os.path.join(folder, "tfmemwatch-999999993.sock.new"))
        alive.bind(os.path.join(folder, kept[0]))  # of a process that has this number in another container
        alive.listen(1)
        for name in kept[1:]:
            with open(os.path.join(folder, name), "w"):
                pass
        place = ControlSocket(folder, {})
        place.open()
        assert left not in files(folder)
        assert files(folder) == sorted([*kept, "tfmemwatch-%d.sock" % os.getpid()])
        place.close()


CHILDREN = """
import multiprocessing, os, subprocess, sys, tfmemwatch
tfmemwatch.install(door=sys.argv[1], sample_seconds=3600)
for _ in range(3):
    subprocess.Popen(["true"], preexec_fn=lambda: None).wait()
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    child = multiprocessing.get_context("fork").Process(target=int)
    child.start()
    child.join()
print(len(os.listdir(sys.argv[1])))
tfmemwatch.uninstall()
print(len(os.listdir(sys.argv[1])))
"""


def test_a_child_that_never_looks_has_no_socket(folder):
    """Most children only run another program, or a task: they would leave one each."""
    assert own_process.said(CHILDREN, folder) == ["1", "0"]


CHILD = """
import os, sys, tfmemwatch
watch = tfmemwatch.install(door=sys.argv[1], sample_seconds=3600)
child = os.fork()
if not child:
    before = os.listdir(sys.argv[1])
    watch.look()
    print(len(before), len(os.listdir(sys.argv[1])), flush=True)
    sys.exit()
os.waitpid(child, 0)
print(os.listdir(sys.argv[1]) == ["tfmemwatch-%d.sock" % os.getpid()])
"""


def test_a_child_that_looks_has_one_until_it_ends(folder):
    """Its own, and it leaves its parent's alone."""
    assert own_process.said(CHILD, folder) == ["1 2", "True"]


def test_ctrl_c_at_any_line_of_opening_and_closing_leaves_nothing(folder):
    """Closed once more, there is no file and no socket, and it opens again."""
    before, line, where = sockets(), 0, "yes"
    while where:
        place = ControlSocket(folder, {})

        def opened_and_closed(place=place):
            place.open()
            place.look()
            place.close()

        where = interrupted_at(line, opened_and_closed, ("monitor/control_socket.py", "safety/descriptors.py"))
        place.close()
        assert (files(folder), sockets()) == ([], before), where
        line += 1
    assert line > 40


# -- callers


@pytest.fixture
def opened(folder):
    place = ControlSocket(folder, {"echo": lambda question: question["text"] * 2})
    place.open()
    yield place, control_socket.path_of(folder, os.getpid())
    place.close()


def calling(path, text=b""):
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(10)
    one.connect(path)
    one.sendall(text)
    return one


def test_slow_callers_together_have_one_deadline(opened, monkeypatch):
    """Four that send a byte now and then hold a look up for no longer than one."""
    monkeypatch.setattr(control_socket, "_PATIENCE_SECONDS", 0.5)
    stop = threading.Event()

    def trickle(one):
        with one, contextlib.suppress(OSError):
            while not stop.wait(0.05):
                one.sendall(b" ")

    threads = [threading.Thread(target=trickle, args=(calling(opened[1]),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    began = time.monotonic()
    opened[0].look()
    took = time.monotonic() - began
    stop.set()
    for thread in threads:
        thread.join()
    assert took < 1.0


def test_a_caller_that_takes_no_answer_is_let_go(opened, monkeypatch):
    """Its answer is larger than what the system keeps for it."""
    monkeypatch.setattr(control_socket, "_PATIENCE_SECONDS", 0.2)
    opened[0]._answers["long"] = lambda question: "x" * 10_000_000
    with calling(opened[1], b'{"what": "long"}\n'):
        began = time.monotonic()
        opened[0].look()
        assert time.monotonic() - began < 1.0


def test_nobody_of_the_program_waits_for_a_caller(folder, monkeypatch):
    """While one keeps the watch's thread waiting, snapshot(), sample() and uninstall() go on."""
    monkeypatch.setattr(control_socket, "_PATIENCE_SECONDS", 3.0)
    is_heard = threading.Event()
    heard = control_socket._Patience.heard

    def hears(self, *rest):
        is_heard.set()
        return heard(self, *rest)

    monkeypatch.setattr(control_socket._Patience, "heard", hears)
    watch = tfmemwatch.install(door=folder, sample_seconds=0.02)
    with calling(control_socket.path_of(folder, os.getpid()), b"{"):
        assert is_heard.wait(10)
        began = time.monotonic()
        tfmemwatch.snapshot()
        assert watch.answers.sample(0.1) is not None
        assert time.monotonic() - began < 2.0


MAD = {
    "nested": b"[" * 4000,
    "nested objects": b'{"a":' * 700,
    "a number": b"5",
    "a long number": b'{"what": ' + b"1" * 4000 + b"}",
    "null": b"null",
    "names that are a number": b'{"what": "echo", "names": 5}',
    "names that are a text": b'{"what": "echo", "names": "gc"}',
    "names that are null": b'{"what": "echo", "names": null}',
    "names of lists": b'{"what": "echo", "names": [[]]}',
    "a function that is a list": b'{"what": "echo", "function": ["a"]}',
    "what is a list": b'{"what": ["echo"]}',
    "no UTF-8": b'{"what": "\xff"}',
    "half a character": b'{"what": "\\udcff"}',
    "not a number": b"NaN",
    "too long": b"x" * 5000,
}


@pytest.mark.parametrize("what", MAD)
def test_a_question_that_is_none_is_refused_in_words(opened, failures, what):
    """And what was asked in earnest is answered at the same look; nothing is counted as a failure of ours."""
    earnest = b'{"what": "echo", "text": "a"}\n'
    with calling(opened[1], MAD[what][:4096] + b"\n") as mad, calling(opened[1], earnest) as one:
        opened[0].look()
        assert json.loads(one.recv(1000).decode()) == {"answer": "aa"}
        assert "error" in json.loads(mad.recv(5000).decode())
    assert failures == {}


def test_nested_brackets_end_no_look(folder, failures):
    """The watch goes on to look, at the same pace."""
    watch = tfmemwatch.install(door=folder, sample_seconds=3600)
    with calling(control_socket.path_of(folder, os.getpid()), b"[" * 4000 + b"\n"):
        watch.look()
    assert watch.state.looks == 1
    assert failures == {}


# -- whom the client believes


@pytest.fixture
def fake(folder):
    """A socket under the number of a living process, where somebody says what he likes."""
    path = control_socket.path_of(folder, os.getpid())
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(5)

    def say(answer):
        def serve():
            with listener.accept()[0] as caller:
                caller.recv(4096)
                caller.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()

    yield say
    listener.close()


def asked(folder):
    return main(["owners", "--door", folder, "--pid", str(os.getpid()), "--seconds", "10"])


def test_control_characters_of_another_process_do_not_reach_the_terminal(fake, folder, capsys):
    """They are spelled out; lines stay lines, and other writing is as it was."""
    for word in ("answer", "error"):
        fake(json.dumps({word: "\x1b[2J\x1b]0;mine\x07 all\u202e is\twell → ✓\n"}).encode() + b"\n")
        asked(folder)
        out, err = capsys.readouterr()
        assert "\\x1b[2J\\x1b]0;mine\\x07 all\\u202e is\twell → ✓\n" in out + err


@pytest.mark.parametrize("answer", [b"", b"[", b"[]\n", b'{"answer": 5}\n', b'{"a": "b"}\n', b"\xff\n", b"[" * 10**5])
def test_an_answer_that_is_none_is_an_error_in_words(fake, folder, capsys, answer):
    """No traceback."""
    fake(answer)
    assert asked(folder) == 3
    assert "does not answer" in capsys.readouterr().err


def test_a_caller_waits_for_all_of_an_answer_only_so_long(folder, monkeypatch):
    """`--seconds` is for the whole of it, not for each byte."""
    stop = threading.Event()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(control_socket.path_of(folder, os.getpid()))
        listener.listen(1)

        def drip():
            with listener.accept()[0] as caller, contextlib.suppress(OSError):
                while not stop.wait(0.05):
                    caller.sendall(b" ")

        thread = threading.Thread(target=drip)
        thread.start()
        began = time.monotonic()
        with pytest.raises(OSError):
            control_socket.ask(folder, os.getpid(), {"what": "owners"}, 0.5)
        stop.set()
        thread.join()
    assert time.monotonic() - began < 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_socket_of_another_user_is_not_asked(capsys):
    """Root does not read what somebody has put into a folder that all may write to."""
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o1777)
        ready, tell = os.pipe()
        child = os.fork()
        if not child:
            with contextlib.suppress(BaseException):
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(os.path.join(place, "tfmemwatch-%d.sock" % os.getppid()))
                listener.listen(5)
                os.write(tell, b".")
                signal.pause()
            os._exit(0)
        os.close(tell)
        try:
            assert os.read(ready, 1) == b"."
            assert asked(place) == 3
            assert "belongs to user %d" % NOBODY in capsys.readouterr().err
        finally:
            os.close(ready)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
