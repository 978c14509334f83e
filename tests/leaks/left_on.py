"""Run one side of a pair under a watch that was installed first and knows of no steps; print what it found.

python left_on.py eager functions.NewShapes leaky 25
"""

import importlib
import itertools
import os
import sys
import time

import pairs
from run import found, tell, tensorflow_in


def main(mode, name, side, seconds):
    import tfmemwatch

    tfmemwatch.install(sample_seconds=0.05, log=False)
    tensorflow_in(mode)
    import features

    module, pair_name = name.split(".")
    pair = getattr(importlib.import_module(module), pair_name)
    why_not = features.missing(pair.claim.needs)
    if why_not:
        tell(skipped=why_not)
        return
    state = pair()
    getattr(state, "before_" + side, lambda: None)()
    step = getattr(state, side)
    started = time.monotonic()
    for number in itertools.count():
        step(number)
        if tfmemwatch.findings() or time.monotonic() - started > float(seconds):
            break
    findings = tfmemwatch.findings()
    tell(
        named=found(findings), wanted=[[pair.claim.kind, pairs.culprit(pair)]], steps=number + 1,
        seconds=round(time.monotonic() - started, 1), report=str(tfmemwatch.report()) if findings else "",
    )  # fmt: skip
    sys.stdout.flush()
    os._exit(0)  # here, where the state still lives: to take down what has leaked is slow, or hangs in TensorFlow


if __name__ == "__main__":
    main(*sys.argv[1:])
