"""The file of a recording: frames that are only ever appended, each checked by itself.

A header (magic, version), then frames: a mark, a length, a CRC-32, one byte that says how the rest is written, JSON.
What a crash or a full disk has cut off, or a bad disk has changed, is skipped: the next mark begins a frame again.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import struct
import zlib
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ..errors import ConfigError, Unavailable
from ..safety import descriptors

VERSION = 1
MOST_BYTES = 16 << 20  # of one file; then it becomes the one before, and a new one is begun
MOST_FILES = 100  # of other processes beside one recording
MAGIC = b"tfmw\r\n\x1a\n"
_HEADER = struct.Struct("<8sHH")
_FRAME = struct.Struct("<4sII")  # mark, length of what follows, its CRC-32
_MARK = b"\xf7tf\n"
_PLAIN, _ZIPPED = b"j", b"z"
_WORTH_ZIPPING = 300  # bytes
_MOST_FRAME = 64 << 20
_HEAD = _HEADER.pack(MAGIC, VERSION, 0)
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
Frame = Dict[str, Any]


def packed(frame: Mapping[str, Any]) -> bytes:
    """One frame, as it stands in the file."""
    data = json.dumps(frame, separators=(",", ":"), allow_nan=False).encode("ascii")
    body = _ZIPPED + zlib.compress(data, 6) if len(data) >= _WORTH_ZIPPING else _PLAIN + data
    return _FRAME.pack(_MARK, len(body), zlib.crc32(body)) + body


class Frames(NamedTuple):
    """What was read of a file."""

    frames: Tuple[Frame, ...]
    end: int  # behind the last good frame
    lost: int  # bytes before that which are no frames
    rest: int  # bytes after it: a frame that was cut off, or is being written


def unpacked(data: bytes, begin: int = 0) -> Frames:
    """The frames in some bytes; what is none is skipped."""
    found: List[Frame] = []
    at, end, lost = begin, begin, 0
    while True:
        at = data.find(_MARK, at)
        if at < 0:
            return Frames(tuple(found), end, lost, len(data) - end)
        frame, behind = _frame_at(data, at)
        if frame is None:
            at += 1
            continue
        lost += at - end
        found.append(frame)
        at = end = behind


def _frame_at(data: bytes, at: int) -> Tuple[Optional[Frame], int]:
    if at + _FRAME.size > len(data):
        return None, at
    _, length, crc = _FRAME.unpack_from(data, at)
    behind = at + _FRAME.size + length
    body = data[at + _FRAME.size : behind]
    if not 0 < length <= _MOST_FRAME or behind > len(data) or zlib.crc32(body) != crc:
        return None, at
    try:
        text = zlib.decompressobj().decompress(body[1:], _MOST_FRAME) if body[:1] == _ZIPPED else body[1:]
        frame = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError, zlib.error):
        return None, at
    return (frame, behind) if isinstance(frame, dict) else (None, at)


def beginning(path: str, data: bytes) -> int:
    """Where the frames begin; Unavailable where this is no recording that can be read."""
    if not data:
        raise Unavailable("%s is empty: nothing was recorded in it" % path)
    if data[: len(MAGIC)] != MAGIC[: len(data)]:
        raise Unavailable("%s is no recording of tfmemwatch" % path)
    if len(data) < _HEADER.size:
        raise Unavailable("%s ends within its first bytes: nothing was recorded in it" % path)
    version = _HEADER.unpack_from(data)[1]
    if version > VERSION:
        raise Unavailable(
            "%s is a recording of version %d, and this tfmemwatch reads up to %d: use the one that wrote it, or a newer"
            % (path, version, VERSION)
        )
    return _HEADER.size


def read(path: str) -> Frames:
    """All frames of a recording, and of the file before it where it has become too large."""
    now = _read_one(path)
    if not os.path.isfile(path + ".1"):
        return now
    try:
        before = _read_one(path + ".1")
    except Unavailable:
        return now
    return Frames(before.frames + now.frames, now.end, before.lost + before.rest + now.lost, now.rest)


def _read_one(path: str) -> Frames:
    data = bytes_of(path)
    return unpacked(data, beginning(path, data))


def bytes_of(path: str, begin: int = 0) -> bytes:
    """What a file holds from there on; Unavailable says why it can't be read."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise Unavailable("%s is %s, and no recording" % (path, "a folder" if os.path.isdir(path) else "no file"))
        with open(path, "rb") as file:
            file.seek(begin)
            return file.read(4 * MOST_BYTES)
    except OSError as error:
        raise Unavailable("%s can't be read: %s" % (path, error.strerror)) from None


def path_of(path: str, pid: int) -> str:
    """Where another process records, whose recording has the same name: `run.tfmw` → `run-123.tfmw`."""
    root, end = os.path.splitext(path)
    return "%s-%d%s" % (root, pid, end)


def others_of(path: str) -> List[str]:
    """The recordings of other processes beside one."""
    root, end = os.path.splitext(os.path.basename(path))
    folder = os.path.dirname(os.path.abspath(path))
    with contextlib.suppress(OSError):
        names = [name for name in os.listdir(folder) if name.startswith(root + "-") and name.endswith(end)]
        return [
            os.path.join(folder, name) for name in sorted(names) if name[len(root) + 1 : -len(end) or None].isdigit()
        ]
    return []


class RecordingFile:
    """Frames are appended to it. It belongs to one process: another one with the same name gets a file beside it."""

    def __init__(self, path: str, most_bytes: int = MOST_BYTES) -> None:
        self.path = os.path.abspath(path)
        self._most_bytes = most_bytes
        self._descriptor = -1
        self._was: Optional[Tuple[int, int]] = None

    def open(self) -> None:
        """Take the file; ConfigError where it is something else, or can't be written."""
        try:
            self._open()
            if self.is_full:
                self.turn_over()
        except OSError as error:
            self.close()
            raise ConfigError("record is %r, which can't be written: %s" % (self.path, error.strerror)) from None
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        self._descriptor = os.open(self.path, _FLAGS, 0o666)
        self._was = descriptors.what_is(self._descriptor)
        if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            raise ConfigError("record is %r, which is no file" % self.path)
        if not _is_taken(self._descriptor):
            self.close()
            if len(others_of(self.path)) >= MOST_FILES:
                raise ConfigError("record is %r, beside which %d processes record already" % (self.path, MOST_FILES))
            self.path = path_of(self.path, os.getpid())
            return self._open()
        self._begin()
        return None

    def _begin(self) -> None:
        there = os.pread(self._descriptor, _HEADER.size, 0)
        if there != _HEAD and _HEAD.startswith(there):  # a new file, or one whose writer was killed at once
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, _HEAD)
            return
        try:
            beginning(self.path, there)
        except Unavailable as why:
            raise ConfigError("record is %r: %s; nothing is written to it" % (self.path, why)) from None

    def write(self, frames: Sequence[Mapping[str, Any]]) -> None:
        """Append them in one call; OSError where there is no room for them. A part of them is never left."""
        data = b"".join(map(packed, frames))
        if self._descriptor < 0 or descriptors.what_is(self._descriptor) != self._was:
            self._descriptor = -1  # the program has closed it: the number may be a file of its own by now
            self.open()
        now = os.fstat(self._descriptor)
        if not now.st_nlink:  # somebody has removed it
            self.close()
            self.open()
            now = os.fstat(self._descriptor)
        if now.st_size + len(data) > _most_allowed():
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))  # the kernel would send a signal
        if os.write(self._descriptor, data) != len(data):
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, now.st_size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    @property
    def is_full(self) -> bool:
        """Whether it has become so large that another one is to be begun."""
        return self._descriptor >= 0 and os.fstat(self._descriptor).st_size >= self._most_bytes

    def turn_over(self) -> None:
        """It becomes the one before, in whose place that one goes; a new one is begun."""
        os.rename(self.path, self.path + ".1")
        self.close()
        self._open()

    def close(self) -> None:
        """Give it back; in the child of a fork, this closes what was inherited and leaves the parent's lock."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0 and descriptors.what_is(descriptor) == self._was:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _is_taken(descriptor: int) -> bool:
    """Whether this process has it now, and no other: the lock ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EAGAIN, errno.EACCES)  # a file system without locks
    return True


def _most_allowed() -> int:
    try:
        import resource
    except ImportError:
        return 1 << 62
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return most if most != resource.RLIM_INFINITY else 1 << 62
