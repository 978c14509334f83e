"""The malloc of a process is recognised and asked in its own way; one that can't be asked says why."""

import ctypes
import sys

import pytest

from tfmemwatch.memory import allocator, other_allocators, own_allocator
from tfmemwatch.memory.allocator import Heap
from tfmemwatch.memory.glibc import Glibc, whole_pages_bytes

PAGE = allocator.PAGE_BYTES


class Library:
    """A C library that has these functions; `malloc` comes from a file of this name."""

    def __init__(self, file, **functions):
        name = file.encode()

        def dladdr(address, found):
            ctypes.cast(found, ctypes.POINTER(ctypes.c_char_p))[0] = name
            return 1

        self.malloc = ctypes.CFUNCTYPE(None)(lambda: None)
        self.dladdr = dladdr
        for function in functions:
            setattr(self, function, functions[function])


@pytest.mark.parametrize("file", ["/lib/ld-musl-x86_64.so.1", "/lib/libc.musl-x86_64.so.1"])
def test_musl_does_not_say(file):
    """Resident memory stands in for what is in use."""
    found = own_allocator.of_this_process(Library(file))
    assert (found.read(), found.trim(), found.returnable_bytes()) == (Heap(None, None), False, None)
    assert "musl does not report it" in found.off


def test_an_unknown_malloc_is_named():
    """With its file, so that one knows what there is."""
    found = own_allocator.of_this_process(Library("/opt/libsnmalloc.so"))
    assert (found.name, "libsnmalloc.so can't be asked" in found.off) == ("unknown", True)


def test_one_without_statistics_is_named_too():
    """A jemalloc that was built without them."""
    found = own_allocator.of_this_process(Library("/usr/lib/libjemalloc.so.2", mallctl=lambda *arguments: 2))
    assert "libjemalloc.so.2 can't be asked; it was built without statistics" in found.off


def test_one_that_is_built_into_the_program_is_known_by_its_functions():
    """A Python that was linked with mimalloc."""
    found = own_allocator.of_this_process(Library("/usr/bin/python3", mi_collect=lambda force: None))
    assert (found.name, found.trim()) == ("mimalloc", True)


def test_macos_is_asked_for_its_zones(monkeypatch):
    """What is allocated less what is in use is kept."""

    def statistics(zone, found):
        row = ctypes.cast(found, ctypes.POINTER(other_allocators._ZoneStatistics))[0]
        row.in_use, row.allocated = 700, 1000

    relieved = []

    def relief(zone, goal):
        relieved.append(goal)

    monkeypatch.setattr(sys, "platform", "darwin")
    library = Library("/usr/lib/libSystem.dylib", malloc_zone_statistics=statistics, malloc_zone_pressure_relief=relief)
    found = own_allocator.of_this_process(library)
    assert (found.read(), found.trim(), relieved) == (Heap(700, 300), True, [0])
    assert found.returnable_bytes() is None


def test_here_it_is_glibc_and_it_adds_up():
    """In use and kept make up what it has taken from the system."""
    found = own_allocator.of_this_process()
    if not isinstance(found, Glibc):
        pytest.skip("the malloc of this machine is %s" % found.name)
    assert found.heap_is_named
    info = found._info()
    heap = found.read()
    assert heap.in_use_bytes + heap.kept_bytes == pytest.approx(info.arena + info.hblkhd, rel=0.05)


INFO = """<malloc version="1">
<heap nr="0">
<sizes>
  <size from="33" to="33" total="330" count="10"/>
  <size from="20481" to="24577" total="%d" count="100"/>
  <unsorted from="9" to="9" total="9" count="1"/>
</sizes>
<total type="fast" count="2" size="64"/>
<total type="rest" count="112" size="%d"/>
</heap>
<heap nr="1">
<sizes>
</sizes>
<total type="fast" count="0" size="0"/>
<total type="rest" count="1" size="131984"/>
</heap>
<total type="rest" count="113" size="1"/>
</malloc>"""


def test_of_free_chunks_the_whole_pages_go_back():
    """Of a hundred chunks of 5½ pages some 4½ each, of small ones none; of the end of a heap all but a page."""
    size = int(5.5 * PAGE)
    text = INFO % (100 * size, 330 + 100 * size + 9 + 64 * PAGE)
    expected = 100 * (4.5 * PAGE - 48) + 63 * PAGE + (131984 // PAGE - 1) * PAGE
    assert whole_pages_bytes(text) == pytest.approx(expected, abs=PAGE)
