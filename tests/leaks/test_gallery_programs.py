"""What the gallery shows is true: each program is named by its kind at its line, and is clean when it is cured."""

import json
import os
import subprocess
import sys

import gallery
import pytest

NAMES = [one.name for one in gallery.GALLERY]


@pytest.fixture(scope="module")
def outcomes():
    """What was named in each program, and what it has printed."""
    ran = subprocess.run(
        [sys.executable, str(gallery.TREE / "tests" / "leaks" / "run_gallery.py"), *gallery.names()],
        capture_output=True, text=True,
        env=dict(os.environ, PYTHONPATH=str(gallery.TREE)), cwd=str(gallery.TREE), timeout=600,
    )  # fmt: skip
    told = {row["name"]: row for row in map(json.loads, ran.stdout.splitlines())}
    assert sorted(told) == sorted(gallery.names()), ran.stderr[-4000:]
    return told


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
