"""What the gallery shows is true: each program is named by its kind at its line, and is clean when it is cured."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import gallery
import pytest

NAMES = [one.name for one in gallery.GALLERY]


@pytest.fixture(scope="module")
def outcomes():
    """What was named in each program, and what it has printed; two at a time."""
    halves = [[one.name + ending for one in gallery.GALLERY] for ending in ("", "_cured")]
    with ThreadPoolExecutor(2) as pool:
        told, ends = zip(*pool.map(outcomes_of, halves))
    assert [*told[0], *told[1]] == [*halves[0], *halves[1]], "\n".join(ends)
    return {**told[0], **told[1]}


def outcomes_of(names):
    """What some programs came to, by their names; and the end of what they have said."""
    ran = subprocess.run(
        [sys.executable, str(gallery.TREE / "tests" / "leaks" / "run_gallery.py"), *names],
        capture_output=True, text=True,
        env=dict(os.environ, PYTHONPATH=str(gallery.TREE)), cwd=str(gallery.TREE), timeout=600,
    )  # fmt: skip
    return {row["name"]: row for row in map(json.loads, ran.stdout.splitlines())}, ran.stderr[-4000:]


@pytest.mark.parametrize("leak", gallery.GALLERY, ids=NAMES)
def test_a_program_of_the_gallery_is_named(leak, outcomes):
    """It prints a report that begins with the one leak that it has, by the kind and the line that the gallery says."""
    outcome = outcomes[leak.name]
    assert outcome["named"] == [[leak.kind, leak.name + ".py", gallery.culprit(leak.name)]], outcome["printed"]
    assert "LEAK at %s.py:%d " % (leak.name, gallery.culprit(leak.name)) in outcome["printed"]


@pytest.mark.parametrize("name", NAMES)
def test_a_cured_program_of_the_gallery_is_clean(name, outcomes):
    """Nothing is named, and the report says that it was looked for."""
    outcome = outcomes[name + "_cured"]
    assert (outcome["named"], outcome["word"]) == ([], "CLEAN"), outcome["printed"]
