"""Run pairs in this process, all of one mode, and print what was named: a line of JSON for each side of each.

python run.py eager functions.NewShapes variables.History ...
"""

import gc
import importlib
import json
import os
import sys
import time
import traceback

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", TF_ENABLE_ONEDNN_OPTS="0")


def main(mode, names):
    tf = tensorflow_in(mode)
    import features

    for name in names:
        module, pair_name = name.split(".")
        pair = getattr(importlib.import_module(module), pair_name)
        why_not = features.missing(pair.claim.needs)
        for side in ("leaky", "cured"):
            if not hasattr(pair, side):
                continue
            started = time.monotonic()
            result = {"skipped": why_not} if why_not else outcome(tf, mode, pair, side)
            tell(name=name, side=side, seconds=round(time.monotonic() - started, 2), **result)
    from tfmemwatch.safety import guard

    tell(failures=guard.failures)


def tensorflow_in(mode):
    """TensorFlow, as it executes programs of this mode, for ever in this process."""
    import tensorflow as tf

    if mode == "graph":
        tf.compat.v1.disable_eager_execution()
    else:
        tf.compat.v1.enable_v2_behavior()
    return tf


def found(findings):
    """What of a finding a pair states: kind and line."""
    return [[one.kind, "%s:%d" % (os.path.basename(one.site.file), one.site.line)] for one in findings]


def tell(**result):
    print(json.dumps(result), flush=True)


def outcome(tf, mode, pair, side):
    """What one side of a pair came to: the error that ended it, or all that was named."""
    import pairs

    if mode == "graph":
        tf.compat.v1.reset_default_graph()
    gc.collect()
    try:
        state = pair()
        try:
            return dict(
                named(pair, side, state),
                wanted=[[pair.claim.kind, pair.claim.kind and pairs.culprit(pair.claim.culprit)]],
            )
        finally:
            getattr(state, "end", lambda: None)()
            forget_gradients()
    except Exception:
        return {"error": traceback.format_exc()}


def forget_gradients():
    """Drop the graphs that custom gradients pin for ever: each collection in the pairs to come would visit them."""
    from tensorflow.python.framework import ops

    registry = getattr(getattr(ops, "gradient_registry", None), "_registry", {})
    for name in [name for name in registry if name.startswith("CustomGradient-")]:
        del registry[name]


def named(pair, side, state):
    """Run one side under watch until something is named, or through all its steps."""
    import tfmemwatch

    getattr(state, "before_" + side, lambda: None)()
    step = getattr(state, side)
    steps = pair.claim.steps if side == "leaky" else pair.claim.silent
    with tfmemwatch.watch(pair.__name__, log=False) as block:
        for number in range(steps):
            step(number)
            block.step()
            if block.findings:
                break
    return {
        "named": found(block.findings),
        "known": " ".join(one.known for one in block.findings),
        "steps": block.steps,
        "report": str(block.report()) if block.findings else "",
    }


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
    sys.stdout.flush()
    os._exit(0)  # what has leaked is slow to take down
