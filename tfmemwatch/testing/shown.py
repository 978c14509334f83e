"""A verdict as pytest shows a failure: lines of source with the culprit marked, and what is said of it."""

from __future__ import annotations

import linecache
import os
from typing import Any, List, Optional

from ..model import Site
from .verdict import Verdict, told

_AROUND = 2  # lines of source before the culprit
_MOST_SHOWN = 4


def as_pytest_shows(verdict: Verdict, path: Any, line: Optional[int]) -> Any:
    """What stands in `report.longrepr`; plain text where this pytest has other classes for it."""
    test = Site(str(path), (line or 0) + 1, verdict.name)
    try:
        return _as_pytest_shows(verdict, test)
    except (ImportError, TypeError):
        return str(verdict)


def _as_pytest_shows(verdict: Verdict, test: Site) -> Any:
    from _pytest._code.code import ExceptionChainRepr, ReprEntry, ReprFileLocation, ReprTraceback

    entries = []
    findings = verdict.findings[:_MOST_SHOWN]
    for finding in findings:
        lines = [*source_of(finding.site), *("E   " + text for text in told(finding, verdict.limits))]
        at = finding.site if finding.site.line else test
        entries.append(ReprEntry(lines, None, None, ReprFileLocation(_short(at.file), at.line, finding.kind), "long"))
    last = [verdict.headline, *verdict.bytes_told()]
    if len(verdict.findings) > len(findings):
        last.insert(1, "%d more findings are not shown" % (len(verdict.findings) - len(findings)))
    where = ReprFileLocation(_short(test.file), test.line, "LeakFound")
    entries.append(ReprEntry(["E   " + text for text in last], None, None, where, "long"))
    crash = ReprFileLocation(_short(test.file), test.line, verdict.headline)
    return ExceptionChainRepr([(ReprTraceback(entries, None, "long"), crash, None)])


def source_of(site: Site) -> List[str]:
    """Some lines of source, the culprit marked as pytest does."""
    rows = []
    for number in range(max(1, site.line - _AROUND), site.line + 1):
        text = linecache.getline(site.file, number).rstrip()
        rows.append((">   " if number == site.line else "    ") + text)
    while rows and not rows[0].strip():
        rows.pop(0)
    return rows if site.line and rows != [">   "] else []


def _short(path: str) -> str:
    """A path as pytest writes it: from here."""
    try:
        short = os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return path if short.startswith("..") else short
