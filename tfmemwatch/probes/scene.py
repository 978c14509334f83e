"""What every probe works with: where it writes down, how closely it looks, and its patches."""

from __future__ import annotations

import itertools
import sys
from time import thread_time
from types import CodeType, FrameType
from typing import Any, Callable, Dict, FrozenSet, Hashable, List, Optional, Set, Tuple, Union

from ..config import Config
from ..ledger import site
from ..ledger.counts import Ledger, Place
from ..memory.process import Process
from ..model import UNKNOWN, Site
from ..safety import guard
from ..safety.tracebacks import without_us
from ..seams import places
from ..seams.patch import Make, Patch, undo_all
from .questions import Questions

_DEFAULTS = Config()
RANK = {"off": 0, "counts": 1, "sites": 2, "stacks": 3}


_KNOWN_IN_A_ROW, _PASSED = 64, 31  # after so many runs that told nothing new, one of 32 is looked at
TIMED_EACH = 128  # of a hook that is called often: the clock of the processor costs as much as the hook
_TIMED_AT_FIRST = 256  # of a hook that is called seldom
_getframe = sys._getframe


class Runs:
    """The one hook on `Session.run`, which two probes share: a second would cost as much as the first."""

    def __init__(self) -> None:
        self.count = itertools.count()  # in C: threads can share it
        self.seen: Set[int] = set()  # graphs that have been run, by id
        self.fetched: Dict[int, Dict[Any, Place]] = {}  # what open sessions were asked for, by id
        self.first: Callable[[Any], None] = lambda graph: self.seen.add(id(graph))  # called with a graph's first run
        self.new_fetch: Callable[[Dict[Any, Place], Any], None] = lambda fetched, fetches: None
        self.known_in_a_row = 0  # runs in a row that asked for what was asked for before
        self.passed = 0  # a mask: runs whose number has one of these bits are not looked at
        self._owner: Optional[Probe] = None

    def share(self, probe: Probe) -> None:
        """Have the hook, through whichever probe comes first."""
        if self._owner is None or not self._owner.patches:
            self._owner = probe
            probe.wrap("session_run", self._run)

    def _run(self, original: Callable[..., Any], patch: Patch) -> Callable[..., Any]:
        known, count, spent = self.fetched, self.count, guard.spent
        spent.setdefault("sessions: run", 0.0)

        def run(*args: Any, **kwargs: Any) -> Any:
            try:
                if not args or not patch.is_live:
                    return original(*args, **kwargs)
                turn = next(count)
                if turn & self.passed:
                    return original(*args, **kwargs)
                try:
                    began = 0.0 if turn % TIMED_EACH else thread_time()
                    fetches: Any = args[1] if len(args) > 1 else kwargs.get("fetches")
                    kind = type(fetches)
                    key: Hashable = id(fetches)
                    if kind is list or kind is tuple:
                        key = tuple(map(id, fetches))
                    elif kind is str:
                        key = fetches
                    fetched = known.get(id(args[0]))
                    if fetched is None or key not in fetched:
                        self.look_at_each()
                        self._unknown(args[0], fetches)
                    else:
                        self.known_in_a_row += 1
                        if self.known_in_a_row >= _KNOWN_IN_A_ROW:
                            self.passed = _PASSED
                    if began:
                        spent["sessions: run"] += TIMED_EACH // (self.passed + 1) * (thread_time() - began)
                except Exception:
                    guard.failed("sessions: run")
                return original(*args, **kwargs)
            except BaseException as error:
                without_us(error)
                raise

        return run

    def look_at_each(self) -> None:
        """Look at each run again: there is something new."""
        self.known_in_a_row = self.passed = 0

    def _unknown(self, session: Any, fetches: Any) -> None:
        """A session's first run is one of these, and so is the first run of its graph."""
        if id(session._graph) not in self.seen:
            self.first(session._graph)
        fetched = self.fetched.get(id(session))
        if fetched is None:  # opened before anyone watched
            fetched = self.fetched[id(session)] = {}
        self.new_fetch(fetched, fetches)


class Scene:
    """The ledger, the process and the level, shared by the probes of one watch."""

    def __init__(self, ledger: Ledger, process: Process, level: str, settings: Config = _DEFAULTS) -> None:
        self.ledger = ledger
        self.process = process
        self.rank = RANK[level]
        self.kept: FrozenSet[str] = frozenset()  # kinds that keep their lines at rank 1
        self.settings = settings
        self.runs = Runs()
        self._ways: Dict[str, Tuple[int, CodeType]] = {}  # by kind: frames up to the entry, and its code
        self._births: Dict[str, Tuple[int, CodeType]] = {}  # the same, from `born`

    def rank_for(self, kind: str) -> int:
        """How closely to look at one kind: some keep their lines while the budget has lowered the level."""
        return 2 if self.rank == 1 and kind in self.kept else self.rank

    def where(self, kind: str, makes: bool = False) -> Tuple[Place, Tuple[Site, ...]]:
        """The user's line that called into TensorFlow, as far as the level wants it.

        To walk a stack makes a frame object of each step. The way from a user's line to the hook for one kind of thing
        is mostly the same: if the frame at which TensorFlow was entered last time is there again, the line is above it.
        """
        rank = self.rank
        if rank < 2:
            rank = self.rank_for(kind)
            if rank < 2:
                return UNKNOWN, ()
        way = self._ways.get(kind) if rank == 2 else None
        if way is not None:
            try:
                below = _getframe(way[0])
            except ValueError:  # the stack is not as deep
                below = None
            if below is not None and below.f_code is way[1]:
                user = below.f_back
                if user is not None and site.is_plain(user.f_code, makes):
                    return (user.f_code, user.f_lineno), ()
        frame = _getframe(1)  # one's own would hold itself
        if rank == 2:
            _learn(self._ways, kind, frame)
        return site.place(frame, makes), (site.stack(frame) if rank > 2 else ())

    def born(
        self, kind: str, thing: Any, sizer: Optional[Callable[[Any], int]] = None, note: str = "",
        ends: bool = False, makes: bool = False,
    ) -> None:  # fmt: skip
        """Count a new thing at the line that made it. The hot one: `where` once more, without its calls."""
        rank = self.rank
        if rank == 2 or (rank == 1 and kind in self.kept):
            way = self._births.get(kind)
            if way is not None:
                try:
                    below = _getframe(way[0])
                except ValueError:  # the stack is not as deep
                    below = None
                if below is not None and below.f_code is way[1]:
                    user = below.f_back
                    if user is not None:
                        code, ledger = user.f_code, self.ledger
                        known = ledger.makers.get((kind, id(code), user.f_lasti))
                        if known is not None and known[0]() is code:
                            ledger.born_at(known[1], thing, sizer, ends)
                            return
                        if site.is_plain(code, makes):
                            account = ledger.born(kind, (code, user.f_lineno), thing, sizer, note, (), ends)
                            ledger.makers.learn(kind, user, account)
                            return
        if rank:
            if rank == 1:
                rank = self.rank_for(kind)
            frame = _getframe(1)  # one's own would hold itself
            if rank == 2:
                _learn(self._births, kind, frame)
            at = site.place(frame, makes) if rank > 1 else UNKNOWN
            self.ledger.born(kind, at, thing, sizer, note, site.stack(frame) if rank > 2 else (), ends)

    def happened(self, kind: str, note: str = "") -> None:
        """Count an event at the line that caused it."""
        if self.rank:
            at, stack = self.where(kind)
            self.ledger.happened(kind, at, note=note, stack=stack)


def _learn(ways: Dict[str, Tuple[int, CodeType]], kind: str, frame: FrameType) -> None:
    """Remember how far above a hook, whose caller's frame this is, TensorFlow was entered."""
    user = site.user_frame(frame)
    depth = 1
    below: Optional[FrameType] = frame
    while below is not None and below.f_back is not user:
        below = below.f_back
        depth += 1
    if below is not None and user is not None:
        ways[kind] = (depth, below.f_code)


class Probe(Questions):
    """Sees one way of growing. `install` patches what it needs, `uninstall` leaves no trace."""

    name = ""
    watches = ""  # one sentence for `doctor`

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.patches: List[Patch] = []

    def install(self) -> None:
        """Wrap what TensorFlow has; Unavailable where it has nothing to wrap."""
        raise NotImplementedError

    def install_keras(self) -> None:
        """Wrap what belongs to Keras, each time another Keras has been imported."""

    def uninstall(self) -> None:
        """Put everything back."""
        undo_all(self.patches)

    def turned_off(self) -> None:
        """The level is off: count nothing more. `Scene.rank` says so too, to those who ask."""

    def start_afresh(self) -> None:
        """Forget what a parent process did: for the child of a fork."""

    def read(self) -> None:
        """Write into the ledger what can only be seen by looking; called for every sample."""

    def wrap(self, what: str, make: Make) -> None:
        """Wrap a thing of TensorFlow's by its name in `places.PLACES`."""
        place = places.find(what)
        Patch(place.holder, place.attribute, make, self.patches)

    def after(self, what: str, note: Callable[..., None], always: bool = False) -> None:
        """Call `note(result, *args, **kwargs)` after each call of a thing; it can't hurt the program.

        At level off it is not called, however dear it may be, unless what it remembers would be wrong later: `always`.
        """
        self.wrap(what, noted(note, "%s: %s" % (self.name, what), _ALWAYS if always else self.scene))

    def after_method(self, what: str, note: Callable[[Any], None], always: bool = False) -> None:
        """Call `note(instance)` after each call of a method: for what is made often."""
        self.wrap(what, quickly(note, "%s: %s" % (self.name, what), _ALWAYS if always else self.scene))


class _Always:
    """Stands for a scene that is never off."""

    rank = 1


_ALWAYS = _Always()
_Level = Union[Scene, _Always]


def quickly(note: Callable[[Any], None], where: str, scene: _Level = _ALWAYS) -> Make:
    """Calls the original outside the guard, and the note on the instance inside it."""
    spent, turns = guard.spent, itertools.count(1)  # in C: threads can share it
    spent.setdefault(where, 0.0)

    def make(original: Callable[..., Any], patch: Patch) -> Callable[..., Any]:
        def seam(*args: Any, **kwargs: Any) -> Any:
            try:
                result = original(*args, **kwargs)
            except BaseException as error:
                without_us(error)
                raise
            if patch.is_live and args and scene.rank:
                try:
                    if next(turns) % TIMED_EACH:
                        note(args[0])
                    else:  # here and not in a function, which would be one more frame
                        began = thread_time()
                        note(args[0])
                        spent[where] += TIMED_EACH * (thread_time() - began)
                except Exception:
                    guard.failed(where)
            return result

        return seam

    return make


def noted(note: Callable[..., None], where: str, scene: _Level = _ALWAYS) -> Make:
    """Calls the original outside the guard, and the note on result and arguments inside it."""
    spent, turns = guard.spent, itertools.count(1)
    spent.setdefault(where, 0.0)

    def make(original: Callable[..., Any], patch: Patch) -> Callable[..., Any]:
        def seam(*args: Any, **kwargs: Any) -> Any:
            try:
                result = original(*args, **kwargs)
            except BaseException as error:
                without_us(error)
                raise
            if patch.is_live and scene.rank:
                turn = next(turns)
                is_early = turn <= _TIMED_AT_FIRST
                is_timed = is_early or not turn % TIMED_EACH
                began = thread_time() if is_timed else 0.0
                try:
                    note(result, *args, **kwargs)
                except Exception:
                    guard.failed(where)
                if is_timed:
                    spent[where] += (1 if is_early else TIMED_EACH) * (thread_time() - began)
            return result

        return seam

    return make
