"""Left on in a program that marks no steps, the watch names the leak and is silent about its cure.

Each side runs in a process of its own, two at a time: by the clock, thus slowly.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pairs
import pytest

TREE = pairs.FOLDER.parent.parent
SECONDS = {"leaky": 45, "cured": 8}  # a leak is found in some 10, where nothing else runs
CASES = [
    ("eager", "functions.NewShapes"),
    ("eager", "variables.OverSeveralLines"),
    ("eager", "held.Predictions"),
    ("eager", "caches.QueuePerRequest"),
    ("eager", "datasets.IteratorPerClient"),
    ("graph", "graphs.AssignInLoop"),
    ("graph", "sessions.SessionPerUser"),
]
NAMES = [name for _, name in CASES]


@pytest.fixture(scope="module")
def outcomes():
    """Of each side of each pair, what is to come."""
    with ThreadPoolExecutor(2) as pool:
        yield {
            (name, side): pool.submit(outcome_of, mode, name, side)
            for side in SECONDS
            for mode, name in CASES
        }  # fmt: skip


def outcome_of(mode, name, side):
    """What one side came to in its time."""
    ran = subprocess.run(
        [sys.executable, str(pairs.FOLDER / "left_on.py"), mode, name, side, str(SECONDS[side])],
        capture_output=True, text=True,
        env=dict(os.environ, PYTHONPATH=str(TREE), PYTHONHASHSEED="0"), cwd=str(TREE),
    )  # fmt: skip
    told = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    return told[-1] if told else {"error": "exit code %d\n%s" % (ran.returncode, ran.stderr[-4000:])}


@pytest.fixture
def outcome(outcomes):
    """What one side of a pair came to; the test is skipped where the pair does not hold."""

    def of(name, side):
        result = outcomes[name, side].result()
        if "error" in result:
            pytest.fail(result["error"])
        if "skipped" in result:
            pytest.skip(result["skipped"])
        return result

    return of


@pytest.mark.parametrize("name", NAMES)
def test_a_leak_is_named(name, outcome):
    """One finding, of the right kind and at the marked line, within 45 seconds."""
    leaky = outcome(name, "leaky")
    assert leaky["named"] == leaky["wanted"], leaky["report"]


@pytest.mark.parametrize("name", NAMES)
def test_its_cure_is_silent(name, outcome):
    """Nothing is said of the same program when it is cured."""
    cured = outcome(name, "cured")
    assert cured["named"] == [], cured["report"]
