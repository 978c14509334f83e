"""A door for other processes of the same user: a socket, opened on request, at which the watch's own thread answers.

Nobody is let into the process: what may be asked is a short list, and it is done by the watch at its next look.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
from typing import Any, Callable, Dict, List, Mapping, Optional

from . import guard
from .errors import TfmemwatchError

_MOST_BYTES = 4096  # of a question
_PATIENCE_SECONDS = 1.0  # for a question to arrive, and for an answer to be taken
_MOST_CALLERS = 4  # answered at one look


def path_of(folder: str, pid: int) -> str:
    """Where the door of a process is."""
    return os.path.join(folder, "tfmemwatch-%d.sock" % pid)


class Door:
    """Listens at a socket in a folder; answers when it is asked to look who is there."""

    def __init__(self, folder: str, answers: Mapping[str, Callable[[Dict[str, Any]], str]]) -> None:
        self._folder = folder
        self._answers = answers
        self._path = ""
        self._socket: Optional[socket.socket] = None
        self.off = ""

    def open(self) -> None:
        """Listen, if a folder was given and this system can."""
        self.close()
        if not self._folder:
            return
        path = path_of(self._folder, os.getpid())
        listening = None
        try:
            listening = socket.socket(getattr(socket, "AF_UNIX"), socket.SOCK_STREAM)  # noqa: B009 - not everywhere
            _remove(path)  # of a process that had this number before
            listening.bind(path)
            os.chmod(path, 0o600)
            listening.listen(_MOST_CALLERS)
            listening.setblocking(False)
        except (OSError, AttributeError) as error:
            self.off = "no door at %s: %s" % (path, error)
            guard.logger.warning("tfmemwatch opens %s", self.off)
            if listening is not None:
                listening.close()
            return
        self.off = ""
        self._path, self._socket = path, listening

    def close(self) -> None:
        """Listen no more; the socket's file goes, if it is this process's own."""
        listening, self._socket = self._socket, None
        if listening is not None:
            listening.close()
            if self._path == path_of(self._folder, os.getpid()):
                _remove(self._path)

    def look(self) -> None:
        """Answer those who wait; one system call where nobody does."""
        for _ in range(_MOST_CALLERS):
            if self._socket is None:
                return
            try:
                caller, _ = self._socket.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                guard.failed("door")
                return
            with caller:
                self._serve(caller)

    def _serve(self, caller: socket.socket) -> None:
        caller.settimeout(_PATIENCE_SECONDS)
        try:
            if not _is_of_this_user(caller):
                return
            question = json.loads(_line(caller))
            answer = self._answer(question)
            caller.sendall(json.dumps(answer).encode("ascii") + b"\n")
        except (OSError, ValueError):
            return  # it went away, or asked nothing that can be read

    def _answer(self, question: Any) -> Dict[str, str]:
        what = str(question.get("what")) if isinstance(question, dict) else "nothing"
        if what not in self._answers:
            return {"error": "%r can't be asked; there are %s" % (what, ", ".join(sorted(self._answers)))}
        try:
            return {"answer": self._answers[what](question)}
        except TfmemwatchError as error:
            return {"error": str(error)}
        except Exception as error:
            guard.failed("door: %s" % what)
            return {"error": "it failed: %r" % error}


def ask(folder: str, pid: int, question: Dict[str, Any], seconds: float) -> Dict[str, str]:
    """Put a question to another process, and wait for its next look; OSError where it has no door."""
    with socket.socket(getattr(socket, "AF_UNIX"), socket.SOCK_STREAM) as calling:  # noqa: B009
        calling.settimeout(seconds)
        calling.connect(path_of(folder, pid))
        calling.sendall(json.dumps(question).encode("ascii") + b"\n")
        answer: Dict[str, str] = json.loads(_line(calling, 1 << 22))
        return answer


def open_doors(folder: str) -> List[int]:
    """The processes that have a door in a folder."""
    numbers = [name[len("tfmemwatch-") : -len(".sock")] for name in os.listdir(folder) if name.endswith(".sock")]
    return sorted(int(number) for number in numbers if number.isdigit() and os.path.isdir("/proc/" + number))


def _line(caller: socket.socket, most: int = _MOST_BYTES) -> str:
    parts: List[bytes] = []
    while sum(map(len, parts)) < most:
        part = caller.recv(min(most, 65536))
        parts.append(part)
        if not part or part.endswith(b"\n"):
            break
    return b"".join(parts).decode("utf-8")


def _is_of_this_user(caller: socket.socket) -> bool:
    """Where the system can say who calls, it must be this user, or root; elsewhere the file's own rights must do."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    _, user, _ = struct.unpack("3i", caller.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    return user in (0, os.geteuid())


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):  # it is not there, or not ours
        os.unlink(path)
