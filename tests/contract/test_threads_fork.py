"""Sixteen threads at once, and a forked child: nothing is miscounted, nothing hangs."""

import os

import pytest

THREADS, ROUNDS = 16, 25


def test_many_threads_make_and_drop_at_once(tf, counts, in_threads):
    """What sixteen threads make is counted to the last one, and what they drop is gone."""
    kept = [[] for _ in range(THREADS)]

    def work(number):
        for _ in range(ROUNDS):
            tf.Variable(1.0)  # dropped
            kept[number].append(tf.Variable(1.0))  # kept
            graph = tf.Graph()
            tf.compat.v1.Session(graph=graph).close()  # closed
            tf.compat.v1.Session(graph=graph)  # left
            iter(tf.data.Dataset.range(1))  # iterated

    in_threads(THREADS, work)
    every = THREADS * ROUNDS
    assert counts.made("variable", "dropped") == counts.made("variable", "kept") == every
    assert (counts.alive("variable", "dropped"), counts.alive("variable", "kept")) == (0, every)
    assert counts.bytes("variable", "kept") == 4 * every
    assert counts.made("session_closed", "closed") == counts.made("session_dropped", "left") == every
    assert counts.alive("session") == counts.alive("graph") == counts.alive("iterator") == 0
    del kept[:]
    assert counts.alive("variable") == 0


def test_many_threads_trace_at_once(tf, counts, in_threads):
    """Each thread's own functions are first traces; the one that all share is traced once for each signature."""
    shared = tf.function(lambda x, number: x + number)

    def work(number):
        for _ in range(3):
            tf.function(lambda x: x + 1)(tf.constant(1.0))  # its own
        shared(tf.constant(1.0), float(number))  # shared

    in_threads(THREADS, work)
    assert counts.made("trace", "its own") == 3 * THREADS
    assert counts.made("trace", "shared") + counts.made("retrace", "shared") == THREADS
    assert counts.made("retrace", "its own") == 0


def test_reading_while_others_write(tf, watch, counts, in_threads):
    """Snapshots, reports and findings can be asked for at any time, from any thread."""
    import tfmemwatch

    def work(number):
        for turn in range(ROUNDS):
            if number % 4:
                tf.Variable(1.0)  # under way
            else:
                tfmemwatch.snapshot()
                tfmemwatch.findings()
                if not turn % 12:
                    tfmemwatch.report()  # weighs all that lives: some tenths of a second
                watch.look()

    in_threads(THREADS, work)
    assert counts.made("variable", "under way") == ROUNDS * THREADS * 3 // 4
    assert counts.alive("variable") == 0


def test_installing_from_many_threads_is_once(tf, in_threads):
    """install() and uninstall() from everywhere leave one watch, then none."""
    import tfmemwatch
    from tfmemwatch.seams import places

    place = places.find("session_run")
    original = vars(place.holder)[place.attribute]
    watches = []
    in_threads(THREADS, lambda number: watches.append(tfmemwatch.install(sample_seconds=3600)))
    assert len(set(map(id, watches))) == 1
    in_threads(THREADS, lambda number: tfmemwatch.uninstall())
    assert tfmemwatch.current() is None
    assert vars(place.holder)[place.attribute] is original


FORKS = """
    import gc, logging, os, select, sys, threading
    import tfmemwatch
    import tensorflow as tf

    logging.basicConfig(stream=sys.stdout, format="%(name)s said: %(message)s")
    logging.getLogger("tensorflow").handlers[:] = []
    watch = tfmemwatch.install(sample_seconds=0.05)
    used = sys.argv[1:] == ["used"]
    if used:
        tf.compat.v1.enable_v2_behavior()
        kept = [tf.Variable(1.0), tf.function(lambda x: x + 1)]
        kept[1](1.0)
    graphs = [tf.Graph() for _ in range(3)]
    print("parent", tfmemwatch.snapshot().alive("graph") >= 3, flush=True)
    ends, held = os.pipe()
    child = os.fork()
    if child == 0:
        first = tfmemwatch.snapshot()
        print("child empty", sum(tally.born for tally in first.tallies.values()), flush=True)
        more = [tf.Graph() for _ in range(2)]
        print("child counts", tfmemwatch.snapshot().alive("graph"), flush=True)
        del more
        gc.collect()
        print("child forgets", tfmemwatch.snapshot().alive("graph"), flush=True)
        print("child thread", [thread.name for thread in threading.enumerate()].count("tfmemwatch"), flush=True)
        print("child reads its own memory", watch.process.read().resident_bytes > 0, flush=True)
        looked = threading.Semaphore(0)
        watch.after_look.append(looked.release)
        print("child looks", all(looked.acquire(timeout=30) for _ in range(3)), flush=True)
        tfmemwatch.uninstall()
        print("child uninstalled", [thread.name for thread in threading.enumerate()].count("tfmemwatch"), flush=True)
        os._exit(0)
    os.close(held)
    if select.select([ends], [], [], 60)[0]:  # the child held the other end until it ended
        status = os.waitpid(child, 0)[1]
    else:
        os.kill(child, 9)
        status = "hangs"
    print("child ended", status, flush=True)
    print("parent still", tfmemwatch.snapshot().alive("graph") >= 3, flush=True)
"""
CHILD = [
    "parent True", "child empty 0", "child counts 2", "child forgets 0", "child thread 1",
    "child reads its own memory True", "child looks True", "child uninstalled 0", "child ended 0",
    "parent still True",
]  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("used", [False, True])
def test_a_forked_child_starts_empty_and_works(run_program, used):
    """The child's books are its own; where TensorFlow was used before the fork it says so, once."""
    out, err, _ = run_program("-c", FORKS, "used" if used else "unused")
    lines = [line for line in out.splitlines() if line.strip()]
    said = [line for line in lines if line.startswith("tfmemwatch said")]
    assert [line for line in lines if line not in said] == CHILD, err
    assert len([line for line in said if "forked after TensorFlow had been used" in line]) == used


MANY_FORKS = """
    import os, select, threading
    import tfmemwatch
    import tensorflow as tf

    tfmemwatch.install(sample_seconds=0.001, log=False)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            tf.Graph()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
    [thread.start() for thread in threads]
    ended = 0
    for _ in range(40):
        ends, held = os.pipe()
        child = os.fork()
        if child == 0:  # a graph can't be made here: TensorFlow 1.15 has a lock of its own that another thread may hold
            assert not tfmemwatch.snapshot().alive("graph")
            tfmemwatch.findings()
            os._exit(0)
        os.close(held)
        if not select.select([ends], [], [], 20)[0]:
            os.kill(child, 9)
            os.waitpid(child, 0)
            break
        ended += os.waitpid(child, 0)[1] == 0
        os.close(ends)
    stop.set()
    print(ended, flush=True)
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_no_child_hangs_when_forked_at_work(run_program):
    """Forty children, forked while three threads count and the sampler looks, all end."""
    out, err, _ = run_program("-c", MANY_FORKS)
    assert out.split()[-1:] == ["40"], err
