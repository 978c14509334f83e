"""Runs programs of this folder under the watch, each in a process of its own, and prints what was named and when.

    python judge.py                         all of them, in a block with `step()`
    python judge.py --on 25 --leaks 10 23   two of them, left on for 25 s at 0.05 s
    python judge.py --results blind.jsonl   the same, a line of JSON for each

A leak is found when a finding has one of its kinds and one of its lines; «line?» and «kind?» say that one of them was
another. In a block it runs until it is found, or for 300 steps; an innocent until it has been full twice, or for
30 s, and `assert_clean()` is asked at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from typing import Any, Dict, Iterator, List

import run
from run import HERE, Told, load, told

TREE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
LEAK_STEPS = 300
SECONDS = {"leak": 60.0, "innocent": 30.0}
EARLY = 40  # steps within which a leak in a block should have its name


def programs(numbers: List[str]) -> List[str]:
    """The files of these numbers; all of them where none is given."""
    names = [name for name in os.listdir(HERE) if re.match(r"\d+_", name)]
    chosen = [name for name in names if not numbers or name.split("_")[0] in numbers]
    return sorted(chosen, key=lambda name: int(name.split("_")[0]))


def steps_of(said: Told) -> int:
    """For how many steps a program runs in a block."""
    if said.leaks:
        return LEAK_STEPS
    bound = re.search(r"bound: ([^;,)]*)", said.innocent)
    full = max(map(int, re.findall(r"\d+", bound.group(1))), default=0) if bound else 0
    return max(LEAK_STEPS, 2 * full + 50)


# -- in the process of one program


def verdict_on(said: Told, finding: Any) -> str:
    """Which of the program's leaks a finding is: `leak 0`, or what of it is another."""
    place = (os.path.abspath(finding.site.file), finding.site.line)
    by_kind = [n for n, (kinds, _) in enumerate(said.leaks) if finding.kind in kinds]
    by_line = [n for n, (_, places) in enumerate(said.leaks) if place in places]
    both = [n for n in by_kind if n in by_line]
    if both:
        return "leak %d" % both[0]
    if by_kind and place in said.made:
        return "leak %d" % by_kind[0]
    return "kind?" if by_line else "line?" if by_kind else "other"


class Heard:
    """What was told of a program, each finding once."""

    def __init__(self, said: Told) -> None:
        self._said = said
        self._stories: Dict[Any, Dict[str, Any]] = {}

    def hear(self, findings: List[Any], step: int, seconds: float) -> None:
        """Take what is open now."""
        for one in findings:
            if one.story not in self._stories:
                self._stories[one.story] = {
                    "verdict": verdict_on(self._said, one), "kind": one.kind, "line": one.site.short, "step": step,
                    "seconds": round(seconds, 1), "text": str(one),
                }  # fmt: skip

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """All of it, in the order in which it came."""
        return list(self._stories.values())

    @property
    def is_complete(self) -> bool:
        """Whether each leak has been named."""
        named = {row["verdict"] for row in self.rows}
        return bool(self._said.leaks) and all("leak %d" % n in named for n in range(len(self._said.leaks)))


def in_block(path: str, said: Told, most: int) -> Dict[str, Any]:
    """Runs a program in a block, and says what was told."""
    import tfmemwatch

    module, heard = load(path), Heard(said)
    state = module.setup()
    run.KEPT.append(state)
    spent = 0.0
    limit = SECONDS["leak" if said.leaks else "innocent"]
    began, i = time.monotonic(), 0
    with tfmemwatch.watch("blind", warmup=0 if said.leaks else 1, log=False) as block:
        while i < most and not heard.is_complete and time.monotonic() - began < limit:
            module.step(state, i)
            i += 1
            before = time.thread_time()
            block.step()
            spent += time.thread_time() - before
            heard.hear(block.findings, i, time.monotonic() - began)
        open_at_end = [str(one) for one in block.findings]
    unclean = ""
    if not said.leaks:
        try:
            block.assert_clean()
        except tfmemwatch.LeakFound as error:
            unclean = str(error)
    seconds = time.monotonic() - began
    return {"rows": heard.rows, "steps": i, "seconds": round(seconds, 1), "open": open_at_end, "unclean": unclean,
            "step_ms": round(1e3 * spent / i, 3)}  # fmt: skip


def left_on(path: str, said: Told, seconds: float) -> Dict[str, Any]:
    """Runs a program under an installed watch that knows of no steps."""
    import tfmemwatch

    heard = Heard(said)
    tfmemwatch.install(sample_seconds=0.05, log=False)
    module = load(path)
    state = module.setup()
    run.KEPT.append(state)
    began, i = time.monotonic(), 0
    while time.monotonic() - began < seconds and not heard.is_complete:
        module.step(state, i)
        i += 1
        heard.hear([one for one in tfmemwatch.findings() if one.is_sure], i, time.monotonic() - began)
    return {"rows": heard.rows, "steps": i, "seconds": round(time.monotonic() - began, 1), "unclean": ""}


def judge_here(path: str, on: float, steps: int) -> None:
    """Runs one program in this process, and prints a line of JSON."""
    said = told(path)
    result = left_on(path, said, on) if on else in_block(path, said, steps or steps_of(said))
    print(json.dumps(result), flush=True)
    os._exit(0)  # what has leaked is slow to take down


# -- and here


def outcome(name: str, options: List[str]) -> Dict[str, Any]:
    """What a program came to, in a process of its own."""
    environment = dict(
        os.environ, PYTHONPATH=TREE, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", TF_ENABLE_ONEDNN_OPTS="0"
    )
    ran = subprocess.run(
        [sys.executable, os.path.join(HERE, "judge.py"), "--here", *options, name.split("_")[0]],
        capture_output=True, text=True, env=environment,
    )  # fmt: skip
    lines = [line for line in ran.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {"error": "exit code %d: %s" % (ran.returncode, ran.stderr[-2000:])}


def words(said: Told, result: Dict[str, Any]) -> Iterator[str]:
    """A program's result as a line says it."""
    if "error" in result:
        yield "FAILED " + result["error"]
        return
    if said.leaks:
        found = {row["verdict"] for row in result["rows"]}
        missed = [n for n in range(len(said.leaks)) if "leak %d" % n not in found]
        yield "found" if not missed else "MISSED"
    else:
        yield "ACCUSED" if result["rows"] else "UNCLEAN" if result["unclean"] else "silent"
    yield "%5d steps %5.1f s" % (result["steps"], result["seconds"])
    yield " | ".join(
        "%s %s %s at %d" % (row["verdict"], row["kind"], row["line"], row["step"]) for row in result["rows"]
    )
    if not said.leaks and result["rows"] and not result["open"]:
        yield "(over)"
    if "step_ms" in result:
        yield "step() %.2f ms" % result["step_ms"]


def sum_up(results: Dict[str, Dict[str, Any]]) -> None:
    """Prints how many were found, early and accused; a leak counts once for each that a program has."""
    leaks = early = number = accused = unclean = innocents = 0
    for name, result in results.items():
        said = told(os.path.join(HERE, name))
        at = {row["verdict"]: row["step"] for row in result.get("rows", ())[::-1]}
        steps = [at["leak %d" % n] for n in range(len(said.leaks)) if "leak %d" % n in at]
        number += len(said.leaks)
        leaks += len(steps)
        early += sum(step <= EARLY for step in steps)
        if not said.leaks:
            innocents += 1
            accused += bool(result.get("rows")) or "error" in result
            unclean += bool(result.get("unclean"))
    print("leaks found: %d of %d, within %d steps: %d" % (leaks, number, EARLY, early))
    print("innocents accused: %d of %d; not clean at the end: %d" % (accused, innocents, unclean))


def main() -> None:
    """Reads the command line and runs the programs."""
    parser = argparse.ArgumentParser(description="Runs programs under the watch.")
    parser.add_argument("numbers", nargs="*")
    parser.add_argument("--on", type=float, default=0.0, help="left on for so many seconds, not in a block")
    parser.add_argument("--steps", type=int, default=0, help="in a block, another number of steps than is due")
    parser.add_argument("--leaks", action="store_true", help="these only")
    parser.add_argument("--innocents", action="store_true", help="these only")
    parser.add_argument("--tf1", action="store_true", help="only those that run on TensorFlow 1.15")
    parser.add_argument("--results", help="a file to which the results are added")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    names = programs(chosen.numbers)
    if chosen.here:
        judge_here(os.path.join(HERE, names[0]), chosen.on, chosen.steps)
    results = {}
    for name in names:
        said = told(os.path.join(HERE, name))
        if (chosen.tf1 and not said.tf1) or (chosen.innocents if said.leaks else chosen.leaks):
            continue
        results[name] = outcome(name, ["--on", str(chosen.on), "--steps", str(chosen.steps)])
        print("%-30s %s" % (name[:-3], "  ".join(words(said, results[name]))), flush=True)
        if chosen.results:
            with open(chosen.results, "a") as file:
                print(json.dumps(dict(results[name], name=name)), file=file)
    sum_up(results)


if __name__ == "__main__":
    main()
