"""Resident memory is split by owner so that the parts sum to it, whatever can be read of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfmemwatch
from tfmemwatch.memory import account, mappings, object_weights
from tfmemwatch.memory.account import Account, Weights, split
from tfmemwatch.memory.allocator import Allocator, Heap
from tfmemwatch.memory.mappings import Resident
from tfmemwatch.memory.process import Memory, Process, PythonHeap, parsed_python_heap
from tfmemwatch.seams import runtime

MB = 1 << 20
sizes = st.integers(min_value=0, max_value=1 << 44)
heaps = st.builds(lambda used, kept, mapped: Heap(used + mapped, kept, mapped), sizes, sizes, sizes)


@given(
    st.builds(Memory, sizes, sizes, sizes, sizes, sizes), st.one_of(heaps, st.just(Heap(None, None))),
    st.one_of(st.none(), st.builds(PythonHeap, sizes, sizes)),
    st.one_of(st.none(), st.builds(Resident, *[sizes] * 8)), st.builds(Weights, *[sizes] * 5),
)  # fmt: skip
def test_the_parts_always_sum_to_the_whole(memory, heap, python, found, weights):
    """Also where readings of different moments contradict each other; only two parts may be less than nothing."""
    parts, resident = split(memory, heap, python, found, weights)
    assert sum(parts.values()) == resident
    assert {name for name, size in parts.items() if size < 0} <= {"untouched", "rest"}
    assert set(parts) == set(account.TITLES)


def test_each_part_is_whose_it_is():
    """A glibc process: what is in its heap and in use, in mappings, kept, Python's, and everybody else's."""
    found = Resident(50 * MB, 5 * MB, 300 * MB, 2 * MB, 0, 1 * MB, 200 * MB)
    heap = Heap(40 * MB + 60 * MB, 12 * MB, 60 * MB)
    weights = Weights(10 * MB, 30 * MB, 20 * MB, 15 * MB, 5 * MB)
    parts, resident = split(Memory(0, 0, 0, 0), heap, PythonHeap(90 * MB, 10 * MB), found, weights)
    assert resident == 553 * MB
    assert parts == {
        "python": 100 * MB, "python_kept": 10 * MB, "numpy": 30 * MB, "tensors": 20 * MB, "variables": 15 * MB,
        "constants": 5 * MB, "malloc": 20 * MB, "malloc_kept": 10 * MB, "anonymous": 40 * MB, "stacks": 1 * MB,
        "shared": 2 * MB, "devices": 0, "files": 300 * MB, "untouched": 0, "rest": 0,
    }  # fmt: skip


def test_an_array_that_was_never_written_to_is_taken_off():
    """8 GB of zeros are 8 GB of NumPy's, and not resident."""
    found = Resident(50 * MB, 0, 300 * MB, 0, 0, 0, 100 * MB)
    heap = Heap(50 * MB + 8000 * MB, 0, 8000 * MB)
    parts, _ = split(Memory(0, 0, 0, 0), heap, PythonHeap(90 * MB, 0), found, Weights(arrays_bytes=8000 * MB))
    assert (parts["numpy"], parts["untouched"], parts["rest"]) == (8000 * MB, -7990 * MB, 0)


SMAPS = b"""55e470c2b000-55e4734e6000 rw-p 00000000 00:00 0                          [heap]
Size:              41708 kB
KernelPageSize:        4 kB
Rss:               41532 kB
Anonymous:         41532 kB
VmFlags: rd wr mr mw me ac
7f7704000000-7f7704024000 rw-p 00000000 00:00 0
Size:                144 kB
Rss:                 100 kB
VmFlags: rd wr mr mw me nr
7f7704024000-7f7708000000 ---p 00000000 00:00 0
Size:              65392 kB
Rss:                   0 kB
VmFlags: mr mw me nr
7f7708000000-7f7708021000 rw-p 00000000 00:00 0
Size:                132 kB
Rss:                   8 kB
VmFlags: rd wr mr mw me ac
7f7710000000-7f7710001000 ---p 00000000 00:00 0
Size:                  4 kB
Rss:                   0 kB
VmFlags: mr mw me ac
7f7710001000-7f7710801000 rw-p 00000000 00:00 0
Size:               8192 kB
Rss:                  24 kB
VmFlags: rd wr mr mw me ac
7f7720000000-7f7720001000 rw-s 00000000 00:01 1026 /dev/zero (deleted)
Size:                  4 kB
Rss:                   4 kB
VmFlags: rd wr sh mr mw me ms
7f7730600000-7f773b584000 r-xp 00000000 fe:00 16164357                   /opt/a b/libtensorflow.so
Size:             179728 kB
Rss:               70880 kB
VmFlags: rd ex mr mw me
7ffc1b000000-7ffc1b021000 rw-p 00000000 00:00 0                          [stack]
Size:                132 kB
Rss:                  40 kB
VmFlags: rd wr mr mw me gd ac
"""


def test_mappings_are_sorted_by_what_they_are():
    """The heap and a thread's arena, a thread's stack by its guard, shared memory, a library, the rest."""
    rows = list(mappings.parsed(SMAPS))
    assert [row.path for row in rows if row.path] == [
        b"[heap]", b"/dev/zero (deleted)", b"/opt/a b/libtensorflow.so", b"[stack]"
    ]  # fmt: skip
    found = mappings.resident(rows, heap_is_named=True)
    assert found == Resident(
        heap_bytes=41632 << 10, heap_absent_bytes=(41708 - 41532 + 44) << 10, files_bytes=70880 << 10,
        shared_bytes=4 << 10, devices_bytes=0, stacks_bytes=64 << 10, anonymous_bytes=8 << 10,
    )  # fmt: skip
    assert found.bytes == sum(row.resident_bytes for row in rows)


def test_without_flags_an_arena_is_known_by_its_place():
    """On kernels that do not tell them, or where nothing is promised that is not there."""
    found = mappings.resident(list(mappings.parsed(SMAPS.replace(b" nr", b""))), heap_is_named=True)
    assert found.heap_bytes == (41632 + 8) << 10


def test_another_malloc_has_no_heap_of_that_name():
    """Under jemalloc [heap] is as anonymous as the rest."""
    assert mappings.resident(list(mappings.parsed(SMAPS)), heap_is_named=False).heap_bytes == 0


PYTHON = """
# arenas allocated total           =                  100
# arenas allocated current         =                  100
100 arenas * 1048576 bytes/arena   =          104,857,600

# bytes in allocated blocks        =          102,495,200
# bytes in available blocks        =              363,408
3 unused pools * 16384 bytes       =               49,152
# bytes lost to pool headers       =              303,456
# bytes lost to quantization       =              417,584
# bytes lost to arena alignment    =            1,228,800
Total                              =          104,857,600
"""


def test_pythons_own_statistics_are_read():
    """What is in use, with its overhead; what is free in arenas that something lives in."""
    kept = 363408 + 49152 + 1228800
    assert parsed_python_heap(PYTHON) == PythonHeap(104857600 - kept, kept)
    assert parsed_python_heap("") is None


def test_without_proc_what_can_be_read_is_and_the_rest_says_why(tmp_path):
    """No list of mappings, no malloc: resident memory is not split, and nothing fails."""
    process = Process(str(tmp_path), Allocator("malloc in use is not known: musl does not report it"))
    found = account.take(process, object_weights.ObjectWeights, dict)
    assert sum(found.parts.values()) == found.resident_bytes == 0
    assert any("musl" in why for why in found.off) and any("list of mappings" in why for why in found.off)
    assert account.returnable(process) is None


@pytest.mark.slow
def test_an_account_of_this_process_adds_up():
    """Here, now: the whole is what the kernel says, within two in a hundred."""
    process = Process()
    resident = process.resident_bytes()
    found = tfmemwatch.owners()
    assert found.resident_bytes == pytest.approx(resident, rel=0.02)
    assert sum(found.parts.values()) == found.resident_bytes
    assert abs(found.of("rest")) < 0.02 * found.resident_bytes
    assert "Python objects" in str(found)
    process.close()


def of(**parts):
    return Account(0.0, sum(parts.values()), parts, None, None, None, {}, {}, "glibc", ())


def test_a_change_stands_beside_each_part_and_small_change_does_not():
    """Aligned, with signs; what is nothing is left out."""
    before, after = of(python=100 * MB, numpy=1, malloc=9 * MB), of(python=100 * MB, numpy=40 * MB, malloc=7 * MB)
    assert after.lines(before) == (
        "resident               147 MiB  +38 MiB",
        "  Python objects       100 MiB",
        "  NumPy arrays          40 MiB  +40 MiB",
        "  malloc, other          7 MiB  −2 MiB",
    )
    assert after.most(before) == ("numpy", 40 * MB - 1)


def test_what_is_in_use_comes_before_what_is_kept():
    """Free memory comes and goes by megabytes; a leak is exact."""
    assert of(python=1 * MB, malloc_kept=5 * MB).most(of(python=0, malloc_kept=0))[0] == "python"
    assert (
        of(python=2 * MB, python_kept=0, anonymous=9 * MB).most(of(python_kept=MB, anonymous=6.5 * MB))[0] == "python"
    )
    assert of(python=1000, malloc_kept=5 * MB).most(of(python=0, malloc_kept=0))[0] == "malloc_kept"


class Device:
    """A logical device of TensorFlow's."""

    def __init__(self, name):
        self.name, self.device_type = name, name.split(":")[0]


class Runtime:
    """The context of a TensorFlow that has a GPU with an allocator and an accelerator without one."""

    _context_handle = 1

    def list_logical_devices(self):
        return [Device("CPU:0"), Device("GPU:0"), Device("NPU:0")]

    def get_memory_info(self, name):
        if name == "NPU:0":
            raise ValueError("Allocator stats not available for device NPU:0")
        return {"current": 7 * MB, "peak": 9 * MB}


def test_each_device_with_an_allocator_of_its_own_is_asked(fake_tf, monkeypatch):
    """The CPU's is malloc and answers zeros; one that can't be asked is left out; no runtime is started for it."""
    assert runtime.device_memory() == {}
    monkeypatch.setattr(fake_tf.python.eager.context, "_context", Runtime())
    assert runtime.device_memory() == {"GPU:0": 7 * MB}
    found = of(python=MB)._replace(devices=runtime.device_memory())
    assert found.lines(found._replace(devices={"GPU:0": 5 * MB}))[-1] == "GPU:0                    7 MiB  +2 MiB"
