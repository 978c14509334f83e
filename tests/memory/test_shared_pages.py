"""What forked workers share is counted once."""

import pytest

from tfmemwatch.memory.shared_pages import SharedPages

MIB = 1 << 20


@pytest.fixture
def proc(tmp_path):
    (tmp_path / "self").mkdir()
    return tmp_path


def rollup(proc, rss, pss):
    (proc / "self" / "smaps_rollup").write_text(
        "000-fff ---p 0 00:00 0 [rollup]\nRss: %d kB\nPss: %d kB\n" % (rss, pss)
    )


def test_a_page_that_two_share_is_half_of_each(proc):
    """What others answer for is left out; in between resident memory tells how it goes on."""
    rollup(proc, 400 * 1024, 250 * 1024)
    now = [0.0]
    shared = SharedPages(str(proc), lambda: now[0])
    assert shared.own_part(400 * MIB) == 250 * MIB
    assert shared.own_part(410 * MIB) == 260 * MIB


def test_it_is_read_seldom_and_again(proc):
    """Once a minute at most: the kernel goes through all pages."""
    rollup(proc, 400 * 1024, 250 * 1024)
    now = [0.0]
    shared = SharedPages(str(proc), lambda: now[0])
    shared.own_part(400 * MIB)
    rollup(proc, 400 * 1024, 400 * 1024)
    now[0] = 59.0
    assert shared.own_part(400 * MIB) == 250 * MIB
    now[0] = 600.0
    assert shared.own_part(400 * MIB) == 400 * MIB


@pytest.mark.parametrize("text", [None, "", "Rss: x kB"])
def test_where_it_can_not_be_read_all_of_it_is_ones_own(proc, text):
    """An old kernel, another system."""
    if text is not None:
        (proc / "self" / "smaps_rollup").write_text(text)
    assert SharedPages(str(proc)).own_part(400 * MIB) == 400 * MIB


def test_of_a_very_large_process_it_is_not_asked(proc):
    """It would take long, and mmap() would have to wait for it."""
    rollup(proc, 400 * 1024, 250 * 1024)
    assert SharedPages(str(proc)).own_part(9 << 30) == 9 << 30
