"""malloc counts its free pieces one by one, and whoever allocates stands still meanwhile: it is asked with care."""

import types

import own_process
import pytest

from tfmemwatch.memory import glibc, own_allocator
from tfmemwatch.memory import process as reading
from tfmemwatch.memory.allocator import Heap
from tfmemwatch.memory.glibc import Glibc
from tfmemwatch.memory.process import Process

SHATTERED = """
    import ctypes, sys
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    pieces = [library.malloc(600 + number % 3000) for number in range(2 * int(sys.argv[1]))]
    for piece in pieces[::2]:
        library.free(piece)
"""


def needs_glibc():
    if not isinstance(own_allocator.of_this_process(), Glibc):
        pytest.skip("the malloc of this machine is not glibc's")


def test_a_heap_in_very_many_pieces_is_not_counted_even_once():
    """With 250,000 free pieces each count takes tens of milliseconds: resident memory stands in, and it is said."""
    needs_glibc()
    lines = own_process.said(
        SHATTERED
        + """
    import tfmemwatch
    from tfmemwatch.memory import glibc
    counts, make = [], glibc.Glibc.__init__

    def counted(self, library):
        make(self, library)
        info = self._info
        self._info = lambda: (counts.append(1), info())[1]

    glibc.Glibc.__init__ = counted
    watch = tfmemwatch.install(sample_seconds=3600, metrics=False)
    for _ in range(3):
        watch.look()
    print(len(counts), watch.process.read().in_use_bytes, watch.process.in_use_bytes())
    print(watch.process.read().held_bytes > 0, "free pieces" in str(tfmemwatch.report()))
    """,
        "250000",
    )
    assert lines == ["0 None None", "True True"]


def test_how_many_pieces_there_are_is_seen_beforehand():
    """By some windows of the heap, within a factor of two; a heap that is whole has next to none."""
    needs_glibc()
    program = (
        SHATTERED
        + """
    from tfmemwatch.memory import free_pieces
    print(free_pieces.free_pieces())
    """
    )
    (few,), (many,) = own_process.said(program, "1000"), own_process.said(program, "60000")
    assert int(few) < 10000
    assert 30000 < int(many) < 120000


class Library:
    """A C library whose heap has so many pieces, and whose clock says how long a count takes."""

    def __init__(self, monkeypatch):
        self.pieces = self.counts = 0
        self.took = self.now = 0.0
        clock = types.SimpleNamespace(thread_time=lambda: self.now, monotonic=lambda: self.now)
        monkeypatch.setattr(glibc, "time", clock)
        monkeypatch.setattr(glibc, "free_pieces", lambda: 0)

        def mallinfo2():
            self.counts += 1
            self.now += self.took
            return types.SimpleNamespace(
                uordblks=1000 * self.counts, fordblks=5, hblkhd=0, ordblks=self.pieces, smblks=0
            )

        self.mallinfo2 = mallinfo2


@pytest.fixture
def library(monkeypatch):
    return Library(monkeypatch)


def test_a_count_that_takes_milliseconds_is_made_seldom(library):
    """A thousandth of the time at most; between two of them the last one stands, and calls are not weighed."""
    library.pieces, library.took = 40000, 0.008
    malloc = Glibc(library)
    process = Process("/proc", malloc)
    first = malloc.read()
    assert [malloc.read() for _ in range(100)] == [first] * 100
    assert (library.counts, malloc.is_slow, process.in_use_bytes(), malloc.returnable_bytes()) == (1, True, None, None)
    library.now += 9.0
    assert malloc.read() != first
    library.took = 0.00001  # it has become whole again
    library.now += 9.0
    malloc.read()
    assert (malloc.is_slow, malloc.off) == (False, "")
    process.close()


def test_a_count_that_takes_too_long_was_the_last_one(library):
    """Nobody has to wait for a second one."""
    library.pieces, library.took = 250000, 0.05
    malloc = Glibc(library)
    malloc.read()
    library.now += 1e6
    assert malloc.read() == Heap(None, None)
    assert (library.counts, "250,000 free pieces" in malloc.off) == (1, True)


def test_a_heap_that_goes_to_pieces_is_counted_once(library):
    """It was whole when it was asked before: one long count cannot be foreseen, a second one is not made."""
    malloc = Glibc(library)
    assert malloc.read() != Heap(None, None)
    library.pieces, library.took = 250000, 0.05
    assert [malloc.read() for _ in range(3)] == [Heap(None, None)] * 3
    assert (library.counts, malloc.is_slow) == (2, True)


def test_a_machine_that_stands_still_says_nothing_of_the_heap(library):
    """A count of few pieces that took long was interrupted; the next one is made as ever."""
    library.pieces, library.took = 10000, 0.5
    malloc = Glibc(library)
    assert [malloc.read().in_use_bytes for _ in range(3)] == [1000, 2000, 3000]
    assert malloc.off == ""


def test_the_least_of_some_readings_has_a_bound_in_time(monkeypatch):
    """Where each takes milliseconds there are but a few."""
    now, read = [0.0], []
    clock = types.SimpleNamespace(perf_counter=lambda: now[0], sleep=lambda seconds: None)
    monkeypatch.setattr(reading, "time", clock)

    def dear():
        read.append(1)
        now[0] += 0.004
        return 7.0

    assert reading.least(dear) == 7.0
    assert len(read) < 10
