"""Which limits hold, as control groups of both versions, rlimits and the machine tell them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfmemwatch.memory.limits import Limits
from tfmemwatch.memory.limits_ahead import LimitsAhead
from tfmemwatch.memory.process import Memory

MIB = 1 << 20
GIB = 1 << 30
UNLIMITED = "9223372036854771712\n"
PLAIN = {"meminfo": "MemTotal: 16777216 kB\nMemFree: 1 kB\nMemAvailable: 8388608 kB\n", "self/statm": "9 9 9 9 9 9 9\n"}
V1_MOUNT = "35 31 0:32 %s /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
V2_MOUNT = "35 31 0:32 %s /sys/fs/cgroup rw,nosuid,nodev - cgroup2 cgroup2 rw,nsdelegate\n"


def system(folder, proc, sys):
    """A /proc and a /sys of these files."""
    for root, files in (("proc", dict(PLAIN, **proc)), ("sys", sys)):
        for name, text in files.items():
            path = folder / root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return Limits(str(folder / "proc"), str(folder / "sys"))


def v1(folder, path, groups, root="/"):
    """A hierarchy of version 1: (limit, use) of each group in it."""
    sys = {}
    for name, (limit, used) in groups.items():
        at = os.path.join("fs/cgroup/memory", name)
        sys[os.path.join(at, "memory.limit_in_bytes")] = limit
        sys[os.path.join(at, "memory.usage_in_bytes")] = "%d\n" % used
        sys[os.path.join(at, "memory.stat")] = "cache 5\ntotal_inactive_file %d\ntotal_active_file 0\n" % MIB
    cgroup = "9:name=systemd:/x\n4:memory:%s\n1:cpu,cpuacct:/x\n" % path
    return system(folder, {"self/cgroup": cgroup, "self/mountinfo": V1_MOUNT % root}, sys)


def v2(folder, path, groups, root="/"):
    """A hierarchy of version 2: the files of each group in it."""
    sys = {
        os.path.join("fs/cgroup", name, file): text for name, files in groups.items() for file, text in files.items()
    }
    return system(folder, {"self/cgroup": "0::%s\n" % path, "self/mountinfo": V2_MOUNT % root}, sys)


def group(limit="max\n", used=100 * MIB, high="max\n", stat="anon 5\ninactive_file 0\nactive_file 0\n"):
    return {"memory.max": limit, "memory.high": high, "memory.current": "%d\n" % used, "memory.stat": stat}


def told(limits):
    """Name and size of all but the machine's."""
    return [(limit.name, limit.bytes) for limit in limits.read() if limit.name != "memory of this machine"]


def test_a_container_of_version_1_has_its_limit(tmp_path):
    """The limit of the group, and its use without the files that the kernel can drop."""
    limits = v1(tmp_path, "/docker/a", {"docker/a": ("%d\n" % (4 * GIB), 3 * GIB), "docker": (UNLIMITED, 3 * GIB)})
    (limit,) = [one for one in limits.read() if one.is_of_container]
    assert (limit.bytes, limit.used_bytes, limits.off) == (4 * GIB, 3 * GIB - MIB, [])


def test_inside_a_container_its_group_is_the_root_of_the_mount(tmp_path):
    """Docker shows a container of version 1 the path from outside, and mounts only its own group."""
    limits = v1(tmp_path, "/docker/a", {"": ("%d\n" % GIB, MIB)}, root="/docker/a")
    assert told(limits) == [("container limit", GIB)]


def test_a_group_of_its_own_name_space_is_read_at_the_mount(tmp_path):
    """Version 2 in a container says «0::/»."""
    assert told(v2(tmp_path, "/", {"": group("%d\n" % GIB)})) == [("container limit", GIB)]


def test_of_nested_groups_the_one_with_the_least_left_comes_first(tmp_path):
    """The pod's limit is larger than the container's, and nearer: its siblings fill it."""
    groups = {
        "pod/a": group("%d\n" % (4 * GIB), 1 * GIB),
        "pod": group("%d\n" % (6 * GIB), 5 * GIB),
        "": {"memory.stat": "anon 1\n"},
    }
    assert told(v2(tmp_path, "/pod/a", groups)) == [("container limit", 6 * GIB), ("container limit", 4 * GIB)]


def test_where_the_kernel_begins_to_slow_down_is_a_limit(tmp_path):
    """memory.high below memory.max."""
    limits = v2(tmp_path, "/a", {"a": group("%d\n" % (4 * GIB), high="%d\n" % (3 * GIB))})
    assert told(limits) == [("container's memory.high", 3 * GIB), ("container limit", 4 * GIB)]


def test_a_limit_that_is_none_is_none(tmp_path):
    """«max», and the largest number of pages."""
    assert told(v2(tmp_path / "2", "/a", {"a": group()})) == []
    limits = v1(tmp_path / "1", "/a", {"a": (UNLIMITED, 0)})
    assert (told(limits), limits.off) == ([], [])


@pytest.mark.parametrize("text", ["", "lots\n", "-1\n", "0\n", "4096\n", "1e9\n", "\x00\xff"])
def test_an_absurd_limit_is_off_and_says_why(tmp_path, text):
    """Not a number, negative, or less than anything could run in."""
    limits = v2(tmp_path, "/a", {"a": group(text)})
    assert told(limits) == []
    assert "container limit" in limits.off[0] and "memory.max" in limits.off[0]


@pytest.mark.parametrize("files", [{"memory.current": "many\n"}, {"memory.stat": "anon x\ninactive_file y\n"}])
def test_a_use_that_can_not_be_read_is_off_and_says_why(tmp_path, files):
    """Without its use a limit is of no help."""
    limits = v2(tmp_path, "/a", {"a": dict(group("%d\n" % GIB), **files)})
    assert told(limits) == []
    assert "use of the container" in limits.off[0]


def test_reasons_do_not_pile_up(tmp_path):
    """A file that stays absurd is told once, however often it is read."""
    limits = v2(tmp_path, "/a", {"a": group("lots\n")})
    for _ in range(20):
        limits.read()
    assert len(limits.off) == 1


def test_without_groups_there_are_still_the_machine_and_the_reason(tmp_path):
    """No /proc/self/cgroup: macOS, an old kernel."""
    limits = system(tmp_path, {}, {})
    assert [limit.name for limit in limits.read()] == ["memory of this machine"]
    assert "groups can't be read" in limits.off[0]


def test_without_proc_every_reading_says_why(tmp_path):
    """Nothing raises."""
    limits = Limits(str(tmp_path / "proc"), str(tmp_path / "sys"))
    assert limits.read() == []
    assert any("memory of the machine" in why for why in limits.off)


def test_version_1_is_read_where_version_2_is_mounted_beside_it(tmp_path):
    """systemd's hybrid: the second version has no memory controller."""
    mounts = V1_MOUNT % "/" + (V2_MOUNT % "/").replace("/sys/fs/cgroup ", "/sys/fs/cgroup/unified ")
    sys = {"memory/a/memory.limit_in_bytes": "%d\n" % GIB, "memory/a/memory.usage_in_bytes": "5\n",
           "memory/a/memory.stat": "", "unified/cgroup.procs": ""}  # fmt: skip
    proc = {"self/cgroup": "4:memory:/a\n0::/\n", "self/mountinfo": mounts}
    assert told(system(tmp_path, proc, {"fs/cgroup/" + name: text for name, text in sys.items()})) == [
        ("container limit", GIB)
    ]


def test_a_place_with_a_space_in_its_name_is_found(tmp_path):
    """mountinfo writes it as \\040."""
    mount = (V2_MOUNT % "/").replace("/sys/fs/cgroup ", "/sys/fs/c\\040group ")
    files = {"fs/c group/a/" + name: text for name, text in group("%d\n" % GIB).items()}
    limits = system(tmp_path, {"self/cgroup": "0::/a\n", "self/mountinfo": mount}, files)
    assert told(limits) == [("container limit", GIB)]


def test_a_limit_of_the_process_counts_its_addresses():
    """ulimit -v, in a process of its own."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 40, resource.RLIM_INFINITY));"
        "from tfmemwatch.memory.limits import Limits;"
        "print([(one.name, one.bytes, one.used_bytes > 1 << 20) for one in Limits().read() if 'ulimit' in one.name])"
    )
    tree = str(Path(__file__).resolve().parents[2])
    told = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, PYTHONPATH=tree), stdout=subprocess.PIPE)
    assert told.stdout.decode().strip() == "[('limit of addresses (ulimit -v)', %d, True)]" % (1 << 40)


REAL = Path("/sys/fs/cgroup/memory")
IN_A_GROUP = """
import os, sys
for name in sys.argv[1:]:
    open(os.path.join(name, "cgroup.procs"), "w").write(str(os.getpid()))
from tfmemwatch.memory.limits import Limits
limits = Limits()
before = [one for one in limits.read() if one.is_of_container]
kept = bytearray(64 << 20)
after = [one for one in limits.read() if one.is_of_container]
print([one.bytes for one in after], round((after[0].used_bytes - before[0].used_bytes) / 2**20), limits.off)
"""


@pytest.mark.skipif(
    not os.access(str(REAL), os.W_OK), reason="no control group can be made here: recorded ones must do"
)
def test_in_a_real_group_the_limit_and_its_use_are_read():
    """A group in a group: both limits, and 64 MiB more in use when 64 MiB more are in use."""
    outer = REAL / ("tfmemwatch-test-%d" % os.getpid())
    inner = outer / "inner"
    inner.mkdir(parents=True)
    try:
        (outer / "memory.limit_in_bytes").write_text(str(3 * GIB))
        (inner / "memory.limit_in_bytes").write_text(str(2 * GIB))
        tree = str(Path(__file__).resolve().parents[2])
        ran = subprocess.run(
            [sys.executable, "-c", IN_A_GROUP, str(inner)],
            env=dict(os.environ, PYTHONPATH=tree),
            stdout=subprocess.PIPE,
        )
        assert ran.stdout.decode().strip() == "[%d, %d] 64 []" % (2 * GIB, 3 * GIB)
    finally:
        inner.rmdir()
        outer.rmdir()


# -- the limit and the growth towards it


def horizon(folder, used=lambda number: 100 * MIB):
    """Looks at a container of 4 GiB whose use is rewritten before each."""
    found = LimitsAhead(v2(folder, "/a", {"a": group("%d\n" % (4 * GIB))}))
    current = folder / "sys" / "fs" / "cgroup" / "a" / "memory.current"

    def look(times, own=lambda number: 50 * MIB, modules=1000, seconds=5.0):
        for number in range(times):
            current.write_text("%d\n" % used(number), encoding="ascii")
            found.look(seconds * number, Memory(own(number), None, None, 0, 0), modules)
        return found.outlook()

    look.horizon = found
    return look


@pytest.mark.slow
def test_a_container_that_fills_has_a_time_though_this_process_stands_still(tmp_path):
    """Its siblings fill it: 1 MiB each 5 seconds."""
    outlook = horizon(tmp_path, lambda number: (1000 + number) * MIB)(300)
    assert (outlook.limit, outlook.limit_bytes) == ("container limit", 4 * GIB)
    assert outlook.seconds == pytest.approx((4096 - 1299) * 5, rel=0.01)


def test_without_growth_there_is_no_time(tmp_path):
    """None while flat."""
    assert horizon(tmp_path)(300) is None


@pytest.mark.slow
def test_some_seconds_are_a_start_up_however_often_one_looks(tmp_path):
    """A thousand looks in ten seconds say no more of the hours to come than two do."""
    look = horizon(tmp_path, lambda number: (1000 + number) * MIB)
    assert look(1000, seconds=0.01) is None
    assert look(1000, seconds=1.0) is not None


def test_a_process_that_still_imports_is_still_starting(tmp_path):
    """Growth while modules come is no growth."""
    look = horizon(tmp_path, lambda number: (1000 + number) * MIB)
    assert look(80) is None
    assert look(80, modules=2000) is None


def test_what_this_process_takes_counts_against_the_machine(tmp_path):
    """8 GiB free, 1 MiB each look."""
    outlook = horizon(tmp_path)(300, own=lambda number: (500 + number) * MIB)
    assert outlook.limit == "memory of this machine"
    assert outlook.seconds == pytest.approx(8192 * 5, rel=0.01)


@pytest.mark.slow
def test_how_fast_this_process_grows_is_known_without_a_limit(tmp_path):
    """1 MiB each 5 seconds, since after what may have been its start-up; nothing while it stands still."""
    look = horizon(tmp_path)
    look(300)
    assert look.horizon.rise is None
    look = horizon(tmp_path)
    look(300, own=lambda number: (500 + number) * MIB)
    assert look.horizon.rise.most_likely == pytest.approx(MIB / 5, rel=0.01)
    assert 0 <= look.horizon.rise.since < 600
