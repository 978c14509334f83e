"""Where the control sockets of processes are: in a folder that was named, or in this user's own."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from typing import Optional


def own_folder() -> str:
    """Where `tfmemwatch run` opens its sockets: a folder of this user alone; empty where there can be none."""
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    if not os.path.isdir(base):
        base = tempfile.gettempdir()
    path = os.path.join(base, "tfmemwatch-%d" % os.geteuid())
    with contextlib.suppress(OSError):
        os.mkdir(path, 0o700)
    try:
        found = os.lstat(path)
    except OSError:
        return ""
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
    return path if is_ours and len(path) < 78 else ""  # a socket's path has 107 bytes at most


def folder_of(door: str, pid: Optional[int]) -> str:
    """The folder that was named; else that of the process's own environment; else this user's own."""
    return door or os.environ.get("TFMEMWATCH_DOOR", "") or _of_process(pid) or own_folder()


def _of_process(pid: Optional[int]) -> str:
    if pid is None:
        return ""
    try:
        with open("/proc/%d/environ" % pid, "rb") as file:
            held = dict(line.split(b"=", 1) for line in file.read().split(b"\0") if b"=" in line)
    except (OSError, ValueError):
        return ""
    return os.fsdecode(held.get(b"TFMEMWATCH_DOOR", b""))
