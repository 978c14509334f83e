"""The file of one worker's values: as prometheus_client lays it out, written whole and renamed, read with care."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import struct
from typing import Any, Dict, List, Tuple

from ..catalog import BY_NAME
from ..safety.descriptors import Descriptor
from .folder import replace

COUNTER = "counter"

_MOST_BYTES = 64 << 20  # of one file
_MOST_NAME_BYTES = 64 << 10  # of one name with its labels
MOST_KNOWN = 20_000  # names that are not read, or written, twice

_NAME = re.compile(r"[a-z_]\w*\Z", re.ASCII)

_LENGTH = struct.Struct("i")
_FIRST = 8  # the bytes before the first value: how many are used, and four that are none


class Format:
    """How the client that is installed lays out such a file: its versions differ, and its own functions tell.

    We write it without the client, which maps the file: on a full disk, or where another one has truncated the file,
    a mapping is the end of the process (SIGBUS).
    """

    def __init__(self) -> None:
        from prometheus_client import mmap_dict

        self._mmap_key: Any = mmap_dict.mmap_key
        self._words = len(inspect.signature(self._mmap_key).parameters)
        has_time = len(inspect.signature(mmap_dict.MmapedDict.write_value).parameters) > 3  # self, key, value
        self._value = struct.Struct("dd" if has_time else "d")
        self._rest = (0.0,) if has_time else ()
        self._heads: Dict[str, bytes] = {}  # of values: their names, as they stand in the file

    def key(self, name: str, labels: Any) -> str:
        """What a value is stored by."""
        metric = BY_NAME[name]
        family = name[: -len("_total")] if metric.type == "counter" else name
        words = (family, name, list(metric.labels), list(labels), metric.help)
        return str(self._mmap_key(*words[: self._words]))

    def packed(self, values: Dict[str, float]) -> bytes:
        """A whole file."""
        parts = [b""]
        if len(self._heads) > 4 * len(values) + MOST_KNOWN:
            self._heads.clear()
        for key, value in values.items():
            head = self._heads.get(key)
            if head is None:
                name = key.encode("utf-8")
                head = self._heads[key] = _LENGTH.pack(len(name)) + name + b" " * (8 - (len(name) + 4) % 8)
            parts += (head, self._value.pack(value, *self._rest))
        used = _FIRST + sum(map(len, parts))
        parts[0] = _LENGTH.pack(used) + bytes(_FIRST - _LENGTH.size)
        return b"".join(parts)

    def rows(self, data: bytes) -> List[Tuple[str, float]]:
        """The keys and values of a file; ValueError where it is none."""
        rows = []
        try:
            (used,) = _LENGTH.unpack_from(data, 0)
            if not _FIRST <= used <= len(data):
                raise ValueError("%d bytes of %d are said to be used" % (used, len(data)))
            at = _FIRST
            while at < used:
                (length,) = _LENGTH.unpack_from(data, at)
                if not 0 <= length <= min(used - at, _MOST_NAME_BYTES):
                    raise ValueError("a name of %d bytes" % length)
                name = data[at + 4 : at + 4 + length].decode("utf-8")
                at += 4 + length + 8 - (length + 4) % 8
                rows.append((name, float(self._value.unpack_from(data, at)[0])))
                at += self._value.size
        except struct.error as error:
            raise ValueError("it ends too early: %s" % error) from None
        return rows


def read(path: str) -> bytes:
    """What a plain file holds, if it is not too much; no link is followed, no pipe or device read."""
    file = Descriptor(path, os.O_RDONLY)
    try:
        if not 0 <= file.plain_bytes <= _MOST_BYTES:
            raise ValueError("it is not a regular file of up to %d bytes" % _MOST_BYTES)
        parts, left = [], _MOST_BYTES
        while left > 0:
            part = os.read(file.number, min(left, 1 << 20))
            if not part:
                break
            parts.append(part)
            left -= len(part)
        return b"".join(parts)
    finally:
        file.close()


def write_whole(path: str, data: bytes) -> None:
    """Put a whole file in the place of the last one: who reads meanwhile has the one or the other."""
    making = path + ".new"  # not *.db: nobody reads it yet
    remove(making)
    replace(path, making, data)


def remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)


def checked(key: str, kind: str) -> Tuple[str, str, Tuple[Tuple[str, str], ...], str]:
    """A key's words, if they are what we write: what is shown must be valid, whoever has written it."""
    words = json.loads(key)
    if type(words) is not list or len(words) not in (3, 4) or type(words[2]) is not dict:
        raise ValueError("a key is %.80r" % (words,))
    family, name, labels = words[:3]
    texts = [*labels.values(), *words[3:]]
    if not all(type(one) is str and _NAME.match(one) for one in (family, name, *labels)):
        raise ValueError("the names are %.80r" % (words,))
    if name != (family + "_total" if kind == COUNTER else family) or not name.startswith("tfmemwatch_"):
        raise ValueError("%.80r is no name of a %s of ours" % (name, kind))
    if not all(type(text) is str for text in texts):
        raise ValueError("the labels are %.80r" % (texts,))
    for text in texts:
        text.encode("utf-8")  # what has half a character can't be sent
    known = BY_NAME.get(name)
    text = words[3] if len(words) > 3 else known.help if known is not None else "Multiprocess metric"
    return family, name, tuple(sorted(labels.items())), text
