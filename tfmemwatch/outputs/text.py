"""The report as a text: what was found, made, freed and kept, by line."""

from __future__ import annotations

from typing import List, Optional, Sequence

from ..catalog import BY_KIND
from ..growth.history import plot
from ..headline import NOT_WATCHED, Headline
from ..memory.account import Account
from ..memory.forecast import span_of
from ..memory.process import Memory
from ..model import Finding
from ..reports import Built, Calls, LeftOfModel, LivingModel, Made, OpenSessions, Report, Traced, level_line
from ..units import bytes_pace_of, count_of, pace_of, since_of, size_of

_MOST_LINES = 8
_MOST_BAKED_IN = 12


def render(report: Report) -> str:
    """The whole report as one text."""
    lines = [*_headline(report.headline), "tfmemwatch · " + report.title, *_level(report)]
    lines += _findings(report.findings)
    if report.made or report.headline.word != NOT_WATCHED:
        lines += _made(report.made)
    lines += _traces(report.traces)
    lines += _builds(report.builds)
    lines += _functions(report.functions, report.orphan_functions)
    lines += _sessions(report.sessions)
    lines += _calls(report.calls)
    lines += _models(report.models)
    lines += _left_of_models(report.left_of_models)
    if report.account is None:
        lines += _memory(report.memory_before, report.memory)
    else:
        lines += _account(report.account_before, report.account)
    lines += _verdict(report)
    lines += ["  " + line for line in _ahead(report)]
    if report.off:
        lines += ["", "Not watched here"] + ["  %s: %s" % row for row in sorted(report.off.items())]
    if report.baked_in:
        lines += ["", "Baked into traces", *("  " + str(one) for one in report.baked_in[:_MOST_BAKED_IN])]
    return "\n".join(lines) + "\n"


def _level(report: Report) -> List[str]:
    if report.level_since is None:
        return []
    return ["The " + level_line(report.level, report.level_since, report.level_why)]


def _headline(headline: Headline) -> List[str]:
    """What it all comes to, and what that rests on."""
    return [headline.sentence, *filter(None, ["  " + headline.why if headline.why else ""]), ""]


def _verdict(report: Report) -> List[str]:
    """What became of memory, where no finding says it; nothing that the headline does not say."""
    verdict = report.verdict
    if verdict is None or not verdict.word or report.findings or report.headline.word == NOT_WATCHED:
        return []
    word = "rising" if verdict.word == "leak" else verdict.word
    return ["  → %s: %s" % (word, verdict.why)]


def _findings(findings: Sequence[Finding]) -> List[str]:
    if not findings:
        return []
    lines = ["", "%d finding%s" % (len(findings), "" if len(findings) == 1 else "s")]
    for finding in findings:
        lines.append("  %s  %s" % (finding.kind, finding.site.short))
        lines.append("      %s" % finding.cause)
        lines.append("      %s" % _amount(finding))
        if not finding.is_sure:
            lines.append("      may be a %s; tfmemwatch looks again" % finding.verdict)
        if finding.why:
            lines.append("      %s" % finding.why)
            lines += ["        " + example for example in finding.examples]
        if len(finding.stack) > 1:
            lines.append("      called by %s" % " ← ".join(site.short for site in finding.stack[1:]))
        lines.append("      → %s" % finding.cure)
        lines += ["          " + line for line in finding.suggestion.splitlines()]
        if finding.known:
            lines.append("      %s" % finding.known)
    return lines


def _amount(finding: Finding) -> str:
    grown = "+%s%s" % (finding.gained, pace_of(finding.rate, finding.per)) if finding.grown else "growing"
    pace = bytes_pace_of(finding.bytes_rate, finding.per) if finding.bytes_rate >= 1 else ""
    kept = ", %s kept%s" % (size_of(finding.bytes), " (%s)" % pace if pace else "") if finding.bytes else ""
    is_dated = (finding.grown and finding.since > 1) or finding.began
    since = " " + since_of(finding.since, finding.per, finding.began) if is_dated else ""
    went = plot(finding.trail)
    held = ", held by " + finding.holder if finding.holder not in finding.cause else ""
    return grown + since + kept + held + ("  " + went if went else "")


def _made(rows: Sequence[Made]) -> List[str]:
    if not rows:
        return ["", "Nothing that is counted was made."]
    shown = rows[: 3 * _MOST_LINES]
    wide = max(len(row.site.short) for row in shown)
    layout = "%%-32s %%-%ds %%8s %%8s %%8s%%s" % wide
    lines = ["", layout % ("Made, freed and still alive", "line", "made", "freed", "alive", "")]
    for row in shown:
        title = "  " + BY_KIND[row.kind].title
        weight = "  " + size_of(row.bytes) if row.bytes > 0 else ""
        numbers = (count_of(row.made), count_of(row.freed), "%+d" % row.alive)
        lines.append(layout % (title, row.site.short, *numbers, weight))
    if len(rows) > len(shown):
        lines.append("  … and %d more lines" % (len(rows) - len(shown)))
    return lines


def _traces(rows: Sequence[Traced]) -> List[str]:
    if not rows:
        return []
    lines = ["", "Traces"]
    for row in rows[:_MOST_LINES]:
        word = "retraced" if row.is_retrace else "traced"
        what = (row.site.short, word, count_of(row.times) + "×", row.seconds, size_of(row.bytes), row.function)
        lines.append("  %s %s %s, %.2g s, %s  (%s)" % what)
    return lines


def _builds(rows: Sequence[Built]) -> List[str]:
    """What XLA has built, for how many traces."""
    if not rows:
        return []
    lines = ["", "Builds by XLA"]
    for row in rows[:_MOST_LINES]:
        behind = " for %s trace%s" % (count_of(row.traces), "" if row.traces == 1 else "s") if row.traces else ""
        built = "%s build%s%s" % (count_of(row.builds), "" if row.builds == 1 else "s", behind)
        lines.append("  %s %s: %s, %.2g s, %s" % (row.site.short, row.function, built, row.seconds, size_of(row.bytes)))
    return lines


def _ahead(report: Report) -> List[str]:
    """How fast memory grows, which limit is nearest, and when one is reached."""
    lines = [report.rise] if report.rise else []
    limit = report.limit
    if limit is not None and not report.is_of_block:
        lines.append("nearest limit: %s, %s, %s left" % (limit.name, size_of(limit.bytes), size_of(limit.left_bytes)))
    if report.outlook is not None:
        lines.append(str(report.outlook))
    return lines


def _account(before: Optional[Account], after: Account) -> List[str]:
    return ["", "Memory"] + ["  " + line for line in after.lines(before)]


def _functions(functions: Optional[int], orphans: Optional[int]) -> List[str]:
    if not functions:
        return []
    lost = "; %s of them have no owner" % count_of(orphans) if orphans else ""
    return ["", "%s functions in TensorFlow's runtime%s" % (count_of(functions), lost)]


def _sessions(rows: Sequence[OpenSessions]) -> List[str]:
    if not rows:
        return []
    lines = ["", "Sessions open"]
    for row in rows[:_MOST_LINES]:
        lines.append("  %s  %d, the oldest open for %s" % (row.site.short, row.open, span_of(row.oldest_seconds)))
    return lines


def _calls(rows: Sequence[Calls]) -> List[str]:
    """What the calls of each model leave behind."""
    called = sorted((row for row in rows if row.calls), key=lambda row: -row.calls)
    if not called:
        return []
    title = "Model calls                                 calls   left by 1,000 calls"
    return ["", title, *(_called(row) for row in called[:_MOST_LINES])]


def _models(rows: Sequence[LivingModel]) -> List[str]:
    if not rows:
        return []
    title = "Models alive                            variables     weigh   traces   grown by calls"
    return ["", title, *(_model(row) for row in rows[:_MOST_LINES]), *_and_more(rows)]


def _left_of_models(rows: Sequence[LeftOfModel]) -> List[str]:
    if not rows:
        return []
    shown = ["  %s  (made at %s)" % (row, row.site.short) for row in rows[:_MOST_LINES]]
    return ["", "Left behind by models that are gone", *shown, *_and_more(rows)]


def _and_more(rows: Sequence[object]) -> List[str]:
    return ["  … and %d more" % (len(rows) - _MOST_LINES)] if len(rows) > _MOST_LINES else []


def _model(row: LivingModel) -> str:
    numbers = (count_of(row.variables), size_of(row.weight_bytes), count_of(row.traces), size_of(row.grown_bytes))
    return "  %-38s %8s %9s %8s   %s" % (row.model[:38], *numbers)


def _called(row: Calls) -> str:
    name = "%s.%s" % (row.model, row.method)
    return "  %-38s %8s   %s" % (name[:38], count_of(row.calls), row.leaves or "not known yet")


def _memory(before: Optional[Memory], after: Memory) -> List[str]:
    lines = ["", "Memory"]
    for title, field in (
        ("resident", "resident_bytes"),
        ("malloc in use", "in_use_bytes"),
        ("malloc kept", "kept_bytes"),
    ):
        now = getattr(after, field)
        if now is None:
            continue
        was = getattr(before, field) if before is not None else None
        change = "" if was is None else "  %s%s" % ("+" if now >= was else "−", size_of(abs(now - was)))
        lines.append("  %-16s %10s%s" % (title, size_of(now), change))
    blocks = after.python_blocks - (before.python_blocks if before is not None else 0)
    lines.append("  %-16s %10s%s" % ("Python blocks", format(after.python_blocks, ","),
                                     "  %+d" % blocks if before is not None else ""))  # fmt: skip
    return lines
