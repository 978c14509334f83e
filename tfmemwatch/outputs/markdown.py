"""The report for an issue at GitHub: versions, findings, and the smallest facts that a maintainer needs.

It has no data of the program's: no path, no value, no source, no argument and no code.
A line is named by its file and function.
"""

from __future__ import annotations

import platform
from typing import List, Sequence

from ..growth.history import plot
from ..memory.forecast import span_of
from ..model import Finding
from ..reports import Report
from ..units import bytes_pace_of, pace_of, since_of, size_of

_MOST_FINDINGS = 20
_MOST_CHARACTERS = 120  # of a name
_HEAD = "| kind | where | grown | kept | since | how it went | verdict |"


def issue(report: Report) -> str:
    """The whole report as Markdown."""
    parts = [_title(report), *_versions(report), "", *_findings(report.findings), *_memory(report), *_watch(report)]
    return "\n".join(parts) + "\n"


def _title(report: Report) -> str:
    count = len(report.findings)
    return "### tfmemwatch: %s\n" % ("%d finding%s" % (count, "" if count == 1 else "s") if count else "no finding")


def _versions(report: Report) -> List[str]:
    rows = [*sorted(report.versions.items()), ("system", "%s %s" % (platform.system(), platform.machine()))]
    if report.account is not None:
        rows.append(("allocator", report.account.allocator))
    return ["| | |", "| --- | --- |", *("| %s | %s |" % (name, _cell(value)) for name, value in rows if value)]


def _findings(findings: Sequence[Finding]) -> List[str]:
    if not findings:
        return []
    lines = [_HEAD, "| --- | --- | --- | --- | --- | --- | --- |"]
    lines += [_finding(finding) for finding in findings[:_MOST_FINDINGS]]
    known = dict.fromkeys(finding.known for finding in findings if finding.known)
    return [*lines, "", *("- " + _cell(one) for one in known), *([""] if known else [])]


def _finding(one: Finding) -> str:
    grown = "+%s%s" % (one.gained, pace_of(one.rate, one.per)) if one.grown else ""
    if not grown and one.bytes_rate >= 1:
        grown = "+" + bytes_pace_of(one.bytes_rate, one.per)
    cells = (
        one.kind, one.site.short, grown, size_of(one.bytes) if one.bytes else "",
        since_of(one.since, one.per), plot(one.trail), "%s (%d %%)" % (one.verdict, round(100 * one.confidence)),
    )  # fmt: skip
    return "| %s |" % " | ".join(map(_cell, cells))


def _memory(report: Report) -> List[str]:
    resident, limit = report.memory.resident_bytes, report.limit
    lines = ["- resident %s" % size_of(resident)] if resident is not None else []
    if limit is not None:
        lines.append("- nearest limit: %s, %s" % (limit.name, size_of(limit.bytes)))
    if report.outlook is not None:
        lines.append("- at this rate it is reached in %s" % span_of(report.outlook.seconds))
    if report.verdict is not None and report.verdict.word:
        lines.append("- memory: %s" % report.verdict.word)
    return lines


def _watch(report: Report) -> List[str]:
    lines = ["- level %s" % report.level] if report.level else []
    if report.own is not None:
        lines.append("- %d looks, %.3g s of processor" % (report.own.looks, report.own.seconds))
        lines += ["- failed %d times: %s" % (times, _cell(part)) for part, times in sorted(report.own.failures.items())]
    return lines + ["- not watched: %s (%s)" % (_cell(name), _cell(why)) for name, why in sorted(report.off.items())]


def _cell(text: str) -> str:
    """A text that is nothing but text in Markdown, and in one cell."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())[:_MOST_CHARACTERS]
    for sign in "\\`*_|<>[]#~":
        line = line.replace(sign, "\\" + sign)
    return line.replace("@", "@\u200b")  # nobody is called to the issue by a name in it
