"""Where `tfmemwatch live` gets what it shows: a control socket, a port, or a recording that is being written."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from typing import Callable, Optional, Tuple

from ..errors import ConfigError, Unavailable
from ..outputs.recording import START, Reader, report_of
from ..outputs.recording_file import beginning, bytes_of, unpacked
from ..outputs.report_from import report_from
from ..reports import Report
from . import other_process
from .doors import folder_of

_ANSWER_SECONDS = 10.0
_MOST_BYTES = 64 << 20


class Ended(Unavailable):
    """The process is no more, or can't be reached: what was known last stays on the screen."""


class OfProcess:
    """Asks a process at its control socket; it answers at its next look."""

    def __init__(self, door: str, pid: Optional[int], seconds: float) -> None:
        self._folder = folder_of(door, pid)
        self._pid = other_process.one_of(self._folder, pid)
        self._seconds = seconds
        program = _program(self._pid)
        self.name = "%sprocess %d" % (program + ", " if program else "", self._pid)

    def read(self) -> Report:
        """What it knows now."""
        try:
            told = other_process.ask("live", self._folder, self._pid, self._seconds)
            report: Report = other_process.value_of(Report, told)
            return report
        except ConfigError:
            raise
        except Unavailable as why:
            if os.path.isdir("/proc/self") and not os.path.isdir("/proc/%d" % self._pid):
                raise Ended("process %d has ended" % self._pid) from None
            raise why


def _program(pid: int) -> str:
    """Its script or module, as a person says it."""
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            words = [os.fsdecode(word) for word in file.read().split(b"\0")[1:] if word]
    except OSError:
        return ""
    if words[:1] in (["-m"], ["-c"]):
        return words[1] if words[0] == "-m" and len(words) > 1 else ""
    return os.path.basename(next((word for word in words if not word.startswith("-")), ""))[:40]


class OfPort:
    """Asks a port for `/report.json`."""

    def __init__(self, address: str, token: str) -> None:
        self._address = (address if "://" in address else "http://" + address).rstrip("/")
        self._token = token
        self.name = self._address

    def read(self) -> Report:
        """What is told there now."""
        asked = urllib.request.Request(self._address + "/report.json")
        if self._token:
            asked.add_header("Authorization", "Bearer " + self._token)
        try:
            with urllib.request.urlopen(asked, timeout=_ANSWER_SECONDS) as answer:
                return report_from(json.loads(answer.read(_MOST_BYTES).decode("utf-8")))
        except urllib.error.HTTPError as error:
            raise Unavailable("%s answers: %d %s" % (self._address, error.code, error.reason)) from None
        except (OSError, ValueError, RecursionError) as error:
            raise Ended("%s does not answer: %s" % (self._address, getattr(error, "reason", error))) from None


class OfRecording:
    """Reads what has been appended to a recording since the last time."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._inode: Tuple[int, int] = (0, 0)
        self._begin()
        self.name = path

    def _begin(self) -> None:
        self._at = 0
        self._reader = Reader()

    def read(self) -> Report:
        """The last run of it, so far."""
        self._follow()
        data = bytes_of(self._path, self._at)
        found = unpacked(data, beginning(self._path, data) if not self._at else 0)
        self._at += found.end
        for frame in found.frames:
            if frame.get("k") == START and not frame.get("goes_on"):
                self._reader = Reader()
            self._reader.take(frame)
        run = self._reader.run()
        if run.ended:
            raise Ended(run.ended)
        return report_of(run)

    def last(self) -> Report:
        """What is known of a run that has ended."""
        return report_of(self._reader.run())

    def _follow(self) -> None:
        """A file that has become too large is another one now, or has been begun anew."""
        try:
            found = os.stat(self._path)
        except OSError as error:
            raise Unavailable("%s can't be read: %s" % (self._path, error.strerror)) from None
        inode = found.st_dev, found.st_ino
        if inode != self._inode or found.st_size < self._at:
            self._inode, self._at = inode, 0


def named(target: Optional[str], door: str, seconds: float, token: str) -> Tuple[Callable[[], Report], str]:
    """What reads, and what is read: of a process by its number, a port as host:port, a file."""
    if target is None or target.isdigit():
        one = OfProcess(door, int(target) if target is not None else None, seconds)
        return one.read, one.name
    if "://" in target or (target.rpartition(":")[2].isdigit() and ":" in target and not os.path.exists(target)):
        port = OfPort(target, token)
        return port.read, port.name
    recording = OfRecording(target)
    return recording.read, recording.name
