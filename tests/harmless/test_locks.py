"""Signal handlers, finalizers, callbacks and handlers of the log may call everything; nobody waits for ever."""

import own_process
import pytest

PREPARED = """
    import faulthandler, gc, logging, signal, sys, threading, time
    import tfmemwatch
    from tfmemwatch.safety import guard
    faulthandler.dump_traceback_later(50, exit=True)
    class Thing:
        pass
"""


def said(program, *arguments):
    return own_process.said(PREPARED + program, *arguments)


def test_a_signal_handler_may_ask_while_a_hook_counts():
    """`kill -USR1`, and a handler that prints a snapshot: it comes while the same thread counts what has happened."""
    program = """
    from tfmemwatch.model import Site
    from tfmemwatch.explain.arguments import Trace
    from tfmemwatch.explain.reasons import TraceHistory
    from tfmemwatch.explain.signatures import Node, Signature
    from tfmemwatch.seams.functions import Traced
    watch = tfmemwatch.install(sample_seconds=3600)
    asked = [0, 0]
    def handler(number, frame):
        inner = frame
        while inner is not None:
            if "ledger/counts.py" in inner.f_code.co_filename:
                asked[1] += 1
                break
            inner = inner.f_back
        tfmemwatch.snapshot(), tfmemwatch.findings(), tfmemwatch.set_level("sites"), watch.answers.retrace_causes()
        asked[0] += 1
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
    ends = time.monotonic() + 15
    while asked[1] < 50 and time.monotonic() < ends:
        for _ in range(5000):
            watch.ledger.happened("trace", Site("x.py", 1, "f"), size=1)
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(asked[1] >= 50)
    """
    assert said(program) == ["True"]


def test_a_finalizer_may_ask_within_any_of_our_turns():
    """A collection may come at any allocation, and a finalizer may want a report or take the watch back."""
    program = """
    watch = tfmemwatch.install(sample_seconds=3600)
    probes = watch.state.probes
    turns = [watch.ledger._lock, probes.reading, watch._looking, probes.wrapping, watch.state.models._lock]
    for turn in turns:
        turn.take(lambda: (tfmemwatch.snapshot(), tfmemwatch.findings(), tfmemwatch.report(), watch.look()))
    print(tfmemwatch.current() is watch)
    start = type(watch).start
    def start_and_uninstall(self):
        start(self)
        tfmemwatch.uninstall()  # as a signal handler would that comes now
    type(watch).start = start_and_uninstall
    tfmemwatch.uninstall()
    tfmemwatch.install()
    print(tfmemwatch.current())
    """
    assert said(program) == ["True", "None"]


def test_no_exception_of_a_signal_handler_loses_a_lock():
    """Ctrl-C in a notebook, a timeout by SIGALRM: what comes within our counting leaves the lock free."""
    program = """
    from tfmemwatch.ledger.counts import Ledger
    from tfmemwatch.model import Site
    class Interrupt(KeyboardInterrupt):
        pass
    def handler(number, frame):
        raise Interrupt
    signal.signal(signal.SIGALRM, handler)
    ledger, site, came = Ledger(), Site("x.py", 1, "f"), 0
    ends = time.monotonic() + 5
    while time.monotonic() < ends and not ledger._lock.locked():
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.00005 + came % 13 * 1e-6)
            while True:
                ledger._count(wait=False)
        except Interrupt:
            came += 1
    print(came > 1000, ledger._lock.locked())
    """
    assert said(program) == ["True False"]


@pytest.mark.parametrize("which", ["on_finding", "logging"])
def test_a_callback_may_take_a_lock_under_which_others_ask(which):
    """A callback puts the finding where /status shows it, and /status asks for a snapshot under the same lock."""
    program = """
    mine, told, entered = threading.Lock(), threading.Event(), threading.Event()
    def tell(text):
        entered.set()
        with mine:  # the other one has it, and asks
            told.set()
    class Handler(logging.Handler):
        def emit(self, record):
            tell(record.getMessage())
    is_callback = sys.argv[1] == "on_finding"
    watch = tfmemwatch.install(sample_seconds=0.02, log=not is_callback, on_finding=tell if is_callback else None)
    if not is_callback:
        logging.getLogger("tfmemwatch").addHandler(Handler())
    kept = Thing()
    tfmemwatch.expect_dead(kept, "kept")
    with mine:
        entered.wait(20)
        began = time.monotonic()
        tfmemwatch.snapshot(), tfmemwatch.findings(), watch.answers.sample()
        print(time.monotonic() - began < 5)
    print(told.wait(20))
    """
    assert said(program, which) == ["True", "True"]


def test_what_is_told_is_told_with_no_turn_of_ours():
    """The program's callbacks, its handlers of the log and its finalizers run while the watch holds nothing."""
    program = """
    from tfmemwatch.safety import forks as fork
    from tfmemwatch.safety import turn
    held = []
    def note(what):
        watch = tfmemwatch.current()
        turns = [watch.ledger._lock, watch.state.probes.reading, fork._Change.turn]
        held.extend((what, number) for number, turn in enumerate(turns) if turn.is_mine)
        seen.add(what)
    seen = set()
    class Handler(logging.Handler):
        def emit(self, record):
            note("log")
    class Dying:
        def __del__(self):
            note("finalizer")
    watch = tfmemwatch.install(sample_seconds=3600, on_finding=lambda one: note("on_finding"))
    logging.getLogger("tfmemwatch").addHandler(Handler())
    watch.after_look.append(lambda: note("after_look"))
    kept, loop = Thing(), Dying()
    loop.me = loop
    tfmemwatch.expect_dead(kept, "kept")
    del loop
    class Broken:
        name = "broken"
        def __getattr__(self, name):
            return lambda *given: 1 / 0
    watch.probes.append(Broken())
    for _ in range(3):
        watch.look()
    watch.probes.pop()
    print(sorted(seen), held)
    """
    assert said(program) == ["['after_look', 'finalizer', 'log', 'on_finding'] []"]


def test_uninstall_waits_for_a_stuck_callback_no_longer_than_a_few_seconds():
    """A callback that waits for ever keeps its thread; that one then tells and looks no more."""
    program = """
    stuck, may_end = threading.Event(), threading.Event()
    told = []
    def on_finding(finding):
        told.append(finding)
        stuck.set()
        may_end.wait()
    watch = tfmemwatch.install(sample_seconds=0.02, on_finding=on_finding)
    kept = [Thing(), Thing()]
    for one in kept:
        tfmemwatch.expect_dead(one, "kept")
    stuck.wait(20)
    began = time.monotonic()
    tfmemwatch.uninstall()
    print(time.monotonic() - began < 8, tfmemwatch.current())
    (thread,) = [one for one in threading.enumerate() if one.name == "tfmemwatch"]
    looks = watch.state.looks
    may_end.set()
    thread.join(20)
    print(thread.is_alive(), len(told), watch.state.looks - looks)
    """
    assert said(program) == ["True None", "False 1 0"]


@pytest.mark.parametrize("what", ["SystemExit(3)", "KeyboardInterrupt()", "GeneratorExit()"])
def test_a_callback_that_wants_to_end_the_program_ends_nothing(what):
    """sys.exit or pytest.fail in on_finding is a failure of the callback, counted and logged; the watch goes on."""
    program = """
    told, looked = threading.Event(), threading.Semaphore(0)
    logging.basicConfig(stream=sys.stdout, format="%(message)s")
    def on_finding(finding):
        told.set()
        raise eval(sys.argv[1])
    watch = tfmemwatch.install(sample_seconds=0.02, log=False, on_finding=on_finding)
    kept = Thing()
    tfmemwatch.expect_dead(kept, "kept")
    told.wait(20)
    watch.after_look.append(looked.release)
    print(all(looked.acquire(timeout=20) for _ in range(3)), guard.failures)
    tfmemwatch.uninstall()
    """
    lines = said(program, what)
    assert lines[-1] == "True {'on_finding': 1}"
    assert len([line for line in lines if "failed in on_finding" in line]) == 1
