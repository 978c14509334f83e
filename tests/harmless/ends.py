"""Small programs, watched in every way, to the end of the interpreter.

    python tests/harmless/ends.py [TIMES] [SEED] [TIMES WITH TENSORFLOW]

Prints how many ended as they would alone, and what the others said.
"""

import random
import subprocess
import sys

import own_process

HEAD = """
    import atexit, gc, os, sys, threading, time
    import tfmemwatch
    settings = dict(sample_seconds={seconds}, log=False)
    class Thing:
        def __del__(self):
            if "{at_death}":
                eval("{at_death}")
    things = [Thing() for _ in range(50)]
"""
WAYS = {
    "installed": "tfmemwatch.install(**settings)",
    "with a port": "tfmemwatch.install(port=0, **settings)",
    "in a block": "with tfmemwatch.watch(**settings) as block: block.step(); block.step()",
    "a block left open": "block = tfmemwatch.watch(**settings); block.__enter__()",
    "installed and back": "tfmemwatch.install(**settings); tfmemwatch.uninstall()",
    "with expectations": "tfmemwatch.install(**settings); tfmemwatch.expect_dead(things[0], 'a thing')",
    "from atexit": "atexit.register(lambda: tfmemwatch.install(**settings))",
    "taken back at exit": "tfmemwatch.install(**settings); atexit.register(tfmemwatch.uninstall)",
    "asked at exit": "tfmemwatch.install(**settings); atexit.register(tfmemwatch.findings)",
    "with a callback": "tfmemwatch.install(on_finding=lambda one: time.sleep(0.05), **settings);"
                       " tfmemwatch.expect_dead(things[0], 'a thing')",
    "by auto": "import tfmemwatch.auto",
}  # fmt: skip
WORK = {
    "nothing": "pass",
    "cycles": "[gc.collect() for _ in range(2)]",
    "threads": """
    def work():
        while True:
            keep = [Thing() for _ in range(50)]
            time.sleep(0.001)
    [threading.Thread(target=work, daemon=True).start() for _ in range(3)]
    time.sleep(0.03)
    """,
    "threads that ask": """
    def work():
        while True:
            try: tfmemwatch.findings(); tfmemwatch.snapshot()
            except RuntimeError: time.sleep(0.001)
    [threading.Thread(target=work, daemon=True).start() for _ in range(2)]
    time.sleep(0.03)
    """,
    "a fork": """
    child = os.fork()
    if not child:
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    """,
    "a while": "time.sleep(0.05)",
}
TENSORFLOW = """
    import tensorflow as tf
    tf.compat.v1.enable_v2_behavior()
    function = tf.function(lambda x: x + 1.0)
    function(tf.constant(1.0))
    kept = [tf.Variable(1.0), tf.compat.v1.Session(graph=tf.Graph()), function]
"""
AT_DEATH = ["", "tfmemwatch.findings()", "tfmemwatch.uninstall()", "tfmemwatch.current() and tfmemwatch.snapshot()"]


def program(draw, with_tensorflow):
    """One of them, and what it is called."""
    way, work = draw.choice(list(WAYS)), draw.choice(list(WORK))
    if with_tensorflow and work in ("a fork", "threads", "threads that ask"):  # that TensorFlow does not survive alone
        work = "a while"
    at_death = draw.choice(AT_DEATH)
    head = HEAD.format(seconds=draw.choice(["0.001", "0.01", "5"]), at_death=at_death)
    parts = [head, TENSORFLOW if with_tensorflow else "", "\n    " + WAYS[way], "\n    " + WORK[work].strip("\n ")]
    return ", ".join([way, work, at_death or "no finalizers"]), "".join(parts) + "\n"


def run(times, seed, with_tensorflow=0, seconds=60):
    """Of so many programs, those that ended otherwise than alone."""
    draw, bad = random.Random(seed), []
    for number in range(times):
        what, source = program(draw, number < with_tensorflow)
        try:
            source = "import warnings; warnings.simplefilter('ignore')\n" + source.replace("\n    ", "\n")
            done = own_process.run(source, seconds=seconds)
        except subprocess.TimeoutExpired:
            bad.append((what, "hangs"))
            continue
        lines = done.stderr.split("\n")
        said = [line for line in lines if line.startswith(("Traceback", "Exception", "Fatal")) or "rror:" in line]
        if done.returncode or said:
            bad.append((what, done.returncode, lines[-12:]))
    return bad


if __name__ == "__main__":
    numbers = [int(one) for one in sys.argv[1:]] + [20, 1, 0][len(sys.argv) - 1 :]
    found = run(*numbers)
    for row in found:
        print(*row)
    print("%d programs, %d with TensorFlow: %d did not end well" % (numbers[0], numbers[2], len(found)), flush=True)
