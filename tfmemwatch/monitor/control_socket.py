"""The control socket: other processes of the same user may ask the watch for a short list of things.

It is opened on request. Questions are answered by the watch's own thread, at its next look.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import socket
import stat
import struct
import threading
import time
import unicodedata
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from ..errors import TfmemwatchError
from ..safety import descriptors, guard

_MOST_BYTES = 4096  # of a question
_MOST_ANSWERED_BYTES = 1 << 22
_MOST_BRACKETS = 64  # in a question: the parser's depth is the interpreter's
_PATIENCE_SECONDS = 1.0  # at one look, for all questions to arrive and all answers to be taken
_MOST_CALLERS = 4  # answered at one look
_NAME = re.compile(r"tfmemwatch-(\d+)\.sock(?:\.new)?\Z")


def path_of(folder: str, pid: int) -> str:
    """Where the control socket of a process is."""
    return os.path.join(folder, "tfmemwatch-%d.sock" % pid)


class ControlSocket:
    """Listens at a socket in a folder; answers when it is asked to look who is there."""

    def __init__(self, folder: str, answers: Mapping[str, Callable[[Dict[str, Any]], str]]) -> None:
        self._folder = folder
        self._answers = answers
        self._socket: Optional[socket.socket] = None
        self.off = ""
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._opening = threading.Lock()  # nobody waits for it: one opens, and the others go on
        self._is_wanted = False
        self._path = ""
        self._was: Optional[Tuple[int, int]] = None

    def open(self) -> None:
        """Listen, if a folder was given and this system can. A forked child does at its first look: many only exec."""
        is_child = os.getpid() != self._pid
        self.close()
        self._opening = threading.Lock()
        self._is_wanted = bool(self._folder)
        if not is_child:
            self._open()

    def _open(self) -> None:
        path, failed, opening = path_of(self._folder, self._pid), "", self._opening
        if not opening.acquire(blocking=False):
            return
        try:
            if not self._is_wanted or self._socket is not None:
                return
            _sweep(self._folder)
            listening = socket.socket(getattr(socket, "AF_UNIX"), socket.SOCK_STREAM)  # noqa: B009 - not everywhere
            self._was, self._path = descriptors.what_is(listening.fileno()), os.path.abspath(path)
            self._socket = listening  # from here on close() takes it away
            atexit.register(self.close)
            _remove(path + ".new")
            listening.setblocking(False)
            listening.bind(path + ".new")
            os.chmod(path + ".new", 0o600)
            listening.listen(_MOST_CALLERS)
            os.rename(path + ".new", path)  # who sees it can call; one of a process that had this number goes
        except (OSError, AttributeError) as error:
            if self._is_wanted:
                is_there = os.path.isdir(self._folder)
                failed = "no control socket: door is %r, and %s" % (
                    self._folder, error if is_there else "there is no such folder",
                )  # fmt: skip
            self._is_wanted = False
        finally:
            opening.release()
        self.off = failed
        if not self._is_wanted:  # it could not be opened, or was closed meanwhile by another thread
            self.close()
            _remove(path + ".new")
            _remove(path)
        if failed:
            guard.logger.warning("tfmemwatch has %s", failed)

    def close(self) -> None:
        """Listen no more; the socket's file goes, if it is this process's own."""
        self._is_wanted = False
        if os.getpid() != self._pid:  # forked: what it inherited is its parent's
            inherited, self._socket, was = self._socket, None, self._was
            self._begin()
            if inherited is not None:
                descriptors.close(inherited, was)
            return
        listening = self._socket
        if listening is None:
            return
        _remove(self._path)
        _remove(self._path + ".new")
        descriptors.close(listening, self._was)
        self._socket = None
        with contextlib.suppress(Exception):  # it compares with what the program has registered
            atexit.unregister(self.close)

    def look(self) -> None:
        """Answer those who wait; one system call where nobody does. Not under a lock: a caller may be slow."""
        if os.getpid() != self._pid:
            return
        if self._is_wanted and self._socket is None:
            self._open()
        patience = _Patience(_PATIENCE_SECONDS)
        for _ in range(_MOST_CALLERS):
            listening = self._socket
            if listening is None or descriptors.what_is(listening.fileno()) != self._was:
                return  # not there; or the program has closed it, and the number may be a socket of its own
            try:
                caller, _ = listening.accept()
            except OSError:  # nobody is there, or another thread has just closed it
                return
            with caller:
                try:
                    self._serve(caller, patience)
                except OSError:
                    continue  # it went away, or is too slow
                except Exception:
                    guard.failed("door")

    def _serve(self, caller: socket.socket, patience: _Patience) -> None:
        if _user_of(caller) not in (None, 0, os.geteuid()):
            return
        said = _line(caller, patience, _MOST_BYTES)
        try:
            answer = self._answer(_texts(said, _MOST_BRACKETS))
        except ValueError as error:
            answer = {"error": "this is not a question: %s" % error}
        patience.told(caller, json.dumps(answer).encode("ascii") + b"\n")

    def _answer(self, question: Dict[str, Any]) -> Dict[str, str]:
        what = question.get("what")
        if not isinstance(question.get("names", []), list) or isinstance(question.get("function"), list):
            raise ValueError("'names' must be a list, 'function' a string")
        if not isinstance(what, str) or what not in self._answers:
            return {"error": "%r can't be asked; it must be one of %s" % (what, ", ".join(sorted(self._answers)))}
        try:
            return {"answer": self._answers[what](question)}
        except TfmemwatchError as error:
            return {"error": str(error)}
        except Exception as error:
            guard.failed("door: %s" % what)
            return {"error": "the answer failed: %r" % error}


class _Patience:
    """How long is still waited for the other side, in all."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def connected(self, one: socket.socket, path: str) -> None:
        """Connect to a socket's file, when those who were here before have been answered."""
        while True:
            with self._waiting(one):
                try:
                    return one.connect(path)
                except BlockingIOError:
                    time.sleep(0.02)

    def heard(self, other: socket.socket, most: int) -> bytes:
        """Some bytes; none where the other side has said all."""
        with self._waiting(other):
            return other.recv(most)

    def told(self, other: socket.socket, data: bytes) -> None:
        """Send all of it."""
        with self._waiting(other):
            other.sendall(data)

    @contextlib.contextmanager
    def _waiting(self, other: socket.socket) -> Any:
        if self._left <= 0:
            raise socket.timeout("it took too long")
        other.settimeout(self._left)
        began = time.monotonic()
        try:
            yield
        finally:
            self._left -= time.monotonic() - began


def ask(folder: str, pid: int, question: Dict[str, Any], seconds: float) -> Dict[str, str]:
    """Put a question to another process, and wait for its next look; OSError where there is no such socket."""
    patience = _Patience(seconds)
    with socket.socket(getattr(socket, "AF_UNIX"), socket.SOCK_STREAM) as calling:  # noqa: B009
        patience.connected(calling, path_of(folder, pid))
        user = _user_of(calling)
        if user not in (None, 0, os.geteuid()):
            raise PermissionError(
                "%s belongs to user %d; only processes of your own user or of root are trusted"
                % (path_of(folder, pid), user)
            )
        patience.told(calling, json.dumps(question).encode("ascii") + b"\n")
        told = _texts(_line(calling, patience, _MOST_ANSWERED_BYTES), _MOST_ANSWERED_BYTES)
        if not all(isinstance(text, str) for text in told.values()) or not {"answer", "error"} & set(told):
            raise ValueError("its answer can't be read")
        return {name: shown(text) for name, text in told.items()}


def shown(text: str) -> str:
    """A text of another process as a terminal may have it: control characters are spelled out."""
    return "".join(
        one if one in "\n\t" or unicodedata.category(one)[0] != "C" else ascii(one)[1:-1] for one in text
    )  # fmt: skip


def processes_in(folder: str) -> List[int]:
    """The processes that have a control socket in a folder."""
    numbers = [name[len("tfmemwatch-") : -len(".sock")] for name in os.listdir(folder) if name.endswith(".sock")]
    return sorted(int(number) for number in numbers if number.isdigit() and os.path.isdir("/proc/" + number))


def _line(caller: socket.socket, patience: _Patience, most: int) -> bytes:
    said = bytearray()
    while len(said) < most and not said.endswith(b"\n"):
        part = patience.heard(caller, min(most - len(said), 65536))
        if not part:
            break
        said += part
    return bytes(said)


def _texts(said: bytes, most_brackets: int) -> Dict[str, Any]:
    """Texts, and lists of texts, by name; ValueError where it is anything else."""
    if said.count(b"[") + said.count(b"{") > most_brackets:
        raise ValueError("it has too many brackets")
    try:
        told = json.loads(said.decode("utf-8"))
    except RecursionError:
        raise ValueError("it has too many brackets") from None
    if not isinstance(told, dict):
        raise ValueError("it must be a JSON object")
    for value in told.values():
        texts = value if isinstance(value, list) else [] if value is None else [value]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("it must hold strings and lists of strings")
    return told


def _user_of(other: socket.socket) -> Optional[int]:
    """Whose process is at the other end; None where the system can't say: the file's own rights must do."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    _, user, _ = struct.unpack("3i", other.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    return int(user)


def _sweep(folder: str) -> None:
    """Remove the sockets that processes of this user have left: killed ones, and children that ended at once."""
    for name in os.listdir(folder):
        found = _NAME.match(name)
        path = os.path.join(folder, name)
        if found is None or os.path.isdir("/proc/" + found.group(1)):
            continue
        with contextlib.suppress(OSError):
            left = os.lstat(path)
            if stat.S_ISSOCK(left.st_mode) and left.st_uid == os.geteuid() and not _answers(path):
                os.unlink(path)


def _answers(path: str) -> bool:
    """Whether somebody listens there: the number may be a process's in another container."""
    with socket.socket(getattr(socket, "AF_UNIX"), socket.SOCK_STREAM) as calling:  # noqa: B009
        calling.setblocking(False)
        try:
            calling.connect(path)
        except ConnectionRefusedError:
            return False
        except OSError:
            return True
    return True


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):  # it is not there, or not ours
        os.unlink(path)
