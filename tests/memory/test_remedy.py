"""What remedies gave back, as a table."""

from tfmemwatch.memory.remedy import Outcome, Trial

MIB = 1 << 20


def test_what_came_back_is_positive():
    """What has become more stands there with a minus, in the sum as well."""
    gained = Outcome("collect", "gc.collect()", -1 * MIB, 40 * MIB, -20, 0.3, "")
    trimmed = Outcome("trim", "trim of glibc", 93 * MIB, None, 0, 0.007, "")
    assert [line.split()[1:5] for line in str(Trial((gained,), 500 * MIB)).splitlines()[1:2]] == [
        ["−1", "MiB", "40", "MiB"]
    ]
    assert str(Trial((gained,), 500 * MIB)).splitlines()[-1] == "  in all −1 MiB; resident now: 500 MiB"
    assert "  in all 92 MiB" in str(Trial((gained, trimmed), 500 * MIB))
