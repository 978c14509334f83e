"""What ends the process when its memory grows: the limits of its container, its own, and the machine's."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

_NO_LIMIT_BYTES = 1 << 60  # what version 1 says where there is none is the largest number of whole pages
_LEAST_BYTES = 1 << 20  # nothing with TensorFlow in it runs in less: such a file does not mean what it says
_FILES = {
    # by version: the limits with their names, the use, and what of the use the kernel can take back
    1: (("memory.limit_in_bytes", "container limit"),),
    2: (("memory.max", "container limit"), ("memory.high", "container's memory.high")),
}
_USE = {1: "memory.usage_in_bytes", 2: "memory.current"}
_CACHE = {1: (b"total_inactive_file", b"total_active_file"), 2: (b"inactive_file", b"active_file")}


_LABELS = {
    "container limit": "container",
    "container's memory.high": "container_high",
    "limit of addresses (ulimit -v)": "addresses",
    "limit of data (ulimit -d)": "data",
    "memory of this machine": "machine",
}


class Limit(NamedTuple):
    """One bound, and how much of it is used."""

    name: str  # as a person says it
    bytes: int
    used_bytes: int  # that can't be taken back: without the cache of files
    is_of_container: bool  # so that all processes in there count

    @property
    def label(self) -> str:
        """Its name in a metric."""
        return _LABELS.get(self.name, "other")

    @property
    def left_bytes(self) -> int:
        """How much more there may be."""
        return max(0, self.bytes - self.used_bytes)


class _Group(NamedTuple):
    """One control group that limits this process."""

    version: int
    folder: str


class Limits:
    """Every limit that holds for this process; what can't be read is off, and says why."""

    def __init__(self, proc: str = "/proc", sys: str = "/sys") -> None:
        self._proc = proc
        self._sys = sys
        self.off: List[str] = []
        self._groups = self._find_groups()

    def read(self) -> List[Limit]:
        """All of them as they stand now, the one with the least left first."""
        self.off = [why for why in self.off if why.startswith("container: ")]
        found = [*self._of_container(), *self._of_process(), *self._of_machine()]
        return sorted(found, key=lambda limit: limit.left_bytes)

    # -- containers

    def _find_groups(self) -> List[_Group]:
        """The groups that this process is in and those around them, where they account for memory."""
        try:
            paths = _paths(_lines(os.path.join(self._proc, "self", "cgroup")))
            mounts = list(_mounts(_lines(os.path.join(self._proc, "self", "mountinfo"))))
        except (OSError, ValueError, IndexError) as error:
            self.off.append("container: its control groups can't be read: %s" % error)
            return []
        groups = []
        for version, root, point in mounts:
            if version in paths:
                groups += [_Group(version, folder) for folder in self._upward(root, point, paths[version])]
        return groups

    def _upward(self, root: str, point: str, path: str) -> Iterator[str]:
        """The folder of a group, and of each around it, as far as they are to be seen from here."""
        if point == "/sys" or point.startswith("/sys/"):
            point = self._sys + point[len("/sys") :]
        inside = path[len(root) :] if path == root or path.startswith(root.rstrip("/") + "/") else ""
        steps = [step for step in inside.split("/") if step and step != ".."]
        for length in range(len(steps), -1, -1):
            yield os.path.join(point, *steps[:length])

    def _of_container(self) -> Iterator[Limit]:
        for group in self._groups:
            used: Optional[int] = None
            for file, name in _FILES[group.version]:
                size = self._bytes(os.path.join(group.folder, file))
                if size is None:
                    continue
                used = self._used(group) if used is None else used
                if used is not None:
                    yield Limit(name, size, used, True)

    def _bytes(self, path: str) -> Optional[int]:
        """A limit; None where there is none, or it can't be one."""
        try:
            with open(path, "rb") as file:
                text = file.read(64).decode("ascii", "replace").strip()
        except FileNotFoundError:
            return None  # the group at the top has none
        except OSError as error:
            self._say("container limit", error)
            return None
        if text == "max":
            return None
        size = int(text) if text.isdigit() else -1
        if size < _LEAST_BYTES:
            self._say("container limit", "%s is %r" % (path, text))
            return None
        return None if size >= _NO_LIMIT_BYTES else size

    def _used(self, group: _Group) -> Optional[int]:
        """What the group holds, without the files that the kernel can drop."""
        try:
            with open(os.path.join(group.folder, _USE[group.version]), "rb") as file:
                used = int(file.read(64))
            with open(os.path.join(group.folder, "memory.stat"), "rb") as file:
                rows = dict(line.split() for line in file.read(1 << 16).splitlines() if line.count(b" ") == 1)
            cache = sum(int(rows.get(name, 0)) for name in _CACHE[group.version])
        except (OSError, ValueError) as error:
            self._say("use of the container", error)
            return None
        if used < 0:
            self._say("use of the container", "%s is %d" % (_USE[group.version], used))
            return None
        return max(0, used - cache)

    # -- the process, the machine

    def _of_process(self) -> Iterator[Limit]:
        if resource is None:
            self._say("limits of the process", "this system has no rlimits")
            return
        for name, title, field in (("RLIMIT_AS", "limit of addresses (ulimit -v)", 0),
                                   ("RLIMIT_DATA", "limit of data (ulimit -d)", 5)):  # fmt: skip
            size = resource.getrlimit(getattr(resource, name))[0] if hasattr(resource, name) else -1
            if size == resource.RLIM_INFINITY or not _LEAST_BYTES <= size < _NO_LIMIT_BYTES:
                continue
            try:
                pages = _lines(os.path.join(self._proc, "self", "statm"))[0].split()[field]
                yield Limit(title, size, int(pages) * _PAGE_BYTES, False)
            except (OSError, ValueError, IndexError) as error:
                self._say(title, error)

    def _of_machine(self) -> Iterator[Limit]:
        try:
            rows = dict(line.split(":", 1) for line in _lines(os.path.join(self._proc, "meminfo")))
            total, free = (int(rows[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable"))
        except (OSError, ValueError, KeyError, IndexError) as error:
            found = _by_psutil() if self._proc == "/proc" else None
            if found is None:
                self._say("memory of the machine", error)
                return
            total, free = found
        if not 0 <= free <= total or total < _LEAST_BYTES:
            self._say("memory of the machine", "%d of %d bytes free" % (free, total))
            return
        yield Limit("memory of this machine", total, total - free, False)

    def _say(self, what: str, why: Any) -> None:
        if len(self.off) < 8:
            self.off.append("%s: %s" % (what, why))


_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def _by_psutil() -> Optional[Tuple[int, int]]:
    try:
        import psutil

        memory = psutil.virtual_memory()
        return int(memory.total), int(memory.available)
    except Exception:
        return None


def _lines(path: str) -> List[str]:
    with open(path, "rb") as file:
        return file.read(1 << 20).decode("utf-8", "surrogateescape").splitlines()


def _paths(lines: List[str]) -> Dict[int, str]:
    """The group of this process in each version: of «4:memory:/docker/a» and «0::/a»."""
    found = {}
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0" and not controllers:
            found[2] = path
        elif "memory" in controllers.split(","):
            found[1] = path
    return found


def _mounts(lines: List[str]) -> Iterator[Tuple[int, str, str]]:
    """The version, root and place of each mounted hierarchy that may account for memory."""
    for line in lines:
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        root, point = (_unescaped(part) for part in left.split(" ")[3:5])
        if kind == "cgroup2":
            yield 2, root, point
        elif kind == "cgroup" and "memory" in options.split(" ")[-1].split(","):
            yield 1, root, point


def _unescaped(path: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        path = path.replace(code, character)
    return path
