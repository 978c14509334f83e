"""What models have while they live, and what of it is left when they have gone. Weak references alone, and bounded."""

from __future__ import annotations

import time
import weakref
from typing import Any, Callable, Dict, Iterable, List, Optional, Set, Tuple

from ..heap import collector
from ..heap.classes import ids_of
from ..heap.instances import ids_alive, references_to
from ..heap.room import heap_size
from ..model import Site
from ..reports import LeftOfModel, LivingModel
from ..safety.turn import Turn
from ..seams import keras
from ..seams.variables import variable_bytes, variables_of
from .words import path_to

_MOST_MODELS = 64
_MOST_VARIABLES = 500  # of one model that are remembered
_FRESH_SECONDS = 60.0  # after which what a model has is read again, once it stands still
_COLLECT_SECONDS = 60.0  # between two collections for the sake of this
_PATIENCE = 2  # looks that the rest of a model is given to die in
_MOST_LEFT = 24
_MOST_OWNERS = 10000  # models that are asked whether a variable is theirs
_WAIT_SECONDS = 0.5  # for another thread that reads
_HOLDER_SECONDS = 0.2
_TRIES = 2  # to find who holds what is left of one model
_HOLDERS_A_LOOK = 3

Reference = Tuple[Site, Any]  # where a model was made, and a weak reference to it


class _Model:
    """What is known of one model, as of the last look at it."""

    __slots__ = (
        "bytes",
        "collections",
        "grown",
        "judged_at",
        "looks",
        "name",
        "read_at",
        "ref",
        "refs",
        "site",
        "sizes",
        "told",
        "traces",
        "tries",
        "variables",
    )

    def __init__(self, site: Site, ref: Any) -> None:
        self.site = site
        self.ref = ref
        self.name = ""
        self.refs: List[Any] = []  # weak, of its variables
        self.sizes: List[int] = []
        self.variables = self.bytes = self.traces = self.grown = 0
        self.read_at: Optional[float] = None  # None while it may still be building
        self.looks = 0  # since it died
        self.collections = 0  # until then
        self.judged_at: Optional[float] = None  # when it was asked whose its variables are now
        self.tries = _TRIES  # left, to find who holds them
        self.told: Optional[LeftOfModel] = None

    @property
    def is_left(self) -> bool:
        """Whether any of its variables lives."""
        return any(ref() is not None for ref in self.refs)

    def alive(self) -> List[Tuple[Any, int]]:
        """Its variables that live, and their bytes. Strong references: not to be kept."""
        return [
            (one, size) for one, size in ((ref(), size) for ref, size in zip(self.refs, self.sizes)) if one is not None
        ]


class LivingModels:
    """Remembers the variables of living models, to say which of them outlive their model."""

    def __init__(
        self, collect: bool, models: Callable[[int], List[Reference]], variables: Callable[[], List[Any]],
        traces: Callable[[Any], int], grown: Callable[[Any], int], clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._collect = collect
        self._models = models  # the living ones, at most so many
        self._variables = variables  # weak references to those that the watch has seen being made
        self._traces = traces
        self._grown = grown
        self._clock = clock
        self.start_afresh()

    def start_afresh(self) -> None:
        """Forget everything: for the child of a fork."""
        self._lock = Turn()  # to look
        self._known: Dict[int, _Model] = {}  # by id of the weak reference, which each one holds
        self._collected_at: Optional[float] = None
        self._alive: List[LivingModel] = []
        self._left: List[LeftOfModel] = []

    @property
    def alive(self) -> List[LivingModel]:
        """The models that lived at the last look, the heaviest first."""
        return self._alive

    @property
    def left(self) -> List[LeftOfModel]:
        """What was left at the last look of models that have gone."""
        return self._left

    def look(self, asked: bool = False) -> List[LeftOfModel]:
        """Take stock; what comes back is new. Where a person has asked, everything is read, and nothing waited for.

        Properties of the user's models are asked here, so nothing of the watch's is held but this turn, for which
        nobody waits long, and who has it not at all.
        """
        news: List[LeftOfModel] = []
        self._lock.take(lambda: news.extend(self._look(asked)), _WAIT_SECONDS)
        return news

    def _look(self, asked: bool) -> List[LeftOfModel]:
        self._find_new()
        now = self._clock()
        for one in list(self._known.values()):
            if asked or one.read_at is None or now - one.read_at >= _FRESH_SECONDS:
                self._read(one, now)
        self._alive = sorted(map(_alive, self._living()), key=lambda one: -one.weight_bytes)
        return self._judge_dead(now, asked)

    def _find_new(self) -> None:
        """Remember models that are new; each one is known by one reference."""
        known = {id(one.ref()) for one in self._known.values()}
        for site, ref in self._models(_MOST_MODELS):
            thing = id(ref())
            if thing not in known and len(self._known) < _MOST_MODELS:
                known.add(thing)
                self._known[id(ref)] = _Model(site, ref)

    def _living(self) -> Iterable[_Model]:
        return [one for one in self._known.values() if one.ref() is not None and one.name]

    def _read(self, entry: _Model, now: float) -> None:
        model = entry.ref()
        if model is None:
            return
        try:
            entry.name = entry.name or ("%s %s" % (type(model).__name__, getattr(model, "name", "") or "")).strip()
            variables = variables_of(model)
            is_new = len(variables) != entry.variables or not variables
            entry.refs = [weakref.ref(one) for one in variables[:_MOST_VARIABLES]]
            sizes = list(map(_size, variables))
            entry.sizes, entry.variables, entry.bytes = sizes[:_MOST_VARIABLES], len(variables), sum(sizes)
            entry.traces, entry.grown = self._traces(model), self._grown(model)
        except Exception:  # it has none yet, or the user's own property raises: that is the user's affair
            is_new = entry.read_at is None and not entry.refs
        entry.name = entry.name or type(model).__name__
        entry.read_at = None if is_new else now

    def _judge_dead(self, now: float, asked: bool) -> List[LeftOfModel]:
        """What is left of those that have died, and what of that has not been said.

        Nothing is said of what may be garbage: there was a collection since the death was noticed.
        """
        dead = [one for one in self._known.values() if one.ref() is None]
        for one in dead:
            one.looks += 1
            if one.looks == 1:
                one.collections = _collections()
        due = [one for one in dead if (asked or one.looks >= _PATIENCE) and one.is_left]
        if any(one.collections == _collections() for one in due):
            self._collect_garbage(now, asked)
        self._known = {key: one for key, one in self._known.items() if one.ref() is not None or one.is_left}
        due = [one for one in due if one.is_left and one.collections < _collections()]
        news = self._judge(due, now) if any(asked or _is_old(one, now) for one in due) else []
        told = [one for one in due if one.told is not None]
        for one in told[:-_MOST_LEFT]:
            del self._known[id(one.ref)]
        self._left = [one.told for one in told if one.told is not None]
        return news

    def _collect_garbage(self, now: float, asked: bool) -> None:
        is_time = self._collected_at is None or now - self._collected_at >= _COLLECT_SECONDS
        if self._collect and (asked or is_time):
            self._collected_at = now
            collector.collect(asked)

    def _owned(self, dead: List[_Model]) -> Set[int]:
        """The ids of all variables that belong to living models, those from before the watch among them.

        Where the heap is too large to find these, what is from before the watch may be theirs.
        """
        models = [ref for _, ref in self._models(_MOST_OWNERS)]
        owned: Set[int] = set()
        if heap_size.too_large():
            seen = set(ids_alive(self._variables()))
            owned.update(id(one) for entry in dead for one, _ in entry.alive() if id(one) not in seen)
        else:
            models += references_to(ids_of(keras.kinds_of_models()))
        for ref in models:
            try:
                owned.update(map(id, variables_of(ref())))
            except Exception:
                continue  # it has gone, or has none yet
        return owned

    def _judge(self, dead: List[_Model], now: float) -> List[LeftOfModel]:
        """Say of each what is left of it now; what comes back has not been said."""
        owned, searches, news = self._owned(dead), _HOLDERS_A_LOOK, []
        for one in dead:
            before, tries = one.told, one.tries
            one.told = _left(one, owned, searches > 0)
            one.judged_at = now
            searches -= tries - one.tries
            if one.told is not None and before is None:
                news.append(one.told)
        return news


def _is_old(entry: _Model, now: float) -> bool:
    return entry.judged_at is None or now - entry.judged_at >= _FRESH_SECONDS


def _left(entry: _Model, owned: Set[int], may_search: bool) -> Optional[LeftOfModel]:
    """Those of its variables that live and that no living model has, nor one that has been counted."""
    left = [(one, size) for one, size in entry.alive() if id(one) not in owned]
    if not left:
        return None
    owned.update(id(one) for one, _ in left)
    told = entry.told
    holder = told.holder if told is not None and told.alive == len(left) else ""
    if not holder and entry.tries and may_search:
        entry.tries -= 1
        holder = path_to([id(one) for one, _ in left], _HOLDER_SECONDS, entry.site)
    return LeftOfModel(
        entry.name, entry.site, len(entry.refs), len(left), sum(size for _, size in left), holder
    )  # fmt: skip


def _collections() -> int:
    """How many full collections there have been."""
    return collector.full_collections()


def _alive(entry: _Model) -> LivingModel:
    return LivingModel(entry.name, entry.variables, entry.bytes, entry.traces, entry.grown)


def _size(variable: Any) -> int:
    try:
        return variable_bytes(variable)
    except Exception:
        return 0  # a shape that is not known has no size
