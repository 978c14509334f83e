"""`tfmemwatch live`: a process while it runs, on a terminal, as `top` shows it."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import threading
import time
from collections import deque
from typing import Callable, Deque, Dict, Optional, Tuple

from ..errors import TfmemwatchError
from ..outputs.screen import SORTS, Look, age_of, key_of, screen
from ..outputs.text import render
from ..reports import Report
from . import other_process, printing
from .command import Command
from .exit_codes import WELL
from .sources import Ended, named
from .terminal import Terminal

_HELP = "Look at a process while it runs, as `top` does."
_DESCRIPTION = """\
Look at a process while it runs: memory against its limit, what grows, findings. Without a terminal, the report is
printed once. A process is asked at its control socket, as under `tfmemwatch run`; or at its port; or its recording is
read while it is written."""
_EXAMPLE = "tfmemwatch live\ntfmemwatch live 4711\ntfmemwatch live localhost:9464\ntfmemwatch live run.tfmw"
_MOST_POINTS = 120
_MOST_TRAILS = 2000
_PAUSE_SECONDS = 2.0  # between two questions: each costs the process a millisecond or two
_GOES_ON_SECONDS = 1.0  # between two looks at the clock


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "of", nargs="?", metavar="PID|HOST:PORT|RECORDING", help="not needed where there is one process"
    )
    other_process.add_arguments(parser, with_pid=False)
    parser.add_argument("--token", default=os.environ.get("TFMEMWATCH_TOKEN", ""), help="the bearer token of the port")
    printing.add_json(parser)


def run(chosen: argparse.Namespace) -> int:
    """On a terminal until `q`; else once."""
    read, name = named(chosen.of, chosen.door, chosen.seconds, chosen.token)
    if chosen.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        report = read()
        if chosen.json:
            printing.print_json(report)
        else:
            printing.give(render(report))
        return WELL
    first = read()  # what can't be read at all is said, and nothing is drawn
    View(read, name, first).show()
    return WELL


class View:
    """One process, drawn until a key says that it is enough."""

    def __init__(self, read: Callable[[], Report], name: str, first: Report) -> None:
        self._read = read
        self._name = name
        self._terminal = Terminal(printing.has_colours(sys.stdout))
        self._wanted = threading.Event()  # read now
        self._is_over = False
        self._fails = ""
        self._resident: Deque[float] = deque(maxlen=_MOST_POINTS)
        self._in_use: Deque[float] = deque(maxlen=_MOST_POINTS)
        self._alive: Dict[Tuple[str, str], Deque[float]] = {}
        self._sort, self._first = SORTS[0], 0
        self._is_paused = self._is_help = False
        self._take(first)

    def show(self) -> None:
        """Until `q`."""
        threading.Thread(target=self._ask, daemon=True).start()
        try:
            with self._terminal.opened():
                while not self._is_over:
                    self._terminal.draw(screen(self._look(), *self._terminal.size()))
                    self._press(self._terminal.key(_GOES_ON_SECONDS))
        finally:
            self._is_over = True
            self._wanted.set()

    def _ask(self) -> None:
        """On a thread of its own: a process answers at its next look."""
        while not self._is_over:
            self._wanted.wait(_PAUSE_SECONDS)
            self._wanted.clear()
            if self._is_paused or self._is_over:
                continue
            try:
                self._take(self._read())
                self._fails = ""
            except Ended as why:
                self._fails = "%s; this is the last that was known" % why
            except (TfmemwatchError, OSError) as why:
                self._fails = str(why)
            self._terminal.wake()

    def _take(self, report: Report) -> None:
        memory = report.memory
        for trail, size in ((self._resident, memory.resident_bytes), (self._in_use, memory.in_use_bytes)):
            if size is not None:
                trail.append(size)
        for row in report.made:
            if key_of(row) not in self._alive and len(self._alive) >= _MOST_TRAILS:
                continue
            self._alive.setdefault(key_of(row), deque(maxlen=_MOST_POINTS)).append(row.alive)
        self._report, self._at = report, time.monotonic()

    def _look(self) -> Look:
        state = self._fails or age_of(time.monotonic() - self._at)
        title = self._report.title if self._report.title.startswith("recorded") else self._name
        trails = {key: tuple(trail) for key, trail in list(self._alive.items())}
        return Look(_titled(self._report, title), state, tuple(self._resident), tuple(self._in_use), trails,
                    self._sort, self._first, self._is_paused, self._is_help, bool(self._fails))  # fmt: skip

    def _press(self, key: Optional[str]) -> None:
        page = max(1, self._terminal.size()[1] // 2)
        moves = {"up": -1, "k": -1, "down": 1, "j": 1, "page up": -page, "page down": page}
        if key in ("q", "Q", "escape"):
            self._is_over = True
        elif key == "p":
            self._is_paused = not self._is_paused
        elif key == "s":
            self._sort = SORTS[(SORTS.index(self._sort) + 1) % len(SORTS)]
        elif key in ("h", "?"):
            self._is_help = not self._is_help
        elif key == " ":
            self._wanted.set()
        elif key in moves:
            self._first = max(0, self._first + moves[key])


def _titled(report: Report, title: str) -> Report:
    return dataclasses.replace(report, title=title)


COMMAND = Command("live", _HELP, _add_arguments, run, _DESCRIPTION, _EXAMPLE)
