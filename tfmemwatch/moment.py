"""Everything that is counted, at one moment; and what has changed since."""

from __future__ import annotations

import time
from typing import Dict, Mapping, NamedTuple, Optional, Tuple

from .account import Account
from .balance import Verdict
from .forecast import Outlook
from .limit import Limit
from .memory import Memory
from .model import Finding, Key, Tally
from .outputs import text
from .sample import Living

_NOTHING = Living()


class Snapshot(NamedTuple):
    """A plain value: it holds nothing of the program's alive."""

    seconds: float  # time.time() when it was taken
    tallies: Mapping[Key, Tally]
    memory: Memory
    findings: Tuple[Finding, ...]
    off: Mapping[str, str]
    verdict: Verdict = Verdict("", "")  # what became of memory since the watch began
    account: Optional[Account] = None  # whose bytes these are, where it was asked for
    limit: Optional[Limit] = None  # the one with the least left
    outlook: Optional[Outlook] = None  # when it, or another, is reached
    living: Living = _NOTHING
    rise: str = ""  # how fast memory grows, and since when

    def alive(self, kind: str) -> int:
        """How many things of a kind there were."""
        return sum(tally.alive for key, tally in self.tallies.items() if key.kind == kind)

    def diff(self, earlier: Snapshot) -> Diff:
        """What has changed since an earlier one."""
        return Diff(earlier, self)

    def __str__(self) -> str:
        return text.render("as of %s" % _clock(self.seconds), self.findings, {}, self.tallies,
                           (None, self.memory), self.off, self.verdict, (None, self.account),
                           text.future(self.limit, self.outlook, self.rise), self.living)  # fmt: skip


class Diff(NamedTuple):
    """Two snapshots, and what lies between."""

    before: Snapshot
    after: Snapshot

    def alive(self) -> Dict[Key, int]:
        """How many more, or fewer, of each kind and line there are."""
        changes = {}
        for key, tally in self.after.tallies.items():
            old = self.before.tallies.get(key)
            change = tally.alive - (old.alive if old is not None else 0)
            if change:
                changes[key] = change
        return changes

    def __str__(self) -> str:
        before, after = self.before, self.after
        title = "from %s to %s" % (_clock(before.seconds), _clock(after.seconds))
        memory = (before.memory, after.memory)
        return text.render(title, after.findings, before.tallies, after.tallies, memory, after.off, after.verdict,
                           (before.account, after.account), text.future(after.limit, after.outlook, after.rise),
                           after.living)  # fmt: skip


def _clock(seconds: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(seconds))
