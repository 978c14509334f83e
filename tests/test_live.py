"""`tfmemwatch live` on a terminal: a real one, of a pseudo-terminal pair."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
TREE = str(Path(__file__).resolve().parent.parent)
WATCHED = """
import sys, tfmemwatch
tfmemwatch.install(door=sys.argv[1], record=sys.argv[1] + "/run.tfmw", sample_seconds=0.05)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def watched(tmp_path_factory):
    """A process with a control socket and a recording, and its folder."""
    folder = str(tmp_path_factory.mktemp("d"))
    running = subprocess.Popen(
        [sys.executable, "-c", WATCHED, folder], env=dict(os.environ, PYTHONPATH=TREE),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert running.stdout.readline() == b"ready\n"
    yield running, folder
    running.kill()
    running.wait()
    running.stdout.close()


class Screen:
    """A terminal in which `live` runs."""

    def __init__(self, *arguments):
        self.keys, terminal = pty.openpty()
        self.resize(80, 24)
        self.before = termios.tcgetattr(terminal)
        self.terminal = terminal
        self.running = subprocess.Popen(
            [sys.executable, "-m", "tfmemwatch", "live", *arguments], stdin=terminal, stdout=terminal, stderr=terminal,
            env=dict(os.environ, PYTHONPATH=TREE, TERM="xterm"), start_new_session=True,
        )  # fmt: skip
        self.seen = b""

    def resize(self, wide, high):
        fcntl.ioctl(self.keys, termios.TIOCSWINSZ, struct.pack("HHHH", high, wide, 0, 0))

    def until(self, text, seconds=40):
        """What has been drawn, up to a text; it is read away."""
        until = time.monotonic() + seconds
        while text.encode() not in self.seen:
            left = until - time.monotonic()
            assert left > 0, self.seen.decode("utf-8", "replace")
            if select.select([self.keys], [], [], left)[0]:
                self.seen += os.read(self.keys, 65536)
        drawn, _, self.seen = self.seen.partition(text.encode())
        return (drawn + text.encode()).decode("utf-8", "replace")

    def press(self, key):
        os.write(self.keys, key.encode())

    def ended(self):
        code = self.running.wait(20)
        as_it_was = termios.tcgetattr(self.terminal) == self.before
        os.close(self.keys)
        os.close(self.terminal)
        return code, as_it_was


def test_keys_work_and_the_terminal_is_as_it_was(watched):
    """Pause, sort, help, a new size, and the end."""
    running, folder = watched
    screen = Screen(str(running.pid), "--door", folder)
    first = screen.until("q quit")
    assert "\x1b[?1049h" in first and "resident" in first and "process %d" % running.pid in first
    screen.press("p")
    screen.until("paused")
    screen.press("p")
    screen.press("h")
    screen.until("sort what is alive")
    screen.press("h")
    screen.until("NOT WATCHED")
    screen.resize(50, 10)
    os.kill(screen.running.pid, signal.SIGWINCH)
    assert max(map(len, screen.until("q quit").split("\r\n")[1:-1])) < 70
    screen.press("q")
    screen.until("\x1b[?1049l")
    assert screen.ended() == (0, True)


def test_a_process_that_dies_meanwhile_is_said(watched):
    """And what was known last stays."""
    running, folder = watched
    screen = Screen("--door", folder)
    screen.until("q quit")
    running.kill()
    running.wait()
    screen.until("process %d has ended; this is the last that was known" % running.pid)
    screen.until("resident")
    screen.running.send_signal(signal.SIGTERM)
    screen.until("\x1b[?1049l")
    assert screen.ended() == (130, True)


def test_a_recording_is_watched_while_it_is_written(watched):
    """Until its end is recorded."""
    running, folder = watched
    screen = Screen(folder + "/run.tfmw")
    screen.until("recorded of")
    running.stdin.close()
    screen.until("the program ended; this is the last that was known")
    screen.press("q")
    assert screen.ended()[0] == 0


def test_without_a_terminal_it_prints_once(watched):
    """A report, as text."""
    running, folder = watched
    for of in (str(running.pid), folder + "/run.tfmw"):
        command = [sys.executable, "-m", "tfmemwatch", "live", of, "--door", folder]
        told = subprocess.run(command, stdout=subprocess.PIPE, env=dict(os.environ, PYTHONPATH=TREE), check=True)
        assert "tfmemwatch · " in told.stdout.decode() and b"\x1b" not in told.stdout
