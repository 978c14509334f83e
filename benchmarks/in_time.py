"""Whether a leak is named before it kills: the share of the free memory that is used up when the first warning comes.

    python benchmarks/in_time.py [--kinds NAME ...] [--seconds S ...] [--megabytes N] [--json]

Each program runs in a process of its own, with default settings. When TensorFlow is imported, a leak begins that uses
up N megabytes in S seconds, evenly. It ends when it is named, or when half is used up. A row is ok where it was named
before a fifth was used up. The limit is one that the watch is told: what is resident and in no file, as a container
counts it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, List

MOST_SHARE = 0.2  # used up when it is named
GIVES_UP = 0.5
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
NUMBERS = itertools.count(1)
KEPT: List[Any] = []


def own_bytes() -> int:
    """What is resident and in no file."""
    with open("/proc/self/statm", "rb") as file:
        fields = file.read().split()
    return (int(fields[1]) - int(fields[2])) * PAGE_BYTES


def limit_to(most: int) -> None:
    """Let the watch see a container of this size."""
    from tfmemwatch.memory.limits import Limit, Limits

    Limits.read = lambda limits: [Limit("container limit", most, own_bytes(), True)]


# -- the leaks: each makes a function that leaks once


def retrace(tf: Any) -> Callable[[], None]:
    """A Python number that is new at each call."""

    @tf.function
    def step(x: Any, rate: float) -> Any:
        for _ in range(20):
            x = tf.tanh(x * rate + 1.0)
        return x

    x = tf.ones([4, 4])
    return lambda: step(x, 0.1 + next(NUMBERS))


def tensors(tf: Any) -> Callable[[], None]:
    """A list of results."""
    return lambda: KEPT.append(tf.ones([250, 1000]) * 1.0)


def arrays(tf: Any) -> Callable[[], None]:
    """A list of arrays."""
    import numpy

    return lambda: KEPT.append(numpy.ones(125000))


def sessions(tf: Any) -> Callable[[], None]:
    """Sessions that are not closed."""
    v1 = tf.compat.v1

    def one() -> None:
        with tf.Graph().as_default():
            session = v1.Session()
            session.run(v1.get_variable("weights", [250, 100]).initializer)
            KEPT.append(session)

    return one


def models(tf: Any) -> Callable[[], None]:
    """A model for each request."""

    def one() -> None:
        model = tf.keras.Sequential([tf.keras.layers.Dense(250) for _ in range(2)])
        model.build((None, 250))
        KEPT.append(model)

    return one


def graph(tf: Any) -> Callable[[], None]:
    """Operations added to a graph that runs."""
    import numpy

    v1 = tf.compat.v1
    one_graph = tf.Graph()
    session = v1.Session(graph=one_graph)
    KEPT.append(session)

    def one() -> None:
        with one_graph.as_default():
            added = tf.constant(numpy.full(20000, next(NUMBERS) * 1.0))
        session.run(added)

    return one


def kernels(tf: Any) -> Callable[[], None]:
    """Operations with attributes that are ever new."""
    return lambda: tf.random.uniform([1], seed=next(NUMBERS)) and None


def native(tf: Any) -> Callable[[], None]:
    """Memory of a library's own."""
    import ctypes

    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes = [ctypes.c_size_t]

    def one() -> None:
        at = libc.malloc(200000)
        if at:
            ctypes.memset(at, 1, 200000)

    return one


KINDS = {one.__name__: one for one in (retrace, tensors, arrays, sessions, models, graph, kernels, native)}


def run(kind: str, seconds: float, room: int) -> None:
    """The child: leak, and say when it was named."""
    import tfmemwatch

    told: List[Any] = []
    soon: List[float] = []
    base = 0

    def share() -> float:
        return (own_bytes() - base) / room

    def hear(finding: Any) -> None:
        if finding.is_sure:
            told.append((share(), str(finding), finding.kind))
        else:
            soon.append(share())

    watch = tfmemwatch.install(on_finding=hear, log=False, metrics=False)
    import tensorflow as tf

    leak = KINDS[kind](tf)
    for _ in range(3):
        leak()
    most = own_bytes() + room
    limit_to(most)  # a container has its limit from the start
    time.sleep(6)  # the start-up is over
    base = own_bytes()
    room = most - base
    began = time.monotonic()
    used = 0.0
    while not told and used < GIVES_UP:
        used = share()
        if used < (time.monotonic() - began) / seconds:
            leak()
        else:
            time.sleep(0.002)
    passed = time.monotonic() - began
    row: Dict[str, Any] = {
        "kind": kind, "seconds": seconds, "share": told[0][0] if told else None, "after": passed,
        "used": used, "told_as": told[0][2] if told else "", "soon": soon[0] if soon else None,
        "text": told[0][1] if told else str(watch.report()), "own_seconds": watch.state.own_seconds,
    }  # fmt: skip
    print(json.dumps(row), flush=True)
    os._exit(0)


def asked(kind: str, seconds: float, megabytes: int) -> Dict[str, Any]:
    """What a child came to."""
    ran = subprocess.run(
        [sys.executable, __file__, "--child", kind, str(seconds), str(megabytes)],
        capture_output=True, text=True, check=False,
        env=dict(os.environ, PYTHONPATH=str(Path(__file__).resolve().parent.parent), TF_CPP_MIN_LOG_LEVEL="3"),
    )  # fmt: skip
    rows = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    return rows[-1] if rows else {"kind": kind, "seconds": seconds, "error": ran.stderr[-1500:]}


def line(row: Dict[str, Any]) -> str:
    """One row of the table."""
    if "error" in row:
        return "%-9s %6.0f s  died: %s" % (row["kind"], row["seconds"], row["error"])
    if row["share"] is None:
        return "%-9s %6.0f s  NOT NAMED at %.0f %% (%.0f s)" % (
            row["kind"], row["seconds"], 100 * row["used"], row["after"],
        )  # fmt: skip
    ok = "ok" if row["share"] <= MOST_SHARE else "LATE"
    return "%-9s %6.0f s  %4.1f %% used when named, after %5.1f s (%s, the watch %.2f s)  %s" % (
        row["kind"], row["seconds"], 100 * row["share"], row["after"], row["told_as"], row["own_seconds"], ok,
    )  # fmt: skip


def main() -> None:
    """Run the programs that were asked for, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--seconds", nargs="*", type=float, default=[60.0])
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--json", action="store_true", help="whole rows, with what was said")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run(options.child[0], float(options.child[1]), int(options.child[2]) * 1000000)
        return
    rows = []
    for seconds in options.seconds:
        for kind in options.kinds:
            rows.append(asked(kind, seconds, options.megabytes))
            print(json.dumps(rows[-1]) if options.json else line(rows[-1]), flush=True)
    sys.exit(any(row.get("share") is None or row["share"] > MOST_SHARE for row in rows))


if __name__ == "__main__":
    main()
