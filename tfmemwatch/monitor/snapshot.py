"""A report that says itself as text, one that can be compared with an earlier one, and what has changed between two."""

from __future__ import annotations

import dataclasses
import os
import time
from typing import Dict, Mapping, NamedTuple, Union

from ..model import Key, Tally
from ..outputs import notebook, text
from ..reports import Report
from . import rows


class TextReport(Report):
    """A report whose `str()` is the text for a person, and that can be written to a file."""

    def __str__(self) -> str:
        return text.render(self)

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Write it to a file, whose name ends in `.html` (a page for any browser), `.txt`, `.json` or `.md`."""
        from ..outputs import formats

        formats.save(self, os.fspath(path))

    def _repr_html_(self) -> str:
        return notebook.of_report(self)


@dataclasses.dataclass(frozen=True, repr=False)
class Snapshot(TextReport):
    """Everything at one moment, with every count. A plain value: it holds nothing of the program's alive."""

    tallies: Mapping[Key, Tally] = dataclasses.field(default_factory=dict)

    def alive(self, kind: str) -> int:
        """How many things of a kind there were."""
        return sum(tally.alive for key, tally in self.tallies.items() if key.kind == kind)

    def diff(self, earlier: Snapshot) -> Diff:
        """What has changed since an earlier one."""
        return Diff(earlier, self)


class Diff(NamedTuple):
    """Two snapshots, and what has changed between them."""

    before: Snapshot
    after: Snapshot

    def alive(self) -> Dict[Key, int]:
        """How many more, or fewer, of each kind and line there are."""
        return more_alive(self.before.tallies, self.after.tallies)

    def report(self) -> Report:
        """What was made, freed and is still alive between the two."""
        before, after = self.before, self.after
        return dataclasses.replace(
            after,
            title="from %s to %s" % (clock(before.seconds), clock(after.seconds)),
            memory_before=before.memory,
            account_before=before.account,
            made=rows.made(before.tallies, after.tallies),
            traces=rows.traced(before.tallies, after.tallies),
            builds=rows.built(before.tallies, after.tallies),
        )

    def __str__(self) -> str:
        return str(self.report())

    def _repr_html_(self) -> str:
        return notebook.of_report(self.report())


def more_alive(before: Mapping[Key, Tally], after: Mapping[Key, Tally]) -> Dict[Key, int]:
    """How many more, or fewer, of each kind and line there are."""
    changes = {}
    for key, tally in after.items():
        old = before.get(key)
        change = tally.alive - (old.alive if old is not None else 0)
        if change:
            changes[key] = change
    return changes


def clock(seconds: float) -> str:
    """`14:02:11`, here."""
    return time.strftime("%H:%M:%S", time.localtime(seconds))
