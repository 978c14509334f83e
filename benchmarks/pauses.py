"""How long threads of a program stand still because of the watch, and what its evidence keeps.

    python benchmarks/pauses.py [--tensorflow] [--case NAME ...] [--objects N] [--seconds S] [--sample-seconds S]
                                [--times N] [--json] [--strict]

Each case runs in processes of its own, without the watch and with it in turn. The main thread of the program asks the
clock each millisecond; how much later than that it comes to ask is a gap. Meanwhile a second thread leaks slowly, so
that the watch takes evidence; then it asks for `snapshot()`, `report()`, `owners()` and `remedies()` in turn, where the
program without the watch does nothing, or `gc.collect()` for `remedies()`.

A gap counts for what the ticking thread has waited for others of its own process: the time in which the kernel had
given the processor to somebody else is taken off (`/proc/thread-self/schedstat`). With `--times` the best run of each
side stands. The watch looks each `--sample-seconds`, much oftener than by default, and may take all the time that it
wants: else the evidence of some minutes would not be taken within `--seconds`.

A row is ok where the worst gap is longer by no more than the bound than the worst gap without the watch.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import gc
import json
import os
import queue
import subprocess
import sys
import threading
import time
import weakref
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

TICK_SECONDS = 0.001
UNASKED_MS, ASKED_MS = 50.0, 100.0  # that a thread may stand still
MOST_ADDED_MB = 64.0
RING = 30  # large things that a ring, a cache or a queue holds
LARGE_BYTES = 10000000
ASKS = ("snapshot", "report", "owners", "remedies")
MB = 1e6


# -- the programs


class Service:
    """What a program keeps for good: a slow leak."""

    def __init__(self) -> None:
        self.history: List[Any] = []
        self.tensors: List[Any] = []


SERVICE = Service()


class Item:
    """An object of the program's."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.data: Any = None


class Large(bytearray):
    """What a program has a few of; can be referred to weakly."""


class Alive:
    """Counts large things that live, and those that outlive their end."""

    def __init__(self) -> None:
        self.made = self.dropped = self.late = 0
        self.died = 0
        self.most_beyond = 0
        self._refs: Dict[int, Any] = {}

    def made_one(self, thing: Any) -> Any:
        self.made += 1
        key = self.made
        self._refs[key] = weakref.ref(thing, lambda ref: self._gone(key))
        return self._refs[key]

    def _gone(self, key: int) -> None:
        self.died += 1
        self._refs.pop(key, None)

    def look(self, ref: Any) -> None:
        """A thing was dropped just now."""
        self.dropped += 1
        self.late += ref() is not None

    def holds(self, count: int) -> None:
        """So many has the program."""
        self.most_beyond = max(self.most_beyond, self.made - self.died - count)


def objects(count: int) -> Any:
    """Lists, dicts, tuples and instances, so many in all."""
    gc.disable()
    heap: List[Any] = [[number, number, number] for number in range(3 * count // 8)]
    heap += [{"a": number, "b": [number]} for number in range(count // 8)]
    heap += [(number, [number]) for number in range(count // 8)]
    heap += [Item(number) for number in range(count // 16)]
    gc.enable()
    return heap


def collection(kind: str) -> Any:
    things = [[number] for number in range(100000)]
    if kind == "list":
        return things
    return dict(enumerate(things)) if kind == "dict" else collections.deque(things)


def free_chunks(count: int) -> Any:
    """So many pieces of malloc's that are free, between others that are not."""
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    pieces = [library.malloc(600 + number % 3000) for number in range(2 * count)]
    for piece in pieces[::2]:
        library.free(piece)
    return pieces


class Holder:
    """A ring, a cache or a queue of large things, of which the oldest goes when a new one comes."""

    def __init__(self, kind: str, make: Callable[[], Any]) -> None:
        self.alive = Alive()
        self._kind = kind
        self._make = make
        self._refs: collections.deque[Any] = collections.deque()
        self.things: Any = {
            "ring": collections.deque, "cache": collections.OrderedDict, "queue": queue.Queue,
        }[kind]()  # fmt: skip
        self._turn = 0

    def step(self) -> None:
        thing = self._make()
        self._refs.append(self.alive.made_one(thing))
        self._turn += 1
        if self._kind == "ring":
            self.things.append(thing)
        elif self._kind == "cache":
            self.things[self._turn] = thing
        else:
            self.things.put(thing)
        del thing
        if len(self._refs) > RING:
            self._drop()
        self.alive.holds(len(self._refs))

    def _drop(self) -> None:
        ref = self._refs.popleft()
        if self._kind == "ring":
            self.things.popleft()
        elif self._kind == "cache":
            self.things.popitem(last=False)
        else:
            self.things.get()
        self.alive.look(ref)


CASES: Dict[str, Callable[[], Any]] = {
    "objects-1e5": lambda: objects(100000),
    "objects-1e6": lambda: objects(1000000),
    "objects-5e6": lambda: objects(5000000),
    "list": lambda: collection("list"),
    "dict": lambda: collection("dict"),
    "deque": lambda: collection("deque"),
    "fragmented": lambda: free_chunks(250000),
    "ring": lambda: None,
    "cache": lambda: None,
    "queue": lambda: None,
}


# -- one run: a process of its own


class Ticker:
    """Asks the clock each millisecond; gaps are kept with the phase in which they fell."""

    def __init__(self) -> None:
        self.phase = "start"
        self.gaps: Dict[str, List[float]] = collections.defaultdict(list)
        self.is_over = False

    def run(self) -> None:
        schedule = os.open("/proc/thread-self/schedstat", os.O_RDONLY) if os.path.exists("/proc/thread-self") else -1
        waited = _waited(schedule)
        last = time.perf_counter()
        while not self.is_over:
            phase = self.phase
            time.sleep(TICK_SECONDS)
            bytearray(5000)  # from malloc, and given back
            now = time.perf_counter()
            if now - last > 0.005:
                before, waited = waited, _waited(schedule)
                self.gaps[phase].append(now - last - (waited - before) - TICK_SECONDS)
            elif schedule >= 0:
                waited = _waited(schedule)
            last = now


def _waited(descriptor: int) -> float:
    """Seconds in which this thread could have run, and the kernel had no processor for it."""
    return int(os.pread(descriptor, 100, 0).split()[1]) * 1e-9 if descriptor >= 0 else 0.0


def _highest_mb(reset: bool = False) -> float:
    """The most that was resident, since it was reset."""
    if reset:
        try:
            with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
                file.write("5")
        except OSError:
            pass
    with open("/proc/self/status", encoding="utf-8") as file:
        rows = dict(line.split(":", 1) for line in file)
    return int(rows["VmHWM"].split()[0]) * 1024 / MB


def child(options: argparse.Namespace) -> None:
    """The program of one case; tells what it saw as JSON."""
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
    import tfmemwatch
    from tfmemwatch.evidence import census

    tf = None
    if options.tensorflow:
        import tensorflow as tf
    name = options.case[0]
    kept = objects(options.objects) if options.objects else CASES[name]()
    holder = Holder(name, _large(tf)) if name in ("ring", "cache", "queue") else None
    for _ in range(RING if holder is not None else 0):
        holder.step()
    gc.collect()
    began = _highest_mb(reset=True)
    if options.watched:
        tfmemwatch.install(sample_seconds=options.sample_seconds, max_overhead=1.0)
    taken = _counted(census)
    ticker = Ticker()
    told: Dict[str, Any] = {"took": {}}

    def work() -> None:
        try:
            _work(options, ticker, holder, tf, tfmemwatch, told)
        finally:
            ticker.is_over = True

    threading.Thread(target=work).start()
    ticker.run()
    watch = tfmemwatch.current()
    if holder is not None:
        alive = holder.alive
        told.update(beyond=alive.most_beyond, late=alive.late, dropped=alive.dropped)
    told.update(
        gaps=ticker.gaps, began=began, looks=watch.state.looks if watch is not None else 0, taken=taken[0],
        findings=[finding.kind for finding in tfmemwatch.findings()],
    )  # fmt: skip
    del kept
    print("\n" + json.dumps(told), flush=True)
    os._exit(0)


def _large(tf: Any) -> Callable[[], Any]:
    if tf is not None:
        return lambda: tf.fill((LARGE_BYTES // 4,), 1.0)
    pattern = b"1" * LARGE_BYTES
    return lambda: Large(pattern)


def _counted(census: Any) -> List[int]:
    """How often evidence was taken: counts the calls of `census.take`, where there is one."""
    taken, take = [0], getattr(census, "take", None)

    def counted(*args: Any, **kwargs: Any) -> Any:
        taken[0] += 1
        return take(*args, **kwargs)

    if take is not None:
        census.take = counted
    return taken


def _work(
    options: argparse.Namespace, ticker: Ticker, holder: Optional[Holder], tf: Any, tfmemwatch: Any,
    told: Dict[str, Any],
) -> None:  # fmt: skip
    time.sleep(0.2)
    ticker.phase = "evidence"
    end = time.perf_counter() + options.seconds
    while time.perf_counter() < end:
        _leak(tf)
        if holder is not None:
            holder.step()
        time.sleep(0.005)
    told["highest"] = _highest_mb()
    for ask in ASKS:
        ticker.phase = ask
        time.sleep(5 * TICK_SECONDS)  # the gap that is under way is still one of the phase before
        before = time.perf_counter()
        _ask(tfmemwatch, ask, options.watched)
        told["took"][ask] = time.perf_counter() - before
        time.sleep(0.2)
        ticker.phase = "between"
        time.sleep(0.1)
    told["highest_asked"] = _highest_mb()


def _leak(tf: Any) -> None:
    SERVICE.history.append(Item(len(SERVICE.history)))
    SERVICE.history[-1].data = bytearray(3000)
    if tf is not None:
        SERVICE.tensors.append(tf.fill((256,), float(len(SERVICE.tensors) % 7)))


def _ask(tfmemwatch: Any, ask: str, is_watched: bool) -> None:
    if is_watched:
        str(getattr(tfmemwatch, ask)())
    elif ask == "remedies":
        gc.collect()
    else:
        time.sleep(0.1)


# -- all runs, and the table


class Row(NamedTuple):
    """One case in one phase."""

    case: str
    phase: str
    bare_ms: float
    watched_ms: float
    over_20: Tuple[int, int]
    over_50: Tuple[int, int]
    bound_ms: float
    took: Optional[float]
    added_mb: Optional[float]
    more: str

    @property
    def is_ok(self) -> bool:
        return self.watched_ms - self.bare_ms <= self.bound_ms

    def __str__(self) -> str:
        took = "" if self.took is None else "%.2f s" % self.took
        added = "" if self.added_mb is None else "%+.0f MB" % self.added_mb
        return "%-12s %-9s %7.0f %7.0f   %4d %4d   %4d %4d   ≤ %3.0f  %-4s %8s %9s  %s" % (
            self.case, self.phase, self.bare_ms, self.watched_ms, *self.over_20, *self.over_50, self.bound_ms,
            "ok" if self.is_ok else "OVER", took, added, self.more,
        )  # fmt: skip


HEAD = """
                       worst gap, ms   over 20 ms  over 50 ms                       peak memory
case         phase        bare  watched  bare with  bare with  bound           took   added      more"""


def run(options: argparse.Namespace, case: str, is_watched: bool) -> Dict[str, Any]:
    """One process to its end."""
    arguments = [sys.executable, __file__, "--child", "--case", case, "--seconds", str(options.seconds),
                 "--sample-seconds", str(options.sample_seconds), "--objects", str(options.objects)]  # fmt: skip
    arguments += ["--tensorflow"] * options.tensorflow + ["--watched"] * is_watched
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([os.environ.get("PYTHONPATH") or here]))
    done = subprocess.run(arguments, capture_output=True, env=environment, text=True)
    if done.returncode:
        raise SystemExit("%s ended with %d:\n%s" % (case, done.returncode, done.stderr[-3000:]))
    told: Dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return told


def rows_of(case: str, bare: List[Dict[str, Any]], watched: List[Dict[str, Any]]) -> List[Row]:
    rows = []
    for phase in ("evidence", *ASKS):
        sides = [_best([told["gaps"].get(phase, []) for told in side]) for side in (bare, watched)]
        is_evidence = phase == "evidence"
        key = "highest" if is_evidence else "highest_asked"
        added = min(told[key] - told["began"] for told in watched) - min(told[key] - told["began"] for told in bare)
        last = watched[-1]
        more = ""
        if is_evidence:
            more = "%d looks, %d censuses, found %s" % (
                last["looks"], last["taken"], ", ".join(sorted(set(last["findings"]))) or "nothing",
            )  # fmt: skip
            if "beyond" in last:
                beyond = max(told["beyond"] for told in watched) - max(told["beyond"] for told in bare)
                late = max(told["late"] for told in watched)
                more += "; alive beyond what is held %d (%.0f MB); of %d dropped not dead at once %d (bare %d)" % (
                    beyond, beyond * LARGE_BYTES / MB, last["dropped"], late, max(told["late"] for told in bare),
                )  # fmt: skip
        rows.append(Row(
            case, phase, *(max(side, default=0.0) * 1e3 for side in sides),
            *(tuple(sum(gap > least for gap in side) for side in sides) for least in (0.02, 0.05)),
            UNASKED_MS if is_evidence else ASKED_MS, None if is_evidence else last["took"][phase],
            added if is_evidence or phase == ASKS[-1] else None, more,
        ))  # fmt: skip
    return rows


def _best(runs: List[List[float]]) -> List[float]:
    """The gaps of the run whose worst is the least."""
    return min(runs, key=lambda gaps: max(gaps, default=0.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tensorflow", action="store_true", help="import TensorFlow first, and leak tensors too")
    parser.add_argument("--case", nargs="+", choices=list(CASES), default=None)
    parser.add_argument("--objects", type=lambda text: int(float(text)), default=0, help="a heap of so many objects")
    parser.add_argument("--seconds", type=float, default=45.0, help="that each run leaks")
    parser.add_argument("--sample-seconds", type=float, default=0.1, help="between two looks of the watch")
    parser.add_argument("--times", type=int, default=1, help="runs of each side; the best counts")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--strict", action="store_true", help="exit with 1 where a row is over its bound")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--watched", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options)
        return
    names = options.case or (["objects-1e6"] if options.objects else list(CASES))
    rows: List[Row] = []
    if not options.json:
        print("Python %s%s; a look each %g s for %g s, max_overhead=1; the best of %d" % (
            sys.version.split()[0], ", TensorFlow" if options.tensorflow else "", options.sample_seconds,
            options.seconds, options.times,
        ))  # fmt: skip
        print(HEAD, flush=True)
    for case in names:
        told: Dict[bool, List[Dict[str, Any]]] = {False: [], True: []}
        for _ in range(options.times):
            for is_watched in (False, True):
                told[is_watched].append(run(options, case, is_watched))
        found = rows_of("%g objects" % options.objects if options.objects else case, told[False], told[True])
        rows += found
        if not options.json:
            print(*found, sep="\n", flush=True)
    if options.json:
        print(json.dumps([dict(row._asdict(), ok=row.is_ok) for row in rows], indent=1))
    if options.strict and not all(row.is_ok for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
