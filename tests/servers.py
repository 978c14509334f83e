"""Real servers that tests start, and what they answer."""

import contextlib
import http.server
import json
import queue
import socket
import subprocess
import threading
import time
import urllib.request

LONGEST_SECONDS = 60


class Program:
    """A program that runs, and what it has said so far."""

    def __init__(self, command, **settings):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **settings
        )
        self.said = ""
        self._is_over = False
        self._more = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.process.stdout:
            with self._more:
                self.said += line.decode(errors="replace")
                self._more.notify_all()
        self.process.stdout.close()
        with self._more:
            self._is_over = True
            self._more.notify_all()

    def hears(self, words, times=1):
        """Wait until the program has said this, as often as that; upper case or lower."""

        def is_said():
            return self.said.lower().count(words.lower()) >= times

        with self._more:
            self._more.wait_for(lambda: is_said() or self._is_over, LONGEST_SECONDS)
            assert is_said(), "it did not say %r" % words

    def is_told(self, line):
        """One line, on its standard input."""
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def end(self, at_once=False):
        """It is no more, and neither are its pipes; what it said is shown where the test fails."""
        self.process.kill() if at_once else self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdin.close()
        print(self.said[-4000:])


@contextlib.contextmanager
def running(command, ready="", at_once=False, **settings):
    """A program that runs for the while, from when it has said that it is ready."""
    program = Program(command, **settings)
    try:
        if ready:
            program.hears(ready)
        yield program
    finally:
        program.end(at_once)


PROMETHEUS_IS_READY = "ready to receive web requests"
LISTENS = "listening on"  # as Alertmanager and Pushgateway say it


class _Heard(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        told = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.server.heard.put(json.loads(told.decode()))

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def listening():
    """A port at which one may be told things in JSON, and a queue of what was told."""
    server = http.server.HTTPServer(("127.0.0.1", 0), _Heard)
    server.heard = queue.Queue()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port, server.heard
    finally:
        server.shutdown()
        server.server_close()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def read(port, path="/metrics"):
    with urllib.request.urlopen("http://127.0.0.1:%d%s" % (port, path), timeout=LONGEST_SECONDS) as answer:
        return answer.read().decode()


def scrape(port):
    """What /metrics shows."""
    return values(read(port))


def values(text):
    """Values by name; of several series the sum by name, and each by name and labels."""
    shown = {}
    for line in text.splitlines():
        if line[:1] != "#":
            series, value = line.rsplit(" ", 1)
            name = series.split("{")[0]
            shown[series] = float(value)
            if name != series:
                shown[name] = shown.get(name, 0.0) + float(value)
    return shown


def eventually(ask, seconds=LONGEST_SECONDS):
    """The first answer that is one, where nothing says when it comes: what other processes have written, or ended."""
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
