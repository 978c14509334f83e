"""What is told, and how often."""

import pytest

from tfmemwatch.judge.judge import Draft, Track
from tfmemwatch.judge.open_findings import OpenFindings
from tfmemwatch.model import FILLING, LEAK, Finding, Key, Site

AT = Site("train.py", 41, "step")


def finding(count=10, kind="variable", site=AT, confidence=0.9, size=0):
    return Finding(kind, site, 0, count, 1.0, "step", size, "leak", "cause", "cure", confidence)


def draft(count=10, kind="variable", site=AT, keys=None, **more):
    keys = [Key(kind, site)] if keys is None else keys
    return Draft(finding(count, kind, site, **more), tuple(Track(key, None, 0, 0) for key in keys))


@pytest.fixture
def cases():
    return OpenFindings()


def counts(news):
    return [(one.grown, one.state) for one in news]


def test_a_finding_is_told_once(cases):
    """The same leak at the next look is no news."""
    assert counts(cases.update([draft(10)])) == [(10, "leak")]
    assert cases.update([draft(11)]) == []


def test_a_finding_is_told_again_when_it_has_become_sure(cases):
    """What might have been a cache that fills was told quietly; that it is a leak is news."""
    sure = draft(10)
    doubtful = sure._replace(finding=sure.finding._replace(verdict=FILLING))
    told = [len(cases.update([one])) for one in (doubtful, doubtful, sure, sure)]
    assert told == [1, 0, 1, 0]


def test_what_has_no_count_is_told_again_when_its_bytes_have_doubled(cases):
    """A rise in native memory has no number: it is told when it is known, when it is sure, and at twice as much."""
    said = []
    rises = [(FILLING, 10)] * 3 + [(LEAK, 10)] * 10 + [(LEAK, 19), (LEAK, 20), (LEAK, 39), (LEAK, 40)]
    for verdict, megabytes in rises:
        one = draft(0, kind="native_heap", keys=[], size=megabytes << 20)
        news = cases.update([one._replace(finding=one.finding._replace(verdict=verdict))])
        said += [(finding.verdict, finding.bytes >> 20) for finding in news]
    assert said == [(FILLING, 10), (LEAK, 10), (LEAK, 20), (LEAK, 40)]


def test_what_comes_and_goes_is_told_ever_less_often(cases):
    """A leak that is over and begins again for ever: the first time, the second, the fourth; each has its end."""
    news = [one.state for _ in range(40) for one in cases.update([draft(10)]) + cases.update([])]
    assert news == ["leak", "over"] * 6


def test_a_finding_is_told_again_when_it_has_doubled(cases):
    """Twice as many since it was last told; and then not before twice as many again."""
    cases.update([draft(10)])
    told = [counts(cases.update([draft(count)])) for count in (19, 20, 39, 40)]
    assert told == [[], [(20, "leak")], [], [(40, "leak")]]


def test_a_finding_is_told_once_more_when_it_is_over(cases):
    """And then it is no finding any more."""
    cases.update([draft(10)])
    assert counts(cases.update([])) == [(10, "over")]
    assert cases.findings == []
    assert cases.update([]) == []
    assert [one.state for one in cases.closed] == ["over"]


def test_a_leak_that_begins_again_is_told_again(cases):
    """Over is not for ever."""
    cases.update([draft(10)])
    cases.update([])
    assert counts(cases.update([draft(5)])) == [(5, "leak")]


def test_a_story_that_is_told_better_later_stays_one_case(cases):
    """When the cause of a growth comes to light, the same counts make no second warning."""
    cases.update([draft(10, kind="function_library")])
    better = draft(12, kind="retrace", keys=[Key("function_library", AT), Key("retrace", AT)])
    assert cases.update([better]) == []
    assert [one.kind for one in cases.findings] == ["retrace"]


def test_evidence_without_counts_is_known_by_its_story(cases):
    """A growing list is one case at each look, though no count stands behind it."""
    cases.update([draft(10, kind="python_objects", keys=[])])
    assert cases.update([draft(11, kind="python_objects", keys=[])]) == []
    assert counts(cases.update([draft(9, kind="native_heap", keys=[])])) == [(9, "leak"), (11, "over")]


def test_findings_have_their_newest_numbers_surest_and_largest_first(cases):
    """One asks and gets what is so now."""
    small, large, sure = Site("a.py", 1, "f"), Site("b.py", 2, "f"), Site("c.py", 3, "f")
    cases.update([draft(5, site=small, size=1), draft(5, site=large, size=9), draft(5, site=sure, confidence=1.0)])
    cases.update([draft(6, site=small, size=1), draft(5, site=large, size=9), draft(5, site=sure, confidence=1.0)])
    assert [one.site for one in cases.findings] == [sure, large, small]
    assert cases.findings[-1].grown == 6


def test_closed_cases_are_bounded(cases):
    """A leak that comes and goes for years fills no memory."""
    for _ in range(500):
        cases.update([draft()])
        cases.update([])
    assert len(cases.closed) == 200
