"""Runs one of the programs of this folder bare, and prints its resident memory at a tenth, half and the end.

    python run.py 01_price_server.py --steps 3000 --seconds 60

A program is `<number>_<name>.py` with `setup()` and `step(state, i)`. Its docstring says what it is; the second line
is `LEAK kind|other_kind` or `INNOCENT why (bound: N steps until full)`; a line `TF1` means that it was run on
TensorFlow 1.15, too. The line that should be named bears the comment `# leak` (in the file that the LEAK line ends
with, or else in the program). `# leak, made here` is where the kept thing is made, when that is another line: less
good, but no lie. With two LEAK lines there are two leaks, and the comments are `# leak kind`.
`python run.py --list` prints all of it as a table, and `told()` gives it to other programs.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib.util
import os
import re
import sys
import time
from types import ModuleType
from typing import List, NamedTuple, Set, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.sysconf("SC_PAGE_SIZE")
KEPT: List[object] = []  # states are never freed: TensorFlow 2.21 hangs when it destroys many iterators


def load(path: str) -> ModuleType:
    """The program as a module, whose name is the file's without the number's dot or dash."""
    name = "blind_" + os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, path
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def resident() -> int:
    """Resident memory of this process in bytes, after a collection."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE


class Told(NamedTuple):
    """What a program's docstring and comments say: `leaks` has (kinds, lines that should be named) for each leak."""

    about: str
    innocent: str
    leaks: List[Tuple[Set[str], Set[Tuple[str, int]]]]
    made: Set[Tuple[str, int]]
    tf1: bool


def marks(path: str) -> List[Tuple[str, int]]:
    """The lines of a file with a comment `# leak…`, as (what follows, line)."""
    with open(path) as file:
        found = ((re.search(r"# leak(.*)", line), n) for n, line in enumerate(file, 1))
        return [(match.group(1).strip(" ,"), n) for match, n in found if match]


def told(path: str) -> Told:
    """What a program says of itself; files are absolute."""
    path = os.path.abspath(path)
    with open(path) as file:
        words = ast.get_docstring(ast.parse(file.read())) or ""
    lines = words.splitlines()
    own = [(what, (path, n)) for what, n in marks(path)]
    leaks = []
    for line in lines:
        if line.startswith("LEAK "):
            kinds, *other = line[5:].split()
            places = [
                (what, (os.path.join(HERE, o), n)) for o in other for what, n in marks(os.path.join(HERE, o))
            ] or own
            leaks.append((set(kinds.split("|")), {place for what, place in places if what in ("", kinds)}))
    innocent = " ".join(line[9:] for line in lines if line.startswith("INNOCENT "))
    return Told(lines[0], innocent, leaks, {place for what, place in own if what == "made here"}, "TF1" in lines)


def table() -> None:
    """Prints all programs, a line each."""
    names = [name for name in os.listdir(HERE) if re.match(r"\d+_", name)]
    for name in sorted(names, key=lambda name: int(name.split("_")[0])):
        said = told(os.path.join(HERE, name))
        leaks = ["%s %s" % ("|".join(sorted(k)), ",".join(str(n) for _, n in sorted(at))) for k, at in said.leaks]
        verdict = "; ".join(leaks) if leaks else "innocent: " + said.innocent
        print("%-32s %s %s" % (name[:-3], "TF1" if said.tf1 else "   ", verdict))


def run(module: ModuleType, steps: int, seconds: float) -> Tuple[List[Tuple[int, int]], float]:
    """Readings (step, bytes) at a tenth, half and the end of the steps or seconds, and the time of a step."""
    state = module.setup()
    KEPT.append(state)
    began = time.monotonic()
    readings = []
    marks = [0.1, 0.5, 1.0]
    i = 0
    while marks:
        module.step(state, i)
        i += 1
        spent = time.monotonic() - began
        if max(i / steps, spent / seconds) >= marks[0]:
            marks.pop(0)
            readings.append((i, resident()))
    return readings, (time.monotonic() - began) / i


def main() -> None:
    """Reads the command line, runs the program and prints one line."""
    parser = argparse.ArgumentParser(description="Runs one program bare and prints its memory.")
    parser.add_argument("file", nargs="?")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seconds", type=float, default=1e9)
    chosen = parser.parse_args()
    if chosen.list or not chosen.file:
        table()
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    path = chosen.file if os.path.exists(chosen.file) else os.path.join(HERE, chosen.file)
    readings, each = run(load(path), chosen.steps, chosen.seconds)
    (n0, tenth), (n1, half), (n2, end) = readings
    told = "  ".join("%5d: %6.1f MB" % (n, size / 1e6) for n, size in readings)
    early = (half - tenth) / max(1, n1 - n0)
    late = (end - half) / max(1, n2 - n1)
    print(
        "%-34s %s  %8.0f %8.0f B/step  %5.1f ms" % (os.path.basename(path), told, early, late, each * 1e3), flush=True
    )
    os._exit(0)


if __name__ == "__main__":
    main()
