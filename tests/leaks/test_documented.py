"""What the documentation shows is true: each leaking program is found at its line, each cured one is silent."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TREE = HERE.parent.parent
PAGES = TREE / "docs" / "pages"
SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.M | re.S)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def programs():
    """The blocks of the page of findings, by name: `retrace_leak`, `retrace_cured`."""
    found = {}
    for kind, section in SECTION.findall((PAGES / "findings.md").read_text(encoding="utf-8")):
        for code in BLOCK.findall(section):
            found["%s_%s" % (kind, "leak" if "# leaks" in code else "cured")] = code
    return found


PROGRAMS = programs()


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What was named in each program."""
    folder = tmp_path_factory.mktemp("pages")
    for name, code in PROGRAMS.items():
        (folder / (name + ".py")).write_text(code, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, str(HERE / "documented.py"), str(folder), *PROGRAMS],
        capture_output=True, text=True,
        env=dict(os.environ, PYTHONPATH=str(TREE)), timeout=600,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-4000:]
    return {row["name"]: row for row in map(json.loads, ran.stdout.splitlines())}


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name.endswith("_leak")])
def test_a_documented_leak_is_named(name, outcomes):
    """By the kind of its heading, and at the line that bears the comment."""
    (line,) = [number for number, text in enumerate(PROGRAMS[name].splitlines(), 1) if "# leaks" in text]
    assert outcomes[name]["named"] == [[name[: -len("_leak")], name + ".py", line]], outcomes[name]["report"]


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name.endswith("_cured")])
def test_a_documented_cure_is_silent(name, outcomes):
    """What the page advises does not leak."""
    assert outcomes[name]["named"] == [], outcomes[name]["report"]
