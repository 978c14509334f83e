"""What the process holds is read cheaply, and what can't be read says why."""

import os

import pytest

from tfmemwatch.memory import glibc
from tfmemwatch.memory import process as reading
from tfmemwatch.memory.allocator import Allocator
from tfmemwatch.memory.process import Memory, Process

PAGE = os.sysconf("SC_PAGE_SIZE")
MB = 1 << 20


@pytest.fixture
def proc(tmp_path):
    """A /proc with 50 resident pages."""
    statm = tmp_path / "self" / "statm"
    statm.parent.mkdir()
    statm.write_text("200 50 10 1 0 30 0\n", encoding="ascii")
    return tmp_path


def test_resident_memory_is_read_from_statm(proc):
    """The second number, in pages; and anew each time, through the one file descriptor."""
    process = Process(str(proc))
    assert process.resident_bytes() == 50 * PAGE
    (proc / "self" / "statm").write_text("200 70 10 1 0 30 0\n", encoding="ascii")
    assert process.resident_bytes() == 70 * PAGE
    assert process.read().resident_bytes == 70 * PAGE
    process.close()


def test_where_there_is_no_proc_it_says_why(tmp_path):
    """On a system without /proc resident memory is not known, and nothing else fails."""
    process = Process(str(tmp_path / "absent"))
    assert process.resident_bytes() is None
    assert process.read().resident_bytes is None
    assert "resident memory is not known" in process.off
    assert "statm" in process.off


def test_where_malloc_can_not_be_asked_it_says_why(proc):
    """On musl resident memory stands in for what is in use."""
    process = Process(str(proc), Allocator("this C library has no mallinfo"))
    assert process.in_use_bytes() is None
    assert "no mallinfo" in process.off
    assert process.read().held_bytes == 50 * PAGE
    process.close()


def test_two_reasons_are_both_told(tmp_path):
    """Where neither can be read, the doctor names both."""
    process = Process(str(tmp_path / "absent"), Allocator("this C library has no mallinfo"))
    assert ("no mallinfo" in process.off, "statm" in process.off) == (True, True)


def test_after_close_nothing_is_open_and_nothing_fails(proc):
    """The descriptor is given back once, and reading goes on without it."""
    process = Process(str(proc))
    descriptor = process._statm
    process.close()
    process.close()
    with pytest.raises(OSError):
        os.fstat(descriptor)
    assert process.resident_bytes() is None


def test_opening_again_leaves_one_descriptor(proc):
    """A fork opens it anew, and does not leak the old one."""
    process = Process(str(proc))
    before = len(os.listdir("/proc/self/fd"))
    process.open()
    assert len(os.listdir("/proc/self/fd")) == before
    process.close()


def test_what_malloc_has_handed_out_rises_and_falls():
    """Bytes in use, not what the allocator keeps: ten megabytes come and go."""
    process = Process()
    if process.in_use_bytes() is None:
        pytest.skip(process.off)
    before = process.in_use_bytes()
    kept = bytearray(10000000)
    during = process.in_use_bytes()
    del kept
    assert during - before > 9900000
    assert abs(process.in_use_bytes() - before) < 100000
    process.close()


def test_what_is_held_counts_the_small_objects_of_python():
    """They live in arenas that malloc does not know one by one."""
    few, many = Memory(None, 1000, 0, 10), Memory(None, 1000, 0, 110)
    assert many.held_bytes - few.held_bytes == 100 * reading.PYTHON_BLOCK_BYTES


def test_the_old_mallinfo_wraps_and_is_read_right():
    """32 bits are enough up to four gigabytes."""
    assert glibc.unsigned(-1) == (1 << 32) - 1
    assert glibc.unsigned(5) == 5


def test_what_was_asked_for_and_never_touched_is_not_held():
    """TensorFlow doubles the block that its tensors come from: 256 MB more at once, of which 1 MB is written to."""
    before = reading.Memory(600 * MB, 180 * MB, 2 * MB, MB, 300 * MB)
    after = reading.Memory(601 * MB, (180 + 256) * MB, 2 * MB, MB, 300 * MB)
    assert after.held_bytes - before.held_bytes < 32 * MB
    assert before.held_bytes == 180 * MB + MB * reading.PYTHON_BLOCK_BYTES


def test_what_a_call_has_in_hand_is_not_in_the_least_of_some_readings():
    """One that falls between two calls is enough."""
    values = [300.0] * 20 + [100.0] + [300.0] * 100
    assert reading.least(lambda: values.pop(0)) == 100.0
