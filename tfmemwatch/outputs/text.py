"""A report that a person wants to read: what was found, made, freed and kept, by line."""

from __future__ import annotations

from typing import Dict, List, Mapping, Optional, Sequence, Tuple

from ..account import Account
from ..balance import Verdict
from ..catalog import BY_KIND
from ..forecast import Outlook, limit_of, span_of
from ..limit import Limit
from ..memory import Memory
from ..model import Finding, Key, Site, Tally, bytes_pace_of, count_of, pace_of, since_of, size_of
from ..sample import Calls, Living, Loaded
from ..trail import plot

_MOST_LINES = 8
_MADE = frozenset(BY_KIND) - {"trace", "retrace", "xla_build", "session_closed", "writer_closed"}  # told elsewhere


def render(
    title: str, findings: Sequence[Finding], before: Mapping[Key, Tally], after: Mapping[Key, Tally],
    memory: Tuple[Optional[Memory], Memory], off: Mapping[str, str], verdict: Optional[Verdict] = None,
    accounts: Tuple[Optional[Account], Optional[Account]] = (None, None), ahead: Sequence[str] = (),
    living: Optional[Living] = None,
) -> str:  # fmt: skip
    """The whole report as one text."""
    lines = ["tfmemwatch · " + title, ""]
    lines += _findings(findings)
    lines += _made(before, after)
    lines += _traces(before, after)
    lines += _builds(before, after)
    lines += _living(living) if living is not None else []
    before_account, account = accounts
    lines += _memory(*memory) if account is None else _account(before_account, account)
    if verdict is not None and verdict.word and not findings:
        lines.append("  → %s: %s" % verdict)
    lines += ["  " + line for line in ahead]
    if off:
        lines += ["", "Not watched here"] + ["  %s: %s" % row for row in sorted(off.items())]
    return "\n".join(lines) + "\n"


def _findings(findings: Sequence[Finding]) -> List[str]:
    if not findings:
        return ["Nothing leaks, as far as was watched."]
    lines = ["%d finding%s" % (len(findings), "" if len(findings) == 1 else "s")]
    for finding in findings:
        lines.append("  %s  %s" % (finding.kind, finding.site.short))
        lines.append("      %s" % finding.cause)
        lines.append("      %s" % _amount(finding))
        if not finding.is_sure:
            lines.append("      or a %s: it is looked at again" % finding.verdict)
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


def _made(before: Mapping[Key, Tally], after: Mapping[Key, Tally]) -> List[str]:
    rows = []
    for key, tally in after.items():
        old = before.get(key)
        born = tally.born - (old.born if old else 0)
        died = tally.died - (old.died if old else 0)
        size = tally.live_bytes - (old.live_bytes if old else 0)
        if key.kind in _MADE and (born or died):
            rows.append((born - died, born, died, size, key))
    if not rows:
        return ["", "Nothing was made that is counted."]
    rows.sort(key=lambda row: (-row[0], -row[1]))
    shown = rows[: 3 * _MOST_LINES]
    wide = max(len(row[4].site.short) for row in shown)
    layout = "%%-32s %%-%ds %%8s %%8s %%8s%%s" % wide
    lines = ["", layout % ("Made, freed and still alive", "line", "made", "freed", "alive", "")]
    for alive, born, died, size, key in shown:
        title = "  " + BY_KIND[key.kind].title
        weight = "  " + size_of(size) if size > 0 else ""
        lines.append(layout % (title, key.site.short, count_of(born), count_of(died), "%+d" % alive, weight))
    if len(rows) > 3 * _MOST_LINES:
        lines.append("  … and %d more lines" % (len(rows) - 3 * _MOST_LINES))
    return lines


def _traces(before: Mapping[Key, Tally], after: Mapping[Key, Tally]) -> List[str]:
    rows = []
    for key, tally in after.items():
        if key.kind not in ("trace", "retrace"):
            continue
        old = before.get(key)
        times = tally.born - (old.born if old else 0)
        if times:
            seconds = tally.seconds - (old.seconds if old else 0.0)
            size = tally.bytes - (old.bytes if old else 0)
            rows.append((times, key, tally.note, seconds, size))
    if not rows:
        return []
    lines = ["", "Traces"]
    for times, key, note, seconds, size in sorted(rows, key=lambda row: -row[0])[:_MOST_LINES]:
        word = "retraced" if key.kind == "retrace" else "traced"
        lines.append(
            "  %s %s %s, %.2g s, %s  (%s)" % (key.site.short, word, count_of(times) + "×", seconds, size_of(size), note)
        )
    return lines


def _builds(before: Mapping[Key, Tally], after: Mapping[Key, Tally]) -> List[str]:
    """What XLA has built, for how many traces: those from this line, else all of the function's name."""
    rows = []
    traces: Dict[Tuple[Optional[Site], str], int] = {}
    for key, tally in after.items():
        old = before.get(key)
        times = tally.born - (old.born if old else 0)
        if key.kind in ("trace", "retrace"):
            for at in (key.site, None):
                traces[at, tally.note] = traces.get((at, tally.note), 0) + times
        elif key.kind == "xla_build" and times:
            seconds = tally.seconds - (old.seconds if old else 0.0)
            rows.append((times, key.site, tally.note, seconds, tally.bytes - (old.bytes if old else 0)))
    if not rows:
        return []
    lines = ["", "Builds by XLA"]
    for times, at, name, seconds, size in sorted(rows, reverse=True)[:_MOST_LINES]:
        made = traces.get((at, name)) or traces.get((None, name), 0)
        behind = " for %s trace%s" % (count_of(made), "" if made == 1 else "s") if made else ""
        built = "%s build%s%s" % (count_of(times), "" if times == 1 else "s", behind)
        lines.append("  %s %s: %s, %.2g s, %s" % (at.short, name, built, seconds, size_of(size)))
    return lines


def future(limit: Optional[Limit], outlook: Optional[Outlook], rise: str = "") -> List[str]:
    """How fast memory grows, which limit is nearest, and when one is reached."""
    lines = [rise] if rise else []
    if limit is not None:
        lines.append("nearest limit: %s, %s, %s left" % (limit.name, limit_of(limit.bytes), limit_of(limit.left_bytes)))
    if outlook is not None:
        lines.append(str(outlook))
    return lines


def _account(before: Optional[Account], after: Account) -> List[str]:
    return ["", "Memory"] + ["  " + line for line in after.lines(before)]


def _living(living: Living) -> List[str]:
    """Functions in the runtime, open sessions by age, and what the calls of each model leave behind."""
    lines = []
    if living.functions:
        orphans = "; %s of them have lost their owner" % count_of(living.orphans) if living.orphans else ""
        lines += ["", "%s functions in TensorFlow's runtime%s" % (count_of(living.functions), orphans)]
    oldest: Dict[Site, List[float]] = {}
    for site, seconds in living.session_ages:
        oldest.setdefault(site, []).append(seconds)
    if oldest:
        lines += ["", "Sessions open"]
        for site, ages in sorted(oldest.items(), key=lambda row: -len(row[1]))[:_MOST_LINES]:
            lines.append("  %s  %d, the oldest for %s" % (site.short, len(ages), span_of(max(ages))))
    called = sorted((row for row in living.calls if row.calls), key=lambda row: -row.calls)
    if called:
        lines += ["", "Model calls                                 calls   left by 1,000 of them"]
        lines += [_called(row) for row in called[:_MOST_LINES]]
    if living.models:
        lines += ["", "Models alive                            variables     weigh   traces   grown by calls"]
        lines += [_model(row) for row in living.models[:_MOST_LINES]]
        lines += _and_more(living.models)
    if living.remains:
        lines += ["", "Left of models that have gone"]
        lines += ["  %s  (made at %s)" % (row, row.site.short) for row in living.remains[:_MOST_LINES]]
        lines += _and_more(living.remains)
    return lines


def _and_more(rows: Sequence[object]) -> List[str]:
    return ["  … and %d more" % (len(rows) - _MOST_LINES)] if len(rows) > _MOST_LINES else []


def _model(row: Loaded) -> str:
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
