"""`--tfmemwatch`: a whole run of tests under watch, and the list of those that left most behind."""

from __future__ import annotations

from typing import Any, Dict, Generator, List, Mapping, NamedTuple, Optional

import pytest

from ..api import private_watch
from ..heap import collector
from ..model import Key, Tally
from ..monitor.left_behind import COUNTED
from ..monitor.snapshot import more_alive
from ..monitor.watch import Watch
from .left import Left, told, worst

_MOST_KEPT = 200  # rows of one process
_LEAST_BYTES = 100000  # below which a test is not asked again, after a collection
_MOST_LINES = 3


class Now(NamedTuple):
    """What there was at one moment."""

    tallies: Mapping[Key, Tally]
    held_bytes: Optional[int]
    has_tensorflow: bool


class WholeRun:
    """Watches from the first test to the last; under xdist each process does, and the first one shows all lists."""

    def __init__(self, config: pytest.Config, page: str) -> None:
        self._config = config
        self._page = page
        self._watch: Optional[Watch] = None
        self._failed = False
        self.tests = 0
        self.rows: List[Left] = []

    @property
    def _is_worker(self) -> bool:
        return hasattr(self._config, "workerinput")

    def pytest_sessionstart(self) -> None:
        """From now on."""
        self._watch = private_watch()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, None, None]:
        """One test, with all that it sets up and takes down."""
        self._failed = False
        before = self._now()
        yield
        self.tests += 1
        after = self._now()
        left = _left(item.nodeid, before, after)
        if left is not None:
            collector.collect(asked=True)  # only where there is something to be doubted: it takes some 0.1 s
            left = _left(item.nodeid, before, self._now())
        if left is not None:
            self.rows.append(left._replace(note="failed: its traceback may hold this") if self._failed else left)
            self.rows = worst(self.rows, _MOST_KEPT)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Whether the test that runs has failed."""
        self._failed = self._failed or report.failed

    def _now(self) -> Now:
        watch = self._watch
        if watch is None:
            return Now({}, None, False)
        return Now(watch.state.read(), watch.process.read().held_bytes, watch.state.probes.is_installed)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """A worker hands over what it knows."""
        if self._watch is not None:
            self._watch.stop()
            self._watch = None
        if self._is_worker:
            rows = [{**row._asdict(), "lines": list(row.lines)} for row in self.rows]
            self._config.workeroutput["tfmemwatch"] = {"tests": self.tests, "rows": rows}  # type: ignore[attr-defined]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """xdist: a worker has ended."""
        given: Dict[str, Any] = (getattr(node, "workeroutput", None) or {}).get("tfmemwatch", {})
        self.tests += given.get("tests", 0)
        rows = [Left(**{**row, "lines": tuple(row["lines"])}) for row in given.get("rows", ())]
        self.rows = worst([*self.rows, *rows], _MOST_KEPT)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The list, at the end of the run."""
        if self._is_worker:
            return
        terminalreporter.section("tfmemwatch: what tests left behind")
        for line in told(self.rows, self.tests):
            terminalreporter.write_line(line)
        if self._page:
            from .run_page import write

            terminalreporter.write_line(write(self._page, self.rows, self.tests))


def _left(test: str, before: Now, after: Now) -> Optional[Left]:
    """What is there now and was not before; None where that is next to nothing."""
    alive = more_alive(before.tallies, after.tallies)
    words = {word: sum(more for key, more in alive.items() if key.kind in kinds) for word, kinds in COUNTED.items()}
    words["functions"] -= words["retraces"]  # each leaves one
    words = {word: number for word, number in words.items() if number > 0}
    grown = 0
    if before.held_bytes is not None and after.held_bytes is not None:
        grown = after.held_bytes - before.held_bytes
    is_first = after.has_tensorflow and not before.has_tensorflow
    if not words and (grown < _LEAST_BYTES or is_first):
        return None
    kinds = {kind for word in words for kind in COUNTED[word]}
    told_lines = sorted((-more, key.site.short) for key, more in alive.items() if key.kind in kinds)
    lines = tuple(dict.fromkeys(line for _, line in told_lines))[:_MOST_LINES]
    return Left(test, max(0, grown), words, lines, "imports TensorFlow" if is_first else "")
