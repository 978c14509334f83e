"""The pytest plugin: the mark and the fixture `tfmemwatch`, and `--tfmemwatch`.

Until one of them is used it imports nothing but pytest: neither TensorFlow nor anything that tfmemwatch needs.
"""

from __future__ import annotations

import sys
from typing import Any, Dict, Generator

import pytest

_MARK = (
    'tfmemwatch(retraces=0, variables=0, sessions=0, retained="100 kB", warmup=2, repeat=30): repeat the body of the '
    "test, and fail it where it leaves more behind than this. Other words: graphs, operations, functions, models, "
    "iterators, tapes, pyfuncs, writers, tensors, arrays."
)
_LIMITS = "_tfmemwatch_limits"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("tfmemwatch", "leaks of TensorFlow programs")
    group.addoption(
        "--tfmemwatch", action="store_true", help="watch the whole run, and list the tests that left most behind"
    )
    group.addoption("--tfmemwatch-html", metavar="FILE", help="the same, and write the list as a page to FILE")


def pytest_configure(config: pytest.Config) -> None:
    """The mark is known; a whole run is watched where that is asked for."""
    config.addinivalue_line("markers", _MARK)
    page = config.getoption("--tfmemwatch-html")
    if config.getoption("--tfmemwatch") or page:
        from .whole_run import WholeRun

        config.pluginmanager.register(WholeRun(config, page or ""), "tfmemwatch-whole-run")


@pytest.fixture
def tfmemwatch(request: pytest.FixtureRequest) -> Any:
    """Watch a block: `with tfmemwatch(retraces=0, retained="100 kB") as block:`, with `block.step()` in its loop."""
    from .check import Session

    return Session(request.node.name)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A mark that means nothing fails its own test."""
    marks = list(item.iter_markers("tfmemwatch"))
    if not marks or not isinstance(item, pytest.Function):
        return
    from ..errors import ConfigError
    from .limits import limits_of

    given: Dict[str, Any] = {}
    for mark in reversed(marks):  # what stands nearer to the test has the last word
        if mark.args:
            pytest.fail("@pytest.mark.tfmemwatch takes keywords only, and has %r" % (mark.args[0],), pytrace=False)
        given.update(mark.kwargs)
    try:
        setattr(item, _LIMITS, limits_of(given, "@pytest.mark.tfmemwatch"))
    except ConfigError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """The body of a marked test is repeated, whoever runs it."""
    limits = getattr(item, _LIMITS, None)
    if limits is None or not isinstance(item, pytest.Function):
        yield
        return
    from .repeated import MARK, repeated

    body = item.obj
    if getattr(body, MARK, False):  # of a LeakFree, which has limits of its own
        yield
        return
    again = repeated(body, item.name, limits)
    case = getattr(item, "instance", None)
    name = getattr(item, "originalname", None) or item.name
    unittest = sys.modules.get("unittest")  # not loaded for this: where nobody did, nothing is a case
    is_case = unittest is not None and isinstance(case, unittest.TestCase)
    item.obj = again
    if is_case:
        setattr(case, name, again)  # pytest leaves coroutines to unittest, which asks the case
    try:
        yield
    finally:
        item.obj = body
        if is_case:
            vars(case).pop(name, None)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """A test that leaks shows the line that leaks, and nothing of ours."""
    outcome = yield
    if getattr(item, _LIMITS, None) is None or call.excinfo is None:
        return
    verdict = getattr(call.excinfo.value, "verdict", None)
    report = outcome.get_result()
    if verdict is not None and report.failed:
        from .shown import as_pytest_shows

        report.longrepr = as_pytest_shows(verdict, *item.reportinfo()[:2])
