"""About how many free pieces glibc's malloc has, without asking it."""

from __future__ import annotations

import array
import ctypes
import os
import re
import sys
from typing import Iterator, List, Sequence, Tuple

from .allocator import PAGE_BYTES

_ARENA_BYTES = 64 << 20  # what glibc reserves for the heap of a thread, and aligns it to
_SMALL_HEAP_BYTES = 32 << 20  # in which all free pieces that there can be are counted soon
_WINDOW_BYTES, _WINDOWS = 32 << 10, 48  # of the heap, looked at
_LEAST_LINKS = 6  # pieces that follow one another, for it to be no accident
_MAPS = re.compile(rb"^([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ 0 *(\[heap\])?\n", re.M)


def free_pieces() -> int:
    """About how many free pieces malloc has, by what some windows of its heap look like; no lock is taken.

    Nothing is read but through a file of the kernel's, so that what is unmapped meanwhile is an error, and no crash.
    Those that are freed for the next to come are not seen: they are few, or go soon.
    """
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return 0
    try:
        with open("/proc/self/maps", "rb") as file:
            found = [(int(start, 16), int(end, 16), name) for start, end, name in _MAPS.findall(file.read())]
        heaps = [(start, end) for start, end, name in found if name or start % _ARENA_BYTES == 0]
        size = sum(end - start for start, end in heaps)
        if size <= _SMALL_HEAP_BYTES:
            return 0
        memory = os.open("/proc/self/mem", os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except (OSError, NameError):  # at the end of the interpreter there is no `open` any more
        return 0
    try:
        free = sum(_free_in(window) for window in _windows(memory, heaps, size))
    finally:
        os.close(memory)
    return free * size // (_WINDOWS * _WINDOW_BYTES)


def _windows(memory: int, heaps: List[Tuple[int, int]], size: int) -> Iterator[array.array[int]]:
    """Windows at even distances over all heaps."""
    apart, at = size // _WINDOWS, size // _WINDOWS // 2
    for start, end in heaps:
        while at < end - start:
            words = array.array("Q")
            place = start + at // PAGE_BYTES * PAGE_BYTES
            try:
                words.frombytes(os.pread(memory, min(_WINDOW_BYTES, end - place), place))
            except (OSError, ValueError):
                words = array.array("Q")  # it has gone
            yield words
            at += apart
        at -= end - start


def _free_in(words: Sequence[int]) -> int:
    """How many pieces in a window are free: where a chain of pieces is found that goes on to its end."""
    for start in range(0, len(words) // 2, 2):
        links, free = _chain(words, start)
        if links >= _LEAST_LINKS:
            return free
    return 0


def _chain(words: Sequence[int], at: int) -> Tuple[int, int]:
    """Pieces from here to the end of the window, and the free ones among them; no pieces where it can't be a chain.

    A piece begins with the size of the one before it, where that is free, and its own; the lowest bits say whether the
    one before is in use. A free one has two pointers to others.
    """
    links = free = 0
    last = len(words) - 2
    while at < last:
        own = words[at + 1]
        size = own & ~7
        if size < 32 or size & 8 or own & 2 or size > _ARENA_BYTES:
            return 0, 0
        links += 1
        following = at + size // 8
        if following < last and not words[following + 1] & 1:
            is_free = words[following] == size and _may_point(words[at + 2]) and _may_point(words[at + 3])
            if not is_free:
                return 0, 0
            free += 1
        at = following
    return links, free


def _may_point(word: int) -> bool:
    return word % 8 == 0 and 1 << 16 <= word < 1 << 48
