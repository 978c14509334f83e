"""What models have while they live, and what of it is left when they have gone. Weak references alone, and bounded."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from typing import Any, Callable, Dict, Iterable, List, Optional, Set, Tuple

from . import census, tfapi
from .holders import path_to
from .model import Site
from .sample import Loaded, Remains

_MOST_MODELS = 64
_MOST_VARIABLES = 500  # of one model that are remembered
_FRESH_SECONDS = 60.0  # after which what a model has is read again, once it stands still
_COLLECT_SECONDS = 60.0  # between two collections for the sake of this
_PATIENCE = 2  # looks that the rest of a model is given to die in
_MOST_REMAINS = 24
_MOST_OWNERS = 10000  # models that are asked whether a variable is theirs
_WAIT_SECONDS = 0.5  # for another thread that reads
_HOLDER_SECONDS = 0.2
_TRIES = 2  # to find who holds what is left of one model
_HOLDERS_A_LOOK = 3

Reference = Tuple[Site, Any]  # where a model was made, and a weak reference to it


class _Estate:
    """One model, as it was when it was last looked at."""

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
        self.told: Optional[Remains] = None

    @property
    def is_left(self) -> bool:
        """Whether any of its variables lives."""
        return any(ref() is not None for ref in self.refs)

    def alive(self) -> List[Tuple[Any, int]]:
        """Its variables that live, and their bytes. Strong references: not to be kept."""
        return [
            (one, size) for one, size in ((ref(), size) for ref, size in zip(self.refs, self.sizes)) if one is not None
        ]


class Estates:
    """Remembers the variables of living models, to say which of them outlive their model."""

    def __init__(
        self, collect: bool, models: Callable[[int], List[Reference]], traces: Callable[[Any], int],
        grown: Callable[[Any], int], clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._collect = collect
        self._models = models  # the living ones, at most so many
        self._traces = traces
        self._grown = grown
        self._clock = clock
        self.start_afresh()

    def start_afresh(self) -> None:
        """Forget everything, with a new lock: for the child of a fork."""
        self._lock = threading.Lock()
        self._estates: Dict[int, _Estate] = {}  # by id of the weak reference, which each one holds
        self._collected_at: Optional[float] = None
        self._loaded: List[Loaded] = []
        self._remains: List[Remains] = []

    @property
    def loaded(self) -> List[Loaded]:
        """The models that lived at the last look, the heaviest first."""
        return self._loaded

    @property
    def remains(self) -> List[Remains]:
        """What was left at the last look of models that have gone."""
        return self._remains

    def look(self, asked: bool = False) -> List[Remains]:
        """Take stock; what comes back is new. Where a person has asked, everything is read, and nothing waited for.

        Properties of the user's models are asked here, so no lock of the watch's is held but this one, and nobody waits
        long for it.
        """
        if not self._lock.acquire(timeout=_WAIT_SECONDS):
            return []
        try:
            self._meet()
            now = self._clock()
            for estate in list(self._estates.values()):
                if asked or estate.read_at is None or now - estate.read_at >= _FRESH_SECONDS:
                    self._read(estate, now)
            self._loaded = sorted(map(_loaded, self._living()), key=lambda one: -one.weight_bytes)
            return self._settle(now, asked)
        finally:
            self._lock.release()

    def _meet(self) -> None:
        """Remember models that are new; each one is known by one reference."""
        known = {id(estate.ref()) for estate in self._estates.values()}
        for site, ref in self._models(_MOST_MODELS):
            thing = id(ref())
            if thing not in known and len(self._estates) < _MOST_MODELS:
                known.add(thing)
                self._estates[id(ref)] = _Estate(site, ref)

    def _living(self) -> Iterable[_Estate]:
        return [one for one in self._estates.values() if one.ref() is not None and one.name]

    def _read(self, estate: _Estate, now: float) -> None:
        model = estate.ref()
        if model is None:
            return
        try:
            estate.name = estate.name or ("%s %s" % (type(model).__name__, getattr(model, "name", "") or "")).strip()
            variables = tfapi.variables_of(model)
            is_new = len(variables) != estate.variables or not variables
            estate.refs = [weakref.ref(one) for one in variables[:_MOST_VARIABLES]]
            sizes = list(map(_size, variables))
            estate.sizes, estate.variables, estate.bytes = sizes[:_MOST_VARIABLES], len(variables), sum(sizes)
            estate.traces, estate.grown = self._traces(model), self._grown(model)
        except Exception:  # it has none yet, or the user's own property raises: that is the user's affair
            is_new = estate.read_at is None and not estate.refs
        estate.name = estate.name or type(model).__name__
        estate.read_at = None if is_new else now

    def _settle(self, now: float, asked: bool) -> List[Remains]:
        """What is left of those that have died, and what of that has not been said.

        Nothing is said of what may be garbage: there was a collection since the death was noticed.
        """
        dead = [one for one in self._estates.values() if one.ref() is None]
        for one in dead:
            one.looks += 1
            if one.looks == 1:
                one.collections = _collections()
        due = [one for one in dead if (asked or one.looks >= _PATIENCE) and one.is_left]
        if any(one.collections == _collections() for one in due):
            self._collect_garbage(now, asked)
        self._estates = {key: one for key, one in self._estates.items() if one.ref() is not None or one.is_left}
        due = [one for one in due if one.is_left and one.collections < _collections()]
        news = self._judge(due, now) if any(asked or _is_old(one, now) for one in due) else []
        told = [one for one in due if one.told is not None]
        for one in told[:-_MOST_REMAINS]:
            del self._estates[id(one.ref)]
        self._remains = [one.told for one in told if one.told is not None]
        return news

    def _collect_garbage(self, now: float, asked: bool) -> None:
        is_time = self._collected_at is None or now - self._collected_at >= _COLLECT_SECONDS
        if self._collect and (asked or is_time):
            self._collected_at = now
            gc.collect()

    def _owned(self) -> Set[int]:
        """The ids of all variables that belong to living models, those from before the watch among them."""
        models = [ref() for _, ref in self._models(_MOST_OWNERS)] + census.everything(tfapi.kinds_of_models())
        owned: Set[int] = set()
        while models:
            try:
                owned.update(map(id, tfapi.variables_of(models.pop())))
            except Exception:
                continue  # it has none yet
        return owned

    def _judge(self, dead: List[_Estate], now: float) -> List[Remains]:
        """Say of each what is left of it now; what comes back has not been said."""
        owned, searches, news = self._owned(), _HOLDERS_A_LOOK, []
        for one in dead:
            before, tries = one.told, one.tries
            one.told = _left(one, owned, searches > 0)
            one.judged_at = now
            searches -= tries - one.tries
            if one.told is not None and before is None:
                news.append(one.told)
        return news


def _is_old(estate: _Estate, now: float) -> bool:
    return estate.judged_at is None or now - estate.judged_at >= _FRESH_SECONDS


def _left(estate: _Estate, owned: Set[int], may_search: bool) -> Optional[Remains]:
    """Those of its variables that live and that no living model has, nor one that has been counted."""
    left = [(one, size) for one, size in estate.alive() if id(one) not in owned]
    if not left:
        return None
    owned.update(id(one) for one, _ in left)
    told = estate.told
    holder = told.holder if told is not None and told.alive == len(left) else ""
    if not holder and estate.tries and may_search:
        estate.tries -= 1
        holder = path_to([one for one, _ in left], _HOLDER_SECONDS)
    return Remains(
        estate.name, estate.site, len(estate.refs), len(left), sum(size for _, size in left), holder
    )  # fmt: skip


def _collections() -> int:
    """How many full collections there have been."""
    return int(gc.get_stats()[-1]["collections"])


def _loaded(estate: _Estate) -> Loaded:
    return Loaded(estate.name, estate.variables, estate.bytes, estate.traces, estate.grown)


def _size(variable: Any) -> int:
    try:
        return tfapi.variable_bytes(variable)
    except Exception:
        return 0  # a shape that is not known has no size
