"""What the allocator keeps after traces were dropped: the estimate, and what a trim then gives back, on each malloc."""

import ctypes.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # each starts programs with TensorFlow

FOLDER = Path(__file__).resolve().parent
TREE = str(FOLDER.parent.parent)


def process(*command, **environ):
    """The line of JSON that a process of ours prints, on this malloc or another."""
    ran = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, cwd=TREE, timeout=300,
        env=dict(os.environ, PYTHONPATH=TREE, **environ),
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.fixture(params=["jemalloc", "tcmalloc_minimal", "mimalloc"])
def malloc(request):
    """The name of another allocator's library, and how it is put in the place of glibc's."""
    file = ctypes.util.find_library(request.param)
    if file is None:
        pytest.skip("lib%s is not installed here; where it is, this test has passed" % request.param)
    return request.param.split("_")[0], {"LD_PRELOAD": file}


def test_after_150_retraces_the_estimate_is_what_a_trim_gives_back():
    """Within 30 %, when all of them were dropped and collected."""
    told = process(str(FOLDER / "retained.py"), "150")
    assert told["allocator"] == "glibc"
    assert told["returned"] > 5e6
    assert told["estimate"] == pytest.approx(told["returned"], rel=0.3)


def test_another_malloc_is_recognised_and_asked(malloc):
    """By its own statistics, not by glibc's, which would say that nothing is in use."""
    name, environ = malloc
    told = process("-c", IN_USE, **environ)
    assert told["name"] == name
    if name == "mimalloc":
        assert "mimalloc does not report it" in told["off"]
        return
    assert told["grown"] == pytest.approx(50e6, rel=0.05)
    assert told["kept"] > 0.5 * told["returned"] > 0
    assert told["estimate"] == pytest.approx(told["returned"], rel=0.3)


IN_USE = """
import ctypes, json
from tfmemwatch.memory import account
from tfmemwatch.memory.process import Process
process = Process()
before = process.allocator.read()
blocks = [bytearray(b"x" * 5000) for _ in range(10000)]
after = process.allocator.read()
del blocks
kept = process.allocator.read().kept_bytes
estimate, resident = account.returnable(process), process.resident_bytes()
process.allocator.trim()
print(json.dumps({
    "name": process.allocator.name, "off": process.off, "kept": kept, "estimate": estimate,
    "grown": (after.in_use_bytes or 0) - (before.in_use_bytes or 0), "returned": resident - process.resident_bytes(),
}))
"""
