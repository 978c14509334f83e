"""The metrics of many workers, in the folder from which prometheus_client adds them up (PROMETHEUS_MULTIPROC_DIR).

Custom collectors are not seen there, and the client's own files are named by process: they pile up, and what a dead
process had alive stays. So each worker has a *slot*: a number with a lock on it, which the kernel takes back however
the worker ends. Whoever takes the slot next counts on from where its counters stood, so that no sum ever falls; what
was alive in a slot without an owner is swept by the others. There are never more files than workers at one time.
"""

from __future__ import annotations

import contextlib
import glob
import inspect
import json
import os
import re
from typing import IO, Any, Dict, Iterable, List, Optional

from ..catalog import BY_NAME, METRICS
from ..errors import ConfigError
from .folder import is_writable
from .series import OTHER_LABEL, Family

try:
    import fcntl
except ImportError:  # Windows has neither fork nor such servers
    fcntl = None  # type: ignore[assignment]

_MODES = {"sum": "gauge_livesum", "max": "gauge_livemax", "worker": "gauge_liveall"}
_COUNTER = "counter"
_MOST_WORKERS = 4096
_MOST_CARRIED = 4  # times the labels that a metric may have, of what earlier owners of a slot have counted


def folder_of(environ: Any = os.environ) -> str:
    """The folder that the workers share; empty where they share none."""
    return environ.get("PROMETHEUS_MULTIPROC_DIR") or environ.get("prometheus_multiproc_dir") or ""


class Lock:
    """A lock on a file, held until it is given back or its process ends."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: Optional[IO[str]] = None

    def take(self) -> bool:
        """Whether it is ours now; nobody waits."""
        file = open(self._path, "a")  # noqa: SIM115  # open for as long as the lock is held
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return False
        self._file = file
        return True

    @property
    def is_ours(self) -> bool:
        """Whether we still hold it: who empties the folder takes the file away under our hands."""
        try:
            return self._file is not None and os.path.samestat(os.fstat(self._file.fileno()), os.stat(self._path))
        except OSError:
            return False

    def give_back(self) -> None:
        """Let the next one have it. In a forked child it stays its parent's."""
        file, self._file = self._file, None
        if file is not None:
            file.close()


class _File:
    """One file of values, in the client's own format: changed in place, made anew only where something has gone."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._values: Dict[str, float] = {}
        self._stored: Any = None

    def write(self, values: Dict[str, float]) -> None:
        """Make these the values. Who reads meanwhile sees the old ones or the new, never half a file."""
        if self._stored is None or not self._values.keys() <= values.keys() or not os.path.exists(self._path):
            making = self._path + ".new"  # not *.db: nobody reads it yet
            with contextlib.suppress(FileNotFoundError):
                os.remove(making)
            stored = _mmap_dict().MmapedDict(making)
            self._put(stored, values, {})
            os.rename(making, self._path)
            self.close()
            self._stored = stored
        else:
            self._put(self._stored, values, self._values)
        self._values = dict(values)

    @staticmethod
    def _put(stored: Any, values: Dict[str, float], before: Dict[str, float]) -> None:
        has_time = len(inspect.signature(stored.write_value).parameters) > 2
        for key, value in values.items():
            if before.get(key) != value:
                stored.write_value(key, value, 0.0) if has_time else stored.write_value(key, value)

    def close(self) -> None:
        """Let go of the file; it stays."""
        stored, self._stored = self._stored, None
        if stored is not None:
            stored.close()

    def remove(self) -> None:
        """Let go of the file, and of what was in it."""
        self.close()
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._path)


class Slot:
    """One worker's place among the others."""

    def __init__(self, folder: str, most: int) -> None:
        if fcntl is None:
            raise ConfigError("PROMETHEUS_MULTIPROC_DIR is %r; it must not be set on this system" % folder)
        if not is_writable(folder):
            raise ConfigError("PROMETHEUS_MULTIPROC_DIR is %r; it must be a folder that can be written to" % folder)
        self._folder = folder
        self._most = most
        self._keys: Dict[Any, str] = {}
        self.forget()

    def forget(self) -> None:
        """In a forked child: the slot is the parent's; take another one with the next write."""
        self.number: Optional[int] = None
        self._lock: Optional[Lock] = None
        self._files: Dict[str, _File] = {}
        self._carried: Dict[str, float] = {}
        self._counted: Dict[str, float] = {}  # what was written last

    def write(self, families: Iterable[Family]) -> None:
        """Make these the values of this worker."""
        if self._lock is None or not self._lock.is_ours:
            self._take()
        values: Dict[str, Dict[str, float]] = {mode: {} for mode in self._files}
        for metric, samples in families:
            mode = values[_COUNTER if metric.type == "counter" else _MODES[metric.adds]]
            for labels, value in samples:
                mode[self._key(metric.name, labels)] = value
        counts = values[_COUNTER]
        gone = {key: n for key, n in self._counted.items() if key not in counts and n != self._carried.get(key)}
        if gone:  # lines that are no longer named: they will begin at zero again
            self._carried = _bounded({**self._carried, **gone}, self._most)
        values[_COUNTER] = {**self._carried, **{key: n + self._carried.get(key, 0.0) for key, n in counts.items()}}
        self._counted = values[_COUNTER]
        for name, file in self._files.items():
            file.write(values[name])

    def leave(self) -> None:
        """What was alive here is no more; what was counted stays counted."""
        for name, file in self._files.items():
            file.close() if name == _COUNTER else file.remove()
        lock = self._lock
        self.forget()
        if lock is not None:
            lock.give_back()

    def _take(self) -> None:
        for number in range(_MOST_WORKERS):
            lock = Lock(_lock_path(self._folder, number))
            if lock.take():
                break
        else:
            raise OSError("more than %d workers" % _MOST_WORKERS)
        self.number, self._lock = number, lock
        self._files = {name: _File(_path(self._folder, name, number)) for name in (_COUNTER, *_MODES.values())}
        self._carried = _carried(_path(self._folder, _COUNTER, number), self._most)

    def _key(self, name: str, labels: Any) -> str:
        key = self._keys.get((name, labels))
        if key is None:
            if len(self._keys) > 8 * len(METRICS) * self._most:
                self._keys.clear()
            key = self._keys[name, labels] = _key(name, labels)
        return key


def sweep(folder: str) -> List[int]:
    """Remove what was alive in workers that have ended, however they did; says whose slots those were."""
    ended = []
    for path in glob.glob(os.path.join(folder, "tfmemwatch*.lock")):
        found = re.search(r"tfmemwatch(\d+)\.lock$", path)
        if found is None:
            continue
        number = int(found.group(1))
        files = [_path(folder, mode, number) for mode in _MODES.values()]
        files = [file for file in files if os.path.exists(file)]
        lock = Lock(path)
        if not files or not lock.take():
            continue
        try:
            for file in files:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(file)
            ended.append(number)
        finally:
            lock.give_back()
    return ended


class Together:
    """A collector of what all workers have written."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def describe(self) -> List[Any]:
        """Nothing that could clash: it has a registry of its own."""
        return []

    def collect(self) -> Iterable[Any]:
        """The workers' metrics, each added up as the catalogue says."""
        from prometheus_client import multiprocess

        merge: Any = multiprocess.MultiProcessCollector.merge
        families: Iterable[Any] = merge(glob.glob(os.path.join(self._folder, "*_tfmemwatch*.db")))
        return families


def _mmap_dict() -> Any:
    """The client's own module for such files: what differs between its versions, it knows itself."""
    from prometheus_client import mmap_dict

    return mmap_dict


def _lock_path(folder: str, number: int) -> str:
    return os.path.join(folder, "tfmemwatch%d.lock" % number)


def _path(folder: str, mode: str, number: int) -> str:
    """The client reads what the file's name says: type, mode, and what stands for the process in a label `pid`."""
    return os.path.join(folder, "%s_tfmemwatch%d.db" % (mode, number))


def _key(name: str, labels: Any) -> str:
    metric = BY_NAME[name]
    family = name[: -len("_total")] if metric.type == "counter" else name
    words = (family, name, list(metric.labels), list(labels), metric.help)
    mmap_key = _mmap_dict().mmap_key
    return str(mmap_key(*words[: len(inspect.signature(mmap_key).parameters)]))


def _carried(path: str, most: int) -> Dict[str, float]:
    """What the earlier owners of a slot have counted; it is bounded, since lines of code come and go."""
    try:
        rows = _mmap_dict().MmapedDict.read_all_values_from_file(path)
        return _bounded({row[0]: float(row[1]) for row in rows}, most)
    except Exception:  # there is none, or its owner has ended in the middle of making it
        return {}


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
