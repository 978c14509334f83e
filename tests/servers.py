"""Real servers that tests start, and what they answer."""

import contextlib
import socket
import subprocess
import time
import urllib.request

LONGEST_SECONDS = 60


@contextlib.contextmanager
def running(command, log, at_once=False, **settings):
    """A program that runs for the while; what it says goes into a file, which is shown where the test fails."""
    with open(str(log), "w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, **settings)
        try:
            yield process
        finally:
            process.kill() if at_once else process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            with open(str(log)) as said:
                print(said.read()[-4000:])


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def read(port, path="/metrics"):
    with urllib.request.urlopen("http://127.0.0.1:%d%s" % (port, path), timeout=10) as answer:
        return answer.read().decode()


def scrape(port):
    """Values by name; of several series the sum by name, and each by name and labels."""
    shown = {}
    for line in read(port).splitlines():
        if line[:1] != "#":
            series, value = line.rsplit(" ", 1)
            name = series.split("{")[0]
            shown[series] = float(value)
            if name != series:
                shown[name] = shown.get(name, 0.0) + float(value)
    return shown


def eventually(ask, seconds=LONGEST_SECONDS):
    """The first answer that is one, of a server that has yet to get there."""
    end = time.monotonic() + seconds
    while True:
        try:
            answer = ask()
            if answer:
                return answer
        except OSError:
            if time.monotonic() > end:
                raise
        assert time.monotonic() < end, "it did not come to that in %d seconds" % seconds
        time.sleep(0.05)
