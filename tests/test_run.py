"""`tfmemwatch run`: the program is what it is without it, and at its end one knows what leaks."""

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import textwrap
import time
from pathlib import Path

import pytest

from tfmemwatch.outputs.recording import load

pytestmark = pytest.mark.slow
TREE = str(Path(__file__).resolve().parent.parent)
RUN = [sys.executable, "-m", "tfmemwatch", "run"]
PACE = ["--sample-seconds", "0.02"]


@pytest.fixture
def place(tmp_path, monkeypatch, fake_packages):
    """An empty folder in which programs are written, and from which they find the fake TensorFlow."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(fake_packages), TREE]))
    with tempfile.TemporaryDirectory() as sockets:  # whose paths must be short
        monkeypatch.setenv("XDG_RUNTIME_DIR", sockets)
        yield tmp_path


def program(place, text, name="program.py"):
    (place / name).write_text(textwrap.dedent(text), encoding="utf-8")
    return name


def done(*command, **more):
    found = subprocess.run(command, capture_output=True, timeout=120, **more)
    return found.returncode, found.stdout.decode(), found.stderr.decode()


def both(*arguments, **more):
    """The program alone, and under `run`: how each ended, and what it printed."""
    return done(sys.executable, *arguments, **more), done(*RUN, *arguments, **more)


LEAKY = """
    import sys, time
    from tensorflow.python.ops import resource_variable_ops as ops

    kept = []

    def step():
        kept.append(ops.BaseResourceVariable())

    def main():
        import tfmemwatch
        until, found = time.monotonic() + 60, None
        while time.monotonic() < until:
            step()
            time.sleep(0.001)
            looks = tfmemwatch.current().state.looks
            found = looks if found is None and tfmemwatch.findings() else found
            if found is not None and looks > found + 3:  # a look later it is recorded
                break
        print(len(kept) > 100)
    """
WHAT_IT_IS = """
    import multiprocessing, os, pickle, sys
    import tensorflow

    class Mine:
        pass

    def doubled(number):
        return 2 * number

    print(sys.argv, __name__, __file__, __spec__ and __spec__.name, sys.path, sys.flags, sys._getframe().f_back is None)
    print(sorted(name for name in os.environ if name not in ("PYTHONPATH", "_")), os.environ["PYTHONPATH"])
    print(sorted(name for name in vars(sys.modules["__main__"])), "sitecustomize" in sys.modules)
    print(sys.stdin.read())
    if __name__ == "__main__":
        print(getattr(sys, "orig_argv", [])[1:])
        print(type(pickle.loads(pickle.dumps(Mine()))))
        for way in ("fork", "spawn", "forkserver"):
            with multiprocessing.get_context(way).Pool(1) as pool:
                print(pool.map(doubled, [1, 2]))
        sys.stderr.write("mine\\n")
        sys.exit(7)
    """


@pytest.mark.parametrize("how", ["script", "module"])
def test_a_program_finds_itself_as_it_is_without(place, how):
    """Arguments, `__main__`, `sys.path`, environment, standard input, pickles, and children of each kind."""
    program(place, WHAT_IT_IS)
    words = ["program.py", "--epochs", "3", "-m"] if how == "script" else ["-m", "program", "--html", "x"]
    alone, watched = both(*words, input=b"said")
    assert watched[:2] == alone[:2]
    assert alone[0] == 7
    assert watched[2].startswith("mine\n") and "\ntfmemwatch · recorded of program.py, process " in watched[2]


ENDS = {
    "raises": "def f():\n    raise ValueError('no')\nf()",
    "says": "import sys; sys.exit('a word')",
    "exits": "import sys; sys.exit(3)",
    "os._exit": "import os, sys; print('x'); sys.stdout.flush(); os._exit(5)",
    "wrong syntax": "def f(:\n    pass",
    "killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "ended": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "aborts": "import os; os.abort()",
    "is interrupted": "raise KeyboardInterrupt",
    "own hook": "import sys; sys.excepthook = lambda *what: print('hooked', what[0]); 1 / 0",
    "in a thread": "import threading; threading.Thread(target=lambda: 1 / 0).start()",
    "at exit": "import atexit; atexit.register(print, 'last'); atexit.register(lambda: 1 / 0)",
}


@pytest.mark.parametrize("end", ENDS)
def test_a_program_ends_as_it_does_without(place, end):
    """The exit code or the signal, and the same traceback: no line of ours in it."""
    program(place, "import tensorflow\n" + ENDS[end] if end != "wrong syntax" else ENDS[end])
    alone, watched = both("program.py")
    assert watched[:2] == alone[:2]
    said, told = (re.sub("0x[0-9a-f]+", "0x", err) for err in (alone[2], watched[2]))
    assert told[: len(said)] == said
    assert "tfmemwatch" in told[len(said) :]


def test_a_script_that_is_not_there_is_a_sentence(place):
    """So is no script, and a module that is not there is Python's own sentence."""
    assert done(*RUN, "absent.py") == (2, "", "tfmemwatch: there is no script absent.py\n")
    assert done(*RUN)[0] == 2
    alone, watched = both("-m", "absent")
    assert watched[0] == alone[0] and alone[2] in watched[2]


def test_what_leaks_is_told_at_the_end(place):
    """On stderr, in files, with an exit code of its own for CI, and nothing in the program's own output."""
    program(place, LEAKY + "\n    main()")
    files = ["--json", "r.json", "--record", "r.tfmw"]
    code, out, err = done(*RUN, *PACE, *files, "--fail-on", "leak", "program.py")
    assert (code, out) == (100, "True\n")
    assert err.startswith("LEAK") and "variable  program.py:8 step()" in err
    told = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert [one["kind"] for one in told["findings"]] == ["variable"]
    assert told["recording"]["ended"] == "the program ended"
    assert load("r.tfmw").last.found[0].finding.site.line == 8
    code, out, err = done(sys.executable, "-m", "tfmemwatch", "report", "r.tfmw", "--fail-on", "leak")
    assert (code, err) == (100, "") and "variable  program.py:8 step()" in out


def test_a_program_that_fails_keeps_its_own_exit_code(place):
    """Also where it leaks: CI is to see the failure."""
    program(place, LEAKY + "\n    main()\n    sys.exit(9)")
    code, _, err = done(*RUN, *PACE, "--fail-on", "leak", "--output", "told.txt", "program.py")
    assert (code, err) == (9, "")
    assert "variable  program.py:8 step()" in Path("told.txt").read_text(encoding="utf-8")


def test_what_was_known_is_told_of_a_program_that_is_killed(place):
    """The kernel kills it for its memory, and the line is named all the same."""
    program(place, LEAKY + "\n    main()\n    import os, signal\n    os.kill(os.getpid(), signal.SIGKILL)")
    code, _, err = done(*RUN, *PACE, "program.py")
    assert code == -signal.SIGKILL
    assert err.startswith("tfmemwatch: the program was ended by SIGKILL; this is what was known until then\n")
    assert "variable  program.py:8 step()" in err


def test_a_forked_child_that_leaks_is_told_too(place):
    """Its recording is a file beside that of its parent."""
    program(place, LEAKY + """
    import os
    child = os.fork()
    if not child:
        main()
        os._exit(0)
    os.waitpid(child, 0)
    """)  # fmt: skip
    code, _, err = done(*RUN, *PACE, "--record", "r.tfmw", "--fail-on", "leak", "program.py")
    assert code == 100
    assert not err.startswith("LEAK") and "In its children\n  process" in err
    assert len(list(Path().glob("r-*.tfmw"))) == 1


def test_a_server_whose_workers_alone_use_tensorflow_is_told_by_them(place):
    """As gunicorn forks them: each records by itself."""
    program(place, """
    import os
    children = []
    for _ in range(2):
        children.append(os.fork())
        if not children[-1]:
            import tensorflow, tfmemwatch, time
            watch = tfmemwatch.current()
            while watch.state.looks < 3:
                time.sleep(0.01)
            os._exit(0)
    for child in children:
        os.waitpid(child, 0)
    """)  # fmt: skip
    code, out, err = done(*RUN, *PACE, "--record", "r.tfmw", "program.py")
    assert (code, out) == (0, "")
    assert "recorded of program.py, process" in err and "not watched: it did not" not in err
    assert len(list(Path().glob("r-*.tfmw"))) == 2


SIGNALLED = """
    import signal, sys, tensorflow
    seen = []
    def handle(number, frame):
        print("got", number, flush=True)
        if number == signal.SIGTERM:
            sys.exit(4)
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, handle)
    print("ready", flush=True)
    while True:
        signal.pause()
    """


@pytest.mark.parametrize("under", [[], ["nohup"]], ids=["", "nohup"])
def test_signals_reach_the_program(place, under):
    """Each once, whatever it does with them, and whatever was ignored where it was started."""
    program(place, SIGNALLED)
    running = subprocess.Popen([*under, *RUN, "program.py"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert running.stdout.readline() == b"ready\n"
    for number in (signal.SIGUSR1, signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        running.send_signal(number)
        assert running.stdout.readline() == b"got %d\n" % number
    assert running.stdout.read() == b""
    assert running.wait() == 4


def on_a_terminal(command):
    """A program in front of a terminal of its own, and the other end of that."""
    keyboard, terminal = pty.openpty()

    def take_it():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    running = subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=subprocess.PIPE, start_new_session=True, preexec_fn=take_it
    )
    os.close(terminal)
    return running, keyboard


INTERRUPTED = {
    "raises": "import time, tensorflow\nprint('ready', flush=True)\ntime.sleep(60)",
    "handles": """
        import signal, time, tensorflow
        seen = []
        signal.signal(signal.SIGINT, lambda *what: seen.append(what))
        print("ready", flush=True)
        while not seen:
            time.sleep(0.01)
        print("times", len(seen), flush=True)
        raise SystemExit(6)
        """,
}


@pytest.mark.parametrize("how", INTERRUPTED)
def test_ctrl_c_is_for_the_program(place, how):
    """It gets the key once, ends as it does without, and the report follows."""
    program(place, INTERRUPTED[how])
    ended = []
    for command in ([sys.executable, "program.py"], [*RUN, "program.py"]):
        running, keyboard = on_a_terminal(command)
        try:
            said = b""
            while b"ready" not in said:
                said += os.read(keyboard, 100)
            os.write(keyboard, b"\x03")
            _, err = running.communicate(timeout=60)
            said += os.read(keyboard, 1000)
        finally:
            running.kill()
            os.close(keyboard)
        ended.append((running.returncode, said.replace(b"^C", b" ").split(), err.decode()))
    alone, watched = ended
    assert watched[:2] == alone[:2]
    assert alone[0] == (-signal.SIGINT if how == "raises" else 6) and alone[1][-2:] != [b"times", b"2"]
    frames = [re.findall(r'^  File "([^"]*)"', err, re.M) for _, _, err in ended]  # it may be at one line or the other
    assert frames[0] == frames[1] and "tfmemwatch · recorded of program.py" in watched[2]


# The kernel never ends the first process of a container by a signal of its own, and gives it all orphans. Not everybody
# may make such a container: this program stands for one.
ALMOST_FIRST = """
import ctypes, os, sys
kill = os.kill
os.kill = lambda pid, number: None if pid == os.getpid() else kill(pid, number)
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
from tfmemwatch.cli.main import main
sys.exit(main(["run", *sys.argv[1:]]))
"""
FIRST = ["unshare", "--user", "--map-root-user", "--fork", "--pid", "--mount-proc"]
ORPHAN = """
    import os, signal, sys, time
    reader, writer = os.pipe()
    if not os.fork():
        orphan = os.fork()
        if orphan:
            os.write(writer, b"%d" % orphan)
        os._exit(9)
    orphan = int(os.read(reader, 20))
    os.wait()
    until = time.monotonic() + 30
    while os.path.exists("/proc/%d" % orphan):
        assert time.monotonic() < until, "nobody has asked how it ended"
    import tensorflow
    if sys.argv[1:]:
        os.kill(os.getpid(), signal.SIGTERM)
    sys.exit(3)
    """


def as_first_process():
    """The ways in which `run` can be the first process, here."""
    ways = [[sys.executable, "-c", ALMOST_FIRST]]
    if shutil.which("unshare") and not subprocess.run([*FIRST, "true"], stderr=subprocess.DEVNULL).returncode:
        ways.append([*FIRST, *RUN])
    return ways


def test_run_may_be_the_first_process_of_a_container(place):
    """Orphans are not left as zombies, nor taken for the program; an end by a signal is the number that shells say."""
    program(place, ORPHAN)
    for way in as_first_process():
        assert done(*way, "program.py")[0] == 3
        code, _, err = done(*way, "program.py", "killed")
        assert code == 128 + signal.SIGTERM
        assert err.startswith("tfmemwatch: the program was ended by SIGTERM; this is what was known until then\n")


def test_who_kills_run_kills_the_program(place):
    """No program stays behind that nobody can reach."""
    program(place, "import os, tensorflow\nprint(os.getpid(), flush=True)\nimport time\ntime.sleep(60)")
    running = subprocess.Popen([*RUN, "program.py"], stdout=subprocess.PIPE)
    pid = int(running.stdout.readline())
    running.kill()
    assert running.stdout.read() == b""  # its end is closed: it has gone
    running.wait()
    assert not os.path.isdir("/proc/%d" % pid) or Path("/proc/%d/stat" % pid).read_text().split()[2] in "ZX"


def test_a_setting_that_can_not_be_used_is_said_before_anything_runs(place):
    """With the option's name, and what was meant."""
    program(place, "import tensorflow\nprint('ran')")
    for option, words in (
        (["--sample-seconds", "soon"], "--sample-seconds is 'soon'; it must be a number of seconds"),
        (["--level", "site"], "did you mean sites?"),
        (["--probes", "trances"], "did you mean traces?"),
        (["--sampel-seconds", "1"], "did you mean --sample-seconds?"),
        (["--record", "no/such/run.tfmw"], "record is"),
        (["--html", "no/such/page.html"], "its folder is not there"),
    ):
        code, out, err = done(*RUN, *option, "program.py")
        assert (code, out) == (2, ""), option
        assert words in err


def test_a_program_that_does_not_import_tensorflow_is_left_alone(place):
    """No module of ours is loaded in it."""
    program(place, "import sys\nprint([name for name in sys.modules if 'tfmemwatch' in name])")
    code, out, err = done(*RUN, "program.py")
    assert (code, out) == (0, "[]\n")
    assert err == "tfmemwatch: the program was not watched: it did not import TensorFlow\n"


def test_a_program_that_installs_the_watch_itself_is_recorded_all_the_same(place):
    """Its own call returns the watch that runs."""
    program(place, "import tfmemwatch, tensorflow\nprint(tfmemwatch.install(sample_seconds=3).config.sample_seconds)")
    code, out, err = done(*RUN, *PACE, "program.py")
    assert (code, out) == (0, "0.02\n")
    assert "said     tfmemwatch is already installed, at tfmemwatch run" in err


def test_the_users_own_sitecustomize_has_its_turn(place, monkeypatch):
    """And its name."""
    (place / "own").mkdir()
    (place / "own" / "sitecustomize.py").write_text("WHOSE = 'mine'")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(place / "own"), os.environ["PYTHONPATH"]]))
    program(place, "import tensorflow, sitecustomize\nprint(sitecustomize.WHOSE)")
    alone, watched = both("program.py")
    assert watched[:2] == alone[:2] == (0, "mine\n")


def test_nothing_is_left_behind(place, monkeypatch):
    """No folder, no socket, no cache beside the program."""
    (place / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(place / "tmp"))
    program(place, "import tensorflow")
    done(*RUN, "program.py")
    assert os.listdir("tmp") == []
    assert [name for _, _, names in os.walk(os.environ["XDG_RUNTIME_DIR"]) for name in names] == []
    assert sorted(os.listdir(".")) == ["program.py", "tmp"]


def test_run_starts_in_little_time(place):
    """In processor time, beyond that of the program alone: 0.3 s, with a report at the end."""
    program(place, "pass")
    spent = []
    for command in ([sys.executable], RUN):
        before = os.times()
        subprocess.run([*command, "program.py"], check=True, stderr=subprocess.DEVNULL)
        after = os.times()
        spent.append(after.children_user + after.children_system - before.children_user - before.children_system)
    assert spent[1] - spent[0] < 0.3


def test_live_finds_what_runs_under_run(place):
    """In another terminal, without a number or a folder; and says when it has ended."""
    program(place, LEAKY + "\n    while True:\n        main()")
    running = subprocess.Popen([*RUN, *PACE, "program.py"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 30
        while not list(Path(os.environ["XDG_RUNTIME_DIR"]).rglob("*.sock")):
            assert time.monotonic() < until and running.poll() is None
        code, out, err = done(sys.executable, "-m", "tfmemwatch", "live")
        assert (code, err) == (0, "") and "program.py:8 step()" in out
    finally:
        running.terminate()
        running.wait()
    code, _, err = done(sys.executable, "-m", "tfmemwatch", "live")
    assert code == 2 and "start one with `tfmemwatch run`" in err
