"""Each known leak is a pair: the leaky one is named by its kind and its line; its cure is silent.

The pairs of one file run in one process, for speed, each in a block of its own.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pairs
import pytest

from tfmemwatch.explain import known_issues

CASES = list(pairs.cases())
PAIRS = [case for case in CASES if case.is_pair]
MET = {issue for row in known_issues.TABLE for issue in row.issues.split(", ") if issue}
TREE = pairs.FOLDER.parent.parent


def full_name(case):
    return "%s.%s" % (case.module, case.name)


@pytest.fixture(scope="session")
def outcomes(request):
    """What all pairs that are tested in this run came to, by file; two files at the same time."""
    given = [getattr(getattr(item, "callspec", None), "params", {}).get("case") for item in request.session.items]
    asked = {case for case in given if isinstance(case, pairs.Case)}
    files = {}
    for case in CASES:
        if case in asked:
            files.setdefault((case.mode, case.module), []).append(full_name(case))
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(files, pool.map(outcomes_of, [mode for mode, _ in files], files.values())))


def outcomes_of(mode, names):
    """What the pairs of one file came to, by name and side; and whether the watch itself failed, by ""."""
    ran = subprocess.run(
        [sys.executable, str(pairs.FOLDER / "run.py"), mode, *names],
        capture_output=True, text=True,
        env=dict(os.environ, PYTHONPATH=str(TREE), PYTHONHASHSEED="0"), cwd=str(TREE), timeout=1200,
    )  # fmt: skip
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    told = {(line.get("name", ""), line.get("side", "")): line for line in lines}
    return told, "exit code %d\n%s" % (ran.returncode, ran.stderr[-4000:])


@pytest.fixture
def outcome(outcomes):
    """What one side of a pair came to; the test is skipped where the pair does not hold."""

    def of(case, side):
        told, end = outcomes[case.mode, case.module]
        result = told.get((full_name(case), side))
        if result is None:
            pytest.fail("the process ended before its turn came: " + end)
        if result.get("skipped"):
            pytest.skip(result["skipped"])
        if "error" in result:
            pytest.fail(result["error"])
        return result

    return of


@pytest.mark.parametrize("case", PAIRS, ids=full_name)
def test_a_leak_is_named(case, outcome):
    """One finding, of the right kind and at the marked line, in the steps it may take."""
    leaky = outcome(case, "leaky")
    assert leaky["named"] == leaky["wanted"], leaky["report"]


@pytest.mark.parametrize("case", [case for case in PAIRS if MET & set(case.issues)], ids=full_name)
def test_it_is_known_by_the_issue_in_which_others_met_it(case, outcome):
    """On each version that the table of known leaks names: the finding leads there."""
    leaky = outcome(case, "leaky")
    assert leaky["known"].startswith("Known as ") and any(issue in leaky["known"] for issue in case.issues)


def test_every_known_leak_is_a_pair():
    """But for those of versions that are not in the matrix, and what has no issue."""
    paired = {issue for case in PAIRS for issue in case.issues}
    rows = [row for row in known_issues.TABLE if row.issues and row.until >= (2, 12) and row.python == (3, 0)]
    met = [set(row.issues.split(", ")) for row in rows]
    assert [issues for issues in met if not issues & paired] == []


@pytest.mark.parametrize("case", PAIRS, ids=full_name)
def test_its_cure_is_silent(case, outcome):
    """Nothing is said of the same program when it is cured."""
    cured = outcome(case, "cured")
    assert cured["named"] == [], cured["report"]


@pytest.mark.parametrize("case", [case for case in CASES if not case.is_pair], ids=full_name)
def test_the_innocent_is_not_accused(case, outcome):
    """Nothing is said of a program that looks as if it leaked, or leaks too little to matter."""
    innocent = outcome(case, "cured")
    assert innocent["named"] == [], innocent["report"]


def test_the_watch_never_failed(outcomes):
    """Not one error of the watch's own, contained as they are, while all pairs ran."""
    assert [told.get(("", ""), {}).get("failures", end) for told, end in outcomes.values()] == [{}] * len(outcomes)
