"""The pytest plugin, in runs of pytest of its own: what leaks fails and says why, what does not leak passes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfmemwatch.testing import limits, repeated, shown, whole_run  # loaded here, so that no run loads them anew

LOADED = (repeated, shown, whole_run)

TREE = Path(__file__).resolve().parent.parent.parent
PLUGIN = ("-p", "tfmemwatch.testing.plugin", "-p", "no:cacheprovider")
VARIABLE = "tensorflow.resource_variable_ops.BaseResourceVariable()"
PROGRAM = """import pytest, tensorflow, unittest

kept = []

def handle():
    kept.append(%s)  # CULPRIT

def clean():
    %s
"""


@pytest.fixture
def run(pytester, fake_tf, fake_packages, monkeypatch):
    """Run a file of tests, after a small program that can leak, with no plugin but those that are named."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TREE), str(fake_packages)]))  # for workers
    monkeypatch.setenv("TFMEMWATCH_EVIDENCE", "0")  # it takes most of the time, and one test has it

    def ran(tests, *options, workers=False):
        pytester.makepyfile(test_it=PROGRAM % (VARIABLE, VARIABLE) + tests)
        return (pytester.runpytest_subprocess if workers else pytester.runpytest_inprocess)(*PLUGIN, *options)

    return ran


@pytest.mark.slow
def test_what_leaks_fails_and_what_does_not_passes(run, monkeypatch):
    """What, where, since when, by how much and the cure, with the line of source; and no frame of ours."""
    monkeypatch.delenv("TFMEMWATCH_EVIDENCE")
    result = run("""
@pytest.mark.tfmemwatch
def test_leaky():
    handle()

@pytest.mark.tfmemwatch
def test_clean():
    clean()

def test_without_a_mark():
    handle()
""")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines([
        "*_ test_leaky _*",
        ">   *kept.append(*# CULPRIT",
        "E   test_it.py:6 handle(): a new tf.Variable is made here again and again, and none is freed",
        "E     +30, 1 a step, since step 3",
        "E     held by test_it.kept (list, 32 items)*",
        "E     Cure: Make it once*",
        "test_it.py:6: variable",
        "E   30 variables (none allowed)* in 30 steps at test_it.py:6 handle()",
        "FAILED test_it.py::test_leaky - 30 variables (none allowed)*",
    ])  # fmt: skip
    result.stdout.no_fnmatch_line("*tfmemwatch/testing*")
    result.stdout.no_fnmatch_line("*def again*")


@pytest.mark.slow
def test_what_is_allowed_may_stay(run):
    """By number, and after a longer warm-up; the mark of a class holds for its tests, and theirs goes before it."""
    run("""
pytestmark = pytest.mark.tfmemwatch(repeat=8)

@pytest.mark.tfmemwatch(variables=8, retained=None)
def test_allowed():
    handle()

@pytest.mark.tfmemwatch(retained="1 GB", warmup=5)
def test_a_warm_up():
    if len(kept) < 15:
        handle()

@pytest.mark.tfmemwatch(variables=100, repeat=3, retained=1e9)
class TestAll:
    def test_one(self):
        handle()

    @pytest.mark.tfmemwatch(variables=2)
    def test_two(self):
        handle()

@pytest.mark.tfmemwatch(retained="100 kB", repeat=12)
def test_bytes():
    kept.append(bytearray(50000))
""").assert_outcomes(passed=3, failed=2)


def test_a_count_that_comes_to_a_stop_is_a_warm_up(run):
    """A set of shapes, or a cache, that is full before half of the repeats are over."""
    run("""
@pytest.mark.tfmemwatch
def test_it():
    if len(kept) < 9:
        handle()
""").assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_cache_that_fills_up_to_its_bound_is_no_leak(run, monkeypatch):
    """Where the repeats do not fill it; one without a bound leaks, or with more room than there is memory."""
    monkeypatch.delenv("TFMEMWATCH_EVIDENCE")
    result = run("""
import functools, itertools

numbers = itertools.count()

def table(number):
    return bytearray(300000)

bounded = functools.lru_cache(maxsize=128)(table)
endless = functools.lru_cache(maxsize=None)(table)
too_large = functools.lru_cache(maxsize=10**9)(table)

@pytest.mark.tfmemwatch
@pytest.mark.parametrize("cached", [bounded, endless, too_large], ids=["bounded", "endless", "too_large"])
def test_it(cached):
    cached(next(numbers))
""")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["FAILED *endless*retained*", "FAILED *too_large*retained*"])


def test_errors_and_skips_in_the_body_are_those_of_the_test(run):
    """They end the repeats, show the line of the test, and nothing of ours; afterwards nothing is watched."""
    result = run("""
times = []

@pytest.mark.tfmemwatch
def test_fails_in_the_fourth():
    times.append(1)
    handle()
    assert len(times) < 4

@pytest.mark.tfmemwatch
def test_skips():
    pytest.skip("not today")

@pytest.mark.tfmemwatch
@pytest.mark.xfail(strict=True)
def test_known():
    handle()

def test_after():
    from tfmemwatch.monitor.watch import begun
    assert begun == []
""")
    result.assert_outcomes(failed=1, skipped=1, xfailed=1, passed=1)
    result.stdout.fnmatch_lines([">       assert len(times) < 4"])
    result.stdout.no_fnmatch_line("*def again*")


@pytest.mark.slow
def test_parameters_fixtures_and_unittest(run):
    """Each set of parameters is a test; fixtures and setUp run once, around all repeats."""
    result = run("""
made = []

@pytest.fixture
def once():
    made.append(1)
    yield len(made)

@pytest.mark.tfmemwatch(repeat=6)
@pytest.mark.parametrize("leaks", [True, False])
def test_parameters(once, leaks):
    assert once == len(made)
    (handle if leaks else clean)()

@pytest.mark.tfmemwatch(repeat=6)
class TestCases(unittest.TestCase):
    def setUp(self):
        self.before = len(made)

    def test_leaky(self):
        handle()

    def test_clean(self):
        assert self.before == len(made) == 2
        clean()
""")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["*6 variables (none allowed)* in 6 steps at test_it.py:6 handle()"])


@pytest.mark.slow
def test_coroutines(run, needs):
    """pytest-asyncio's, and those of unittest; each repeat is awaited in the same loop."""
    needs("pytest_asyncio")
    run("""
import asyncio

@pytest.mark.tfmemwatch(repeat=6)
@pytest.mark.asyncio
@pytest.mark.parametrize("leaks", [True, False])
async def test_it(leaks):
    await asyncio.sleep(0)
    (handle if leaks else clean)()

@pytest.mark.tfmemwatch(repeat=6)
class TestCases(unittest.IsolatedAsyncioTestCase):
    async def test_leaky(self):
        await asyncio.sleep(0)
        handle()

    async def test_clean(self):
        clean()
""", "-p", "pytest_asyncio.plugin").assert_outcomes(passed=2, failed=2)  # fmt: skip


@pytest.mark.slow
def test_the_fixture_watches_a_block_in_a_test(run):
    """A step for each iteration; the failure stands at the block's own line."""
    result = run("""
@pytest.mark.parametrize("leaks", [True, False])
def test_it(tfmemwatch, leaks):
    with tfmemwatch(warmup=1) as block:
        for _ in range(9):
            (handle if leaks else clean)()
            block.step()

def test_error(tfmemwatch):
    with tfmemwatch() as block:
        raise KeyError("theirs")

def test_word(tfmemwatch):
    tfmemwatch(variable=3)
""")
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines([
        "> *block*",  # the first line of the block, or its last one on Python 3.7
        "E *LeakFound: 8 variables (none allowed)* in 8 steps at test_it.py:6 handle()",
        "E  *KeyError: 'theirs'",
        "E *the fixture tfmemwatch has no 'variable'; did you mean 'variables'?",
    ])  # fmt: skip
    result.stdout.no_fnmatch_line("*def __exit__*")


def test_a_mark_that_means_nothing_is_an_error_of_its_test(run):
    """With the nearest word, or the value and what is allowed; other tests run."""
    result = run("""
@pytest.mark.tfmemwatch(retrace=1)
def test_word(): pass

@pytest.mark.tfmemwatch(retained="a lot")
def test_size(): pass

@pytest.mark.tfmemwatch(20)
def test_position(): pass

def test_other(): pass
""")
    result.assert_outcomes(errors=3, passed=1)
    result.stdout.fnmatch_lines([
        "@pytest.mark.tfmemwatch has no 'retrace'; did you mean 'retraces'?",
        "@pytest.mark.tfmemwatch has retained='a lot'; it must be a size such as '100 kB'*",
        "@pytest.mark.tfmemwatch takes keywords only, and has 20",
    ])  # fmt: skip


WHOLE = """
@pytest.mark.parametrize("times", [1, 5, 3])
def test_leaves(times):
    for _ in range(times):
        handle()

def test_large():
    kept.append(bytearray(1000000))

def test_clean():
    clean()
"""


def test_a_whole_run_lists_the_worst(run, pytester):
    """The most bytes first, then the most things, with their lines; and a page, if it is asked for."""
    result = run(WHOLE, "--tfmemwatch-html", "run.html")
    result.assert_outcomes(passed=5)
    result.stdout.fnmatch_lines([
        "*tfmemwatch: what tests left behind*",
        "*9?? KiB  test_it.py::test_large",
        "*test_it.py::test_leaves*[[]*",
        "*variable*; test_it.py:6 handle()",
        "5 tests watched; 4 left something*",
        "written: run.html",
    ])  # fmt: skip
    page = (pytester.path / "run.html").read_text(encoding="utf-8")
    assert "test_it.py::test_large" in page and " KiB" in page and "test_clean" not in page
    assert "http://" not in page and "https://" not in page and "<script" not in page


@pytest.mark.slow
def test_marks_and_whole_runs_under_xdist(run, needs):
    """Each worker watches its own tests; the failure looks the same, and the list has all of them."""
    needs("xdist")
    result = run(WHOLE + "\n@pytest.mark.tfmemwatch(repeat=6)\ndef test_leaky():\n    handle()\n",
                 "-p", "xdist", "-n", "2", "--tfmemwatch", workers=True)  # fmt: skip
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(
        [">   *kept.append(*# CULPRIT", "E     +6, 1 a step, since step 3", "*9?? KiB  *::test_large"]
    )
    result.stdout.fnmatch_lines(["6 tests watched; 5 left something*"])


@pytest.mark.slow
def test_a_plugin_that_nobody_uses_loads_nothing(tmp_path):
    """No TensorFlow, nor anything that tfmemwatch needs, until a mark, a fixture or an option asks for it."""
    (tmp_path / "test_it.py").write_text(
        "import json, sys\n\ndef test_it():\n    open('modules.json', 'w').write(json.dumps(sorted(sys.modules)))\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", *PLUGIN, "--rootdir", ".", "test_it.py"]
    environ = {"PYTHONPATH": str(TREE), "PATH": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run(command, cwd=str(tmp_path), env=environ, check=True, stdout=subprocess.DEVNULL)
    loaded = set(json.loads((tmp_path / "modules.json").read_text()))
    assert loaded & {"tensorflow", "psutil", "prometheus_client", "wrapt", "numpy", "tfmemwatch.api"} == set()
    assert {name for name in loaded if name.startswith("tfmemwatch.")} == {
        "tfmemwatch.testing", "tfmemwatch.testing.leak_free", "tfmemwatch.testing.plugin",
    }  # fmt: skip


def test_the_plugin_is_announced():
    """pytest finds it in every environment in which tfmemwatch is installed."""
    announced = (TREE / "setup.cfg").read_text(encoding="utf-8")
    assert "pytest11 =\n    tfmemwatch = tfmemwatch.testing.plugin\n" in announced


@pytest.mark.parametrize(
    ("size", "number"), [("100 kB", 100e3), ("1.5MB", 1.5e6), ("2 MiB", 2 << 20), (4096, 4096), ("0", 0)]
)
def test_sizes_as_people_write_them(size, number):
    """With a unit or without."""
    assert limits.limits_of({"retained": size}, "it").retained_bytes == number
