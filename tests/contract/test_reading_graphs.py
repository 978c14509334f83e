"""Another thread reads the operations of a graph: whatever the program does with it meanwhile, it lives."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

TREE = str(Path(__file__).resolve().parent.parent.parent)

PREPARED = """
    import sys, threading, time
    import tensorflow as tf
    tf.compat.v1.enable_v2_behavior()
    import tfmemwatch
    from tfmemwatch.seams import graphs, places

    tfmemwatch.install()
    FuncGraph = places.find("func_graph").value
    dismantle = getattr(sys.modules[FuncGraph.__module__], "dismantle_func_graph")

    def a_graph(operations):
        graph = FuncGraph("made")
        with graph.as_default():
            x = tf.constant([1.0] * 10)
            for _ in range(operations):
                x = x + 1.0
        return graph
"""

DISMANTLED = """
    sys.setswitchinterval(1e-5)
    latest, found, failed = [], [0], []

    def read():
        while True:
            for graph in latest[:]:
                try:
                    found[0] += len(graphs.constants(graph, 1))
                except Exception as error:
                    failed.append(repr(error))
                turns[0] += 1

    turns = [0]
    threading.Thread(target=read, daemon=True).start()
    ends = time.monotonic() + 20
    for _ in range(400):
        graph = a_graph(8)
        latest.append(graph)
        before = turns[0]
        while turns[0] == before and time.monotonic() < ends:
            pass
        del latest[:]
        dismantle(graph)
    print(found[0] > 0, failed[:1])
"""

ENDING = """
    graph = a_graph(300)

    def read():
        while True:
            graphs.constants(graph, 1)
            turns[0] += 1

    turns = [0]
    threading.Thread(target=read, daemon=True).start()
    while turns[0] < 3:
        pass
    print("ends")
    sys.exit(3)
"""


def run(program):
    text = inspect.cleandoc(PREPARED) + "\n" + inspect.cleandoc(program)
    # Memory that is freed is filled: who reads it notices.
    env = dict(os.environ, PYTHONPATH=TREE, TF_CPP_MIN_LOG_LEVEL="3", MALLOC_PERTURB_="165")
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", text], capture_output=True, text=True, env=env, timeout=120
    )


def test_a_graph_that_is_dismantled_meanwhile_is_not_read_after_its_end():
    """TensorFlow dismantles the graph of a function that dies; before 2.13 its memory goes with it."""
    done = run(DISMANTLED)
    assert (done.returncode, done.stdout) == (0, "True []\n"), done.stderr[-3000:]


def test_the_interpreter_ends_while_a_graph_is_read():
    """Python ends daemon threads where they stand: one that stood in TensorFlow's C++ aborted the program."""
    done = run(ENDING)
    assert (done.returncode, done.stdout) == (3, "ends\n"), done.stderr[-3000:]
