"""The metrics of many workers, in the folder from which prometheus_client adds them up (PROMETHEUS_MULTIPROC_DIR).

Custom collectors are not seen there, and the client's own files are named by process: they pile up, and what a dead
process had alive stays. So each worker has a *slot*: a number with a lock on it, which the kernel takes back however
the worker ends. Whoever takes the slot next counts on from where its counters stood, so that no sum ever falls; what
was alive in a slot without an owner is swept by the others. There are never more files than workers at one time.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import re
import stat
from typing import Any, Dict, Iterable, List, Optional, Tuple

from ..catalog import METRICS
from ..errors import ConfigError
from .folder import is_writable
from .series import OTHER_LABEL, Family
from .worker_files import COUNTER, Format, checked, read, remove, write_whole
from .worker_lock import HAS_LOCKS, Lock

_MODES = {"sum": "gauge_livesum", "max": "gauge_livemax", "min": "gauge_livemin", "worker": "gauge_liveall"}

_MOST_WORKERS = 4096
_MOST_CARRIED = 4  # times the labels that a metric may have, of what earlier owners of a slot have counted

_LOCK = re.compile(r"tfmemwatch(\d+)\.lock\Z")

_NOT_OURS = (errno.EACCES, errno.EPERM, errno.EISDIR, errno.ELOOP, errno.ENXIO, errno.ENODEV)


def folder_of(environ: Any = os.environ) -> str:
    """The folder that the workers share; empty where they share none."""
    return environ.get("PROMETHEUS_MULTIPROC_DIR") or environ.get("prometheus_multiproc_dir") or ""


class Slot:
    """One worker's place among the others."""

    def __init__(self, folder: str, most: int) -> None:
        if not HAS_LOCKS:
            raise ConfigError("PROMETHEUS_MULTIPROC_DIR is %r; it must not be set on this system" % folder)
        if not is_writable(folder):
            raise ConfigError("PROMETHEUS_MULTIPROC_DIR is %r; it must be a folder that can be written to" % folder)
        self._folder = folder
        self._most = most
        self._format = Format()
        self._keys: Dict[Any, str] = {}
        self.forget()

    def forget(self) -> None:
        """In a forked child: the slot is the parent's; take another one with the next write."""
        self.number: Optional[int] = None
        self._lock: Optional[Lock] = None
        self._leaving: Optional[Tuple[Lock, Dict[str, str]]] = None
        self._files: Dict[str, str] = {}  # where they are, by type and mode
        self._carried: Dict[str, float] = {}
        self._counted: Dict[str, float] = {}  # what was written last

    def write(self, families: Iterable[Family]) -> None:
        """Make these the values of this worker."""
        if self.number is None or self._lock is None or not self._lock.is_ours or not self._is_free(self.number):
            self._take()
        values: Dict[str, Dict[str, float]] = {mode: {} for mode in self._files}
        for metric, samples in families:
            mode = values[COUNTER if metric.type == "counter" else _MODES[metric.adds]]
            for labels, value in samples:
                mode[self._key(metric.name, labels)] = value
        counts = values[COUNTER]
        gone = {key: n for key, n in self._counted.items() if key not in counts and n != self._carried.get(key)}
        if gone:  # lines that are no longer named: they will begin at zero again
            self._carried = _bounded({**self._carried, **gone}, self._most)
        values[COUNTER] = {**self._carried, **{key: n + self._carried.get(key, 0.0) for key, n in counts.items()}}
        self._counted = values[COUNTER]
        lock, files = self._lock, self._files
        for name, path in files.items():
            write_whole(path, self._format.packed(values[name]))
        if self._lock is not lock:  # left meanwhile, by another thread
            _remove_alive(files)

    def leave(self) -> None:
        """What was alive here is no more; what was counted stays counted. Who is interrupted in it does it again."""
        if self._lock is not None:
            self._leaving = self._lock, self._files
            self._lock = None  # a write() that is under way sees it
        if self._leaving is not None:
            lock, files = self._leaving
            if lock.is_ours:
                _remove_alive(files)
            lock.give_back()
        self.forget()

    def _take(self) -> None:
        """The first slot that is nobody's, and whose files this user may replace; the one that it had is given up."""
        self.leave()
        for number in range(_MOST_WORKERS):
            path = _lock_path(self._folder, number)
            lock = Lock(path)
            try:
                if self._is_free(number) and lock.take():
                    break
            except OSError as error:
                if error.errno not in _NOT_OURS or not os.path.lexists(path):
                    raise
        else:
            raise OSError("more than %d workers" % _MOST_WORKERS)
        self.number, self._lock = number, lock
        self._files = {name: _path(self._folder, name, number) for name in (COUNTER, *_MODES.values())}
        self._carried = self._counted_before(self._files[COUNTER])

    def _is_free(self, number: int) -> bool:
        """Whether nothing stands in the place of its files, but files that this user may replace."""
        folder = os.stat(self._folder)
        user = os.geteuid()
        for name in (COUNTER, *_MODES.values()):
            try:
                found = os.lstat(_path(self._folder, name, number))
            except FileNotFoundError:
                continue
            if stat.S_ISDIR(found.st_mode):
                return False
            if folder.st_mode & stat.S_ISVTX and user not in (0, folder.st_uid, found.st_uid):
                return False
        return True

    def _counted_before(self, path: str) -> Dict[str, float]:
        """What the earlier owners of a slot have counted; it is bounded, since lines of code come and go."""
        try:
            rows = {key: value for key, value in self._format.rows(read(path)) if 0.0 <= value < math.inf}
            for key in rows:
                checked(key, COUNTER)
            return _bounded(rows, self._most)
        except Exception:  # there is none, or what is there is none of ours: it is replaced
            return {}

    def _key(self, name: str, labels: Any) -> str:
        key = self._keys.get((name, labels))
        if key is None:
            if len(self._keys) > 8 * len(METRICS) * self._most:
                self._keys.clear()
            key = self._keys[name, labels] = self._format.key(name, labels)
        return key


def sweep(folder: str) -> List[int]:
    """Remove what was alive in workers that have ended, however they did; says whose slots those were."""
    ended = []
    for name in os.listdir(folder):
        found = _LOCK.match(name)
        if found is not None:
            with contextlib.suppress(OSError):  # another user's, or no file at all: the others are swept none the less
                if _swept(folder, int(found.group(1))):
                    ended.append(int(found.group(1)))
    return sorted(ended)


def _swept(folder: str, number: int) -> bool:
    files = [_path(folder, mode, number) for mode in _MODES.values()]
    files = [file for file in files if os.path.lexists(file)]
    lock = Lock(_lock_path(folder, number))
    if not files or not lock.take(create=False):
        return False
    try:
        for file in files:
            remove(file)
    finally:
        lock.give_back()
    return True


def _remove_alive(files: Dict[str, str]) -> None:
    for name, path in files.items():
        if name != COUNTER:
            with contextlib.suppress(OSError):  # another user's by now: who may, sweeps it
                os.remove(path)


def _lock_path(folder: str, number: int) -> str:
    return os.path.join(folder, "tfmemwatch%d.lock" % number)


def _path(folder: str, mode: str, number: int) -> str:
    """The client reads what the file's name says: type, mode, and what stands for the process in a label `pid`."""
    return os.path.join(folder, "%s_tfmemwatch%d.db" % (mode, number))


def _bounded(counts: Dict[str, float], most: int) -> Dict[str, float]:
    """The largest by name, the rest as `other`."""
    by_name: Dict[str, List[Any]] = {}
    for key, value in counts.items():
        by_name.setdefault(json.loads(key)[1], []).append((key, value))
    kept: Dict[str, float] = {}
    for of_one in by_name.values():
        of_one.sort(key=lambda row: -row[1])
        kept.update(of_one[: _MOST_CARRIED * most])
        for key, value in of_one[_MOST_CARRIED * most :]:
            words = json.loads(key)
            words[2] = dict.fromkeys(words[2], OTHER_LABEL)
            other = json.dumps(words, sort_keys=True)
            kept[other] = kept.get(other, 0.0) + value
    return kept
