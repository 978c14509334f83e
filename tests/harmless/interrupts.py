"""Interrupts at random moments of all that starts, stops, looks and tells: what is left?

    python tests/harmless/interrupts.py [TIMES] [SEED] [tensorflow]

An exception of a signal handler (Ctrl-C, SIGTERM, a timeout by SIGALRM) comes somewhere within each call; `uninstall()`
is then called once, as a person would. Prints how many came in each, and all that was left by any of them.
"""

import faulthandler
import gc
import logging
import os
import random
import signal
import sys
import threading
import time

import tfmemwatch
from tfmemwatch import api
from tfmemwatch.monitor import installation
from tfmemwatch.monitor import watch as monitor
from tfmemwatch.safety import forks, guard
from tfmemwatch.seams import imports, places


class Interrupt(KeyboardInterrupt):
    """What the signal handler raises."""


SETTINGS = {"sample_seconds": 0.02, "log": False, "metrics": False}
is_armed = [False]


def handler(number, frame):
    if is_armed[0]:
        is_armed[0] = False
        raise Interrupt


def install():
    tfmemwatch.install(**SETTINGS)


def block():
    with tfmemwatch.watch("block", **SETTINGS) as watched:
        watched.step()
        watched.step()


def steps():
    with tfmemwatch.watch("block", **SETTINGS) as watched:
        for _ in range(5):
            watched.step()


def ask():
    tfmemwatch.findings()
    tfmemwatch.snapshot()


ACTIONS = {
    "install": (lambda: None, install, 30),
    "uninstall": (install, tfmemwatch.uninstall, 30),
    "watch": (lambda: None, block, 20),
    "step": (install, steps, 10),
    "snapshot": (install, ask, 9),
    "report": (install, lambda: tfmemwatch.report(), 1),
}


def wrapped():
    """What stands in each place of TensorFlow that the watch knows."""
    found = {}
    if "tensorflow" in sys.modules:
        for name in places.PLACES:
            if places.has(name):
                place = places.find(name)
                found[name] = vars(place.holder).get(place.attribute)
    return found


def descriptors():
    """The open files, by what they lead to."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink("/proc/self/fd/" + name))
        except OSError:  # the one by which the folder was read
            continue
    return sorted(link for link in found if not link.endswith("/fd"))


def left(before):
    """All that is there and should not be."""
    hooks = [one() for ones in imports._waiting.values() for one in ones]
    listeners = [ref() for ref in forks._listeners]
    now = {
        "TensorFlow wrapped": [name for name, one in wrapped().items() if before["wrapped"].get(name) is not one],
        "threads": [one.name for one in threading.enumerate() if one.name.startswith("tfmemwatch")],
        "descriptors": descriptors() if descriptors() != before["descriptors"] else [],
        "watches": list(monitor.begun),
        "installations": [*api._installations],
        "listeners of forks": [
            one for one in listeners if one is not None and one.__self__ is not installation.process
        ],
        "hooks of imports": [one for one in hooks if one is not None],
        "a finder of imports": [one for one in sys.meta_path if one is imports._FINDER],
        "a lock": [1] if forks._Change.turn.locked() else [],
        "a watch that is current": [1] if tfmemwatch.current() is not None else [],
    }
    return {name: ones for name, ones in now.items() if ones}


def run(times, seed, with_tensorflow):
    """Interrupt so often; what came, and what was left."""
    if with_tensorflow:
        import tensorflow

        assert tensorflow.Variable(1.0) is not None
    signal.signal(signal.SIGALRM, handler)
    faulthandler.enable()
    draw = random.Random(seed)
    seconds = {}
    for name, (prepare, act, _) in ACTIONS.items():
        for _ in range(2):  # the first one imports
            prepare()
            began = time.perf_counter()
            act()
            seconds[name] = time.perf_counter() - began
            tfmemwatch.uninstall()
    before = {"wrapped": wrapped(), "descriptors": descriptors()}
    names = list(ACTIONS)
    weights = [ACTIONS[name][2] for name in names]
    came, leftovers = dict.fromkeys(names, 0), []
    while sum(came.values()) < times:
        name = draw.choices(names, weights)[0]
        prepare, act, _ = ACTIONS[name]
        faulthandler.dump_traceback_later(15, exit=True)  # what hangs shows where
        prepare()
        try:
            is_armed[0] = True
            signal.setitimer(signal.ITIMER_REAL, 2e-6 + draw.uniform(0, 1.2 * seconds[name]))
            act()
            is_armed[0] = False
        except Interrupt:
            came[name] += 1
        is_armed[0] = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        tfmemwatch.uninstall()
        found = left(before)
        if found:
            gc.collect()  # a thing that the exception's frames held
            found = left(before)
        if found:
            leftovers.append((name, found))
            if len(leftovers) > 20:
                break
    install()  # and afterwards all works
    watch = tfmemwatch.current()
    looked = threading.Event()
    watch.after_look.append(looked.set)
    assert looked.wait(20), "it looks no more"
    tfmemwatch.uninstall()
    assert not left(before), left(before)
    return came, leftovers


if __name__ == "__main__":
    logging.getLogger("tfmemwatch").setLevel(logging.CRITICAL)
    number, start = (int(one) for one in (sys.argv[1:3] + ["1000", "1"][len(sys.argv[1:3]) :]))
    interrupts, remains = run(number, start, "tensorflow" in sys.argv)
    for one in remains:
        print("left:", *one)
    print("%d interrupts (%s)" % (sum(interrupts.values()), ", ".join("%s %d" % row for row in interrupts.items())))
    print("%d left something; failures of our own: %s" % (len(remains), dict(guard.failures)), flush=True)
