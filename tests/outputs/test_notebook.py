"""What a notebook shows: run headless, as a person would run it; every text is escaped, and no script is in it."""

import os
import re
from pathlib import Path

import pytest

import tfmemwatch
from tfmemwatch import html
from tfmemwatch.memory.account import Account
from tfmemwatch.memory.remedy import Outcome, Trial
from tfmemwatch.model import LEAK, Finding, Site

TREE = Path(__file__).resolve().parent.parent.parent
EVIL = "</script><img src=x onerror=alert(1)>\u202egnp.exe " + "x" * 10000
FINDING = Finding(
    kind="retrace", site=Site("train.py", 41, EVIL), since=3, grown=57, rate=1, per="step", bytes=41000000,
    verdict=LEAK, cause="the tf.function %s is traced again" % EVIL, cure="Pass a tensor.", confidence=1.0,
    why="`lr` a new Python float each time (57)", suggestion="step(x, tf.constant(np.float32(lr)))",
)  # fmt: skip


def checked(shown):
    """What is shown is safe: no script, nothing that asks for anything, no text that breaks out."""
    assert shown.startswith('<div class="tfmemwatch">') and len(shown) < 20000
    assert re.search(r"<(script|img|iframe|link|a)\b|https?:|\bon\w+=(?!alert)|\u202e", shown) is None
    assert shown.count("<div") == shown.count("</div")
    return shown


def test_a_finding_is_escaped_and_short():
    """A name that is HTML, or ten thousand letters long, is text."""
    shown = checked(FINDING._repr_html_())
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in shown and "Cure: Pass a tensor." in shown


@pytest.mark.slow
def test_reports_snapshots_and_their_difference_are_shown():
    """Each is a piece of a page by itself."""
    with tfmemwatch.watch(EVIL, log=False) as block:
        pass
    assert "resident" in checked(block.report()._repr_html_())
    tfmemwatch.install(sample_seconds=3600, log=False)
    first = tfmemwatch.snapshot()
    assert "Nothing that is watched leaks." in checked(first._repr_html_())
    assert "from " in checked(tfmemwatch.snapshot().diff(first)._repr_html_())
    tfmemwatch.uninstall()


def test_accounts_and_trials_are_shown():
    """As tables, with their units."""
    account = Account(0.0, 562000000, {"python": 141000000, "numpy": 40000000}, None, None, None, {}, {EVIL: 5}, "", ())
    assert '<td>Python objects</td><td class="n">134 MiB</td>' in checked(account._repr_html_())
    trial = Trial((Outcome("trim", EVIL, 1000000, None, -20, 0.5, ""),), 558000000)
    assert "resident now: 53" in checked(trial._repr_html_())


def test_a_page_asks_for_nothing():
    """Its own policy forbids it, too."""
    assert "default-src 'none'" in html.page("Tests", html.table(("a",), [(EVIL,)]))


CELLS = [
    "%load_ext tfmemwatch",
    "%%memwatch before TensorFlow\nsum(range(10))",
    "import tensorflow\nnew = tensorflow.resource_variable_ops.BaseResourceVariable\nkept = []\n"
    "def make():\n    kept.append(new())",
    "%%memwatch five variables\nfor _ in range(5):\n    make()\nlen(kept)",
    "%%memwatch\nmade = 1;",
    "%%memwatch --all\npass",
    "%%memwatch\nraise KeyError('theirs')",
    "made",
]


@pytest.fixture
def run(needs, fake_packages, monkeypatch, tmp_path):
    """Run the cells in a kernel of its own; what each of them shows."""
    nbclient, nbformat = needs("nbclient"), needs("nbformat")
    needs("ipykernel")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TREE), str(fake_packages)]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))

    def ran(cells):
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        nbclient.NotebookClient(book, timeout=120, kernel_name="python3", allow_errors=True).execute()
        return [cell.outputs for cell in book.cells]

    return ran


def pages(outputs):
    return "".join(one.data.get("text/html", "") for one in outputs if one.output_type == "display_data")


def results(outputs):
    return [one.data["text/plain"] for one in outputs if one.output_type == "execute_result"]


@pytest.mark.slow
def test_a_cell_under_watch_runs_as_it_is_and_says_what_it_made(run):
    """Its result, its names and its errors are its own; below them stands what it made and kept, by line."""
    loaded, before, _, five, quiet, unknown, failed, after = run(CELLS)
    assert loaded == []
    assert results(before) == ["45"] and "TensorFlow is not imported yet" in checked(pages(before))
    assert results(five) == ["5"] and results(quiet) == [] and results(after) == ["1"]
    shown = checked(pages(five))
    assert "five variables" in shown and "cell [3], line 5 make()" in shown and '<td class="n">+5</td>' in shown
    assert any(one.evalue.startswith("%%memwatch has no --all") for one in unknown if one.output_type == "error")
    (error,) = [one for one in failed if one.output_type == "error"]
    assert (error.ename, error.evalue) == ("KeyError", "'theirs'")
    assert "exec(compile" not in "".join(error.traceback)
