"""What a watch records, and when: by the watch's own thread, after its looks, and at the end."""

from __future__ import annotations

import atexit
import os
import sys
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from ..errors import ConfigError
from ..outputs.recording import END, EVENT, REPORT, SAMPLE, START
from ..outputs.recording_file import Frame, RecordingFile, path_of
from ..safety import guard
from ..safety.turn import Turn
from .moments import moment_of
from .watch import Watch

_MOST_SECONDS = 30.0  # between two samples
_MOST_SECONDS_OF_REPORTS = 3600.0
_LEAST_SECONDS_OF_REPORTS = 10.0
_SHARE, _SHARE_OF_REPORTS = 1 / 500, 1 / 10  # of the time so far: what is new is seen closely, what is old from afar
_AT_ONCE_SECONDS = 1.0  # between two reports, whatever happens
_MOST_NEWS = 10  # events at one look


class Recorder:
    """Appends to the recording what has changed. A full disk ends it, with one warning."""

    def __init__(self, watch: Watch, path: str, clock: Callable[[], float] = time.time) -> None:
        self._watch = watch
        self._clock = clock
        self._path = os.path.abspath(path)
        self._file = RecordingFile(self._path)
        self._is_over = False
        self._begin(os.getpid(), 0)
        self._file.open()

    def _begin(self, pid: int, parent: int) -> None:
        self._pid, self._parent = pid, parent
        self._began: Optional[float] = None  # when the first frame was written
        self._sampled = self._reported = -1e9
        self._alive: Dict[str, int] = {}
        self._open: Dict[Tuple[str, Any], str] = {}  # findings, by their stories
        self._level = ""
        self._said: List[str] = []
        self._is_news = False  # since the last report
        self._turn = Turn()

    def start(self) -> None:
        """Record from now on, and the end of the process."""
        self._watch.after_look.append(self.looked)
        atexit.register(self.end, "the program ended")
        self._write([])

    @property
    def path(self) -> str:
        """Of the file: that which was asked for, or one beside it where another process has that."""
        return self._file.path

    def say(self, text: str) -> None:
        """Something of note, in words."""
        if len(self._said) < _MOST_NEWS:
            self._said.append(text)

    def looked(self) -> None:
        """After a look: what has changed, at most so often."""
        if not self._is_over:
            self._turn.take(self._look, 0)

    def _look(self) -> None:
        now = self._clock()
        since = now - self._began if self._began is not None else 0.0
        frames = self._events(now)
        self._is_news = self._is_news or any(one["what"] in ("finding", "over") for one in frames)
        if now - self._sampled >= min(_MOST_SECONDS, since * _SHARE):
            frames.append(self._sample(now))
        pause = max(_LEAST_SECONDS_OF_REPORTS, min(_MOST_SECONDS_OF_REPORTS, since * _SHARE_OF_REPORTS))
        if now - self._reported >= (_AT_ONCE_SECONDS if self._is_news else pause):
            self._is_news = False
            frames.append(self._report(now))
        if frames:
            self._write(frames)

    def _start_frame(self, now: float) -> Frame:
        script = getattr(sys.modules.get("__main__"), "__file__", None) or ""
        return {"k": START, "at": _rounded(now), "pid": self._pid, "parent": self._parent,
                "program": os.path.basename(script) if isinstance(script, str) else "",
                "pace": self._watch.config.sample_seconds}  # fmt: skip

    def _sample(self, now: float, known: Optional[Dict[str, int]] = None) -> Frame:
        """Memory, and the counts that are others than was known."""
        found = moment_of(now, self._watch.process.read(), self._watch.ledger.read())
        known = self._alive if known is None else known
        alive = dict(found.alive)
        changed = {kind: alive.get(kind, 0) for kind in sorted({*alive, *known})
                   if alive.get(kind, 0) != known.get(kind, 0)}  # fmt: skip
        memory = [
            found.resident_bytes,
            found.in_use_bytes,
            found.kept_bytes,
            found.python_blocks,
            found.variables_bytes,
        ]
        frame = {"k": SAMPLE, "at": _rounded(now), "memory": memory}
        if changed:
            frame["alive"] = changed
        self._sampled, self._alive = now, alive
        return frame

    def _report(self, now: float, is_whole: bool = False) -> Frame:
        answers = self._watch.answers
        report = answers.report() if is_whole else answers.light_report()
        self._reported = now
        return {"k": REPORT, "at": _rounded(now), "report": dict(report.as_dict(), history=[])}

    def _events(self, now: float) -> List[Frame]:
        """What is new since the last look."""
        news = [("said", text) for text in self._said]
        del self._said[: len(news)]
        level = self._watch.state.level.now
        if level.name != self._level:
            news += [("level", str(level))] if self._level else []
            self._level = level.name
        found = {one.story: "%s %s" % (one.kind, one.site.short) for one in self._watch.findings()}
        news += [("finding", text) for story, text in found.items() if story not in self._open]
        news += [("over", text) for story, text in self._open.items() if story not in found]
        self._open = found
        return [
            {"k": EVENT, "at": _rounded(now), "what": what, "text": text[:1000]} for what, text in news[:_MOST_NEWS]
        ]

    def _write(self, frames: List[Frame]) -> None:
        if self._began is None:
            now = self._clock()
            frames = [self._start_frame(now), *frames]
            if self._parent:
                frames.insert(1, {"k": EVENT, "at": _rounded(now), "what": "fork",
                                  "text": "this process was forked from process %d" % self._parent})  # fmt: skip
            self._began = now
        try:
            if self._file.is_full:
                self._file.turn_over()
                frames = [dict(self._start_frame(self._began), goes_on=True), self._sample(self._clock(), {}), *frames]
            self._file.write(frames)
        except (OSError, ConfigError, ValueError) as error:
            self._is_over = True
            self._file.close()
            guard.logger.warning(
                "the recording %s ends here, and the program goes on: %s", self._file.path,
                error.strerror if isinstance(error, OSError) else error,
            )  # fmt: skip

    def end(self, how: str, is_whole: bool = False) -> None:
        """The last that is known; once. A forked child that never looked has nothing to say."""
        if self._is_over or os.getpid() != self._pid or (self._parent and self._began is None):
            return
        self._turn.take(lambda: self._end(how, is_whole))
        self._is_over = True
        self._file.close()

    def _end(self, how: str, is_whole: bool) -> None:
        now = self._clock()
        try:
            frames = self._events(now)
            frames += [self._sample(now), self._report(now, is_whole), {"k": END, "at": _rounded(now), "how": how}]
            self._write(frames)
        except Exception:
            guard.failed("end of the recording")

    def stop(self) -> None:
        """The watch ends before the process does."""
        if self.looked in self._watch.after_look:
            self._watch.after_look.remove(self.looked)
        atexit.unregister(self.end)
        if self._began is not None:
            self.end("the watch was uninstalled")
        self._file.close()
        self._is_over = True

    def in_child(self) -> None:
        """A forked child has a file of its own, from its first look on: many only start another program."""
        self._file.close()
        parent, pid = self._pid, os.getpid()
        self._file = RecordingFile(path_of(self._path, pid))
        self._begin(pid, parent)


def _rounded(seconds: float) -> float:
    return round(seconds, 3)
