"""A leak of 1 kB a call behind a model whose calls take and free 50 MB: found, and silence without it.

By hand, for 100,000 calls: python tests/memory/churn.py block none 100000
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # each starts programs with TensorFlow

FOLDER = Path(__file__).resolve().parent
TREE = str(FOLDER.parent.parent)


def churned(*arguments, **environ):
    """What such a process came to."""
    ran = subprocess.run(
        [sys.executable, str(FOLDER / "churn.py"), *arguments], capture_output=True, text=True, timeout=600,
        cwd=TREE, env=dict(os.environ, PYTHONPATH=TREE, **environ),
    )  # fmt: skip
    lines = [line for line in ran.stdout.splitlines() if line.startswith("{")]
    assert lines, ran.stderr[-3000:]
    return json.loads(lines[-1])


@pytest.mark.parametrize("leak, kind", [("numpy", "python_objects"), ("tensor", "live_tensors")])
def test_a_kilobyte_a_call_is_found_where_50_megabytes_come_and_go(leak, kind):
    """Within 5,000 calls, by what it is, for what Python keeps."""
    told = churned("block", leak, "5000")
    assert told["found"] == [kind], told


def test_a_kilobyte_of_malloc_a_call_is_found_where_50_megabytes_come_and_go():
    """Within 5,000 calls, though nothing in Python grows."""
    told = churned("block", "malloc", "5000")
    assert told["found"] != [], told


def test_it_is_found_by_the_calls_however_seldom_the_watch_looks():
    """Left on, with a look each second: within 5,000 calls, with the line of the call and what each of them leaves."""
    told = churned("left_on", "malloc", "5000", TFMEMWATCH_SAMPLE_SECONDS="1")
    assert told["found"] == ["native_heap"], told
    said = re.match(r"churn.py:.* each call of Net net.__call__ leaves about ([\d.]+) (KiB|B) ", told["said"][0])
    assert said, told
    assert float(said[1]) * {"B": 1, "KiB": 1024}[said[2]] == pytest.approx(1040, rel=0.25), told


def test_50_megabytes_that_come_and_go_are_no_leak():
    """Silent for as many calls as the leak needed."""
    told = churned("block", "none", "2000")
    assert (told["found"], told["calls"]) == ([], 2000), told
