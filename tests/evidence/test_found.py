"""What inquiries have found: each is over by the end of its own growth, and has its newest numbers."""

from written_down import LINE, OTHER

from tfmemwatch.evidence.found import FoundByEvidence
from tfmemwatch.evidence.still_growing import of_bytes, of_items
from tfmemwatch.model import LEAK, UNKNOWN, Finding


def finding(kind="python_objects", site=LINE, grown=100, size=1000):
    return Finding(kind, site, 0, grown, 1.0, "step", size, LEAK, "cause", "cure", 0.9)


class Length:
    """Of a collection."""

    def __init__(self, now=100):
        self.now = now

    def __call__(self):
        return self.now


def test_two_are_open_at_once_and_each_ends_by_itself():
    """A list stops growing, another goes on."""
    found, ends, goes_on = FoundByEvidence(), Length(), Length()
    found.add(finding(), of_items(16, ends), 1)
    found.add(finding(site=OTHER), of_items(16, goes_on), 2)
    assert [one.site for one in found.findings] == [LINE, OTHER]
    over = []
    for _ in range(60):
        goes_on.now += 1
        over.append(found.look())
    assert over.count(True) == 1
    assert [one.site for one in found.findings] == [OTHER]
    assert found.collections == [2]


def test_a_finding_is_brought_up_to_date_while_it_grows():
    """Its number and its bytes are those of now, not those of the look at which it was told."""
    found, length = FoundByEvidence(), Length()
    found.add(finding(grown=100, size=1000), of_items(16, length), 1)
    for _ in range(50):
        length.now += 1
        found.look()
    (now,) = found.findings
    assert now.grown == 150
    assert now.bytes == 1500


def test_bytes_of_what_has_no_count_go_on_too():
    """Of a rise in bytes in use."""
    found, in_use = FoundByEvidence(), Length(0)
    found.add(finding(grown=0, size=1000), of_bytes(9, in_use, 10.0), 0)
    for _ in range(60):
        in_use.now += 10
        found.look()
    assert 1400 <= found.findings[0].bytes <= 1600


def test_what_has_no_measure_makes_room_for_what_explains_it_better():
    """Native memory was told; the list that it was is found: one finding. What is measured stays."""
    found = FoundByEvidence()
    found.add(finding("native_heap", UNKNOWN), None, 0)
    assert found.has_unmeasured
    found.add(finding(), of_items(16, Length()), 1)
    assert [one.kind for one in found.findings] == ["python_objects"]
    assert not found.forget_unmeasured()
    assert len(found.findings) == 1


def test_what_is_told_again_stays_one():
    """The same story at the next inquiry, with its new numbers; what came before is not forgotten."""
    found = FoundByEvidence()
    found.add(finding(grown=100), None, 0)
    found.add(finding(grown=200), None, 0)
    assert [one.grown for one in found.findings] == [200]
    found.add(finding(grown=50), None, 0)
    assert [one.grown for one in found.findings] == [200]
