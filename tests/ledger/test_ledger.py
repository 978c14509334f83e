"""What is alive and what has happened is counted exactly, and without growing."""

import gc
import sys
import threading
import weakref

import pytest

from tfmemwatch.ledger.counts import Ledger
from tfmemwatch.model import OTHER, Key, Site

AT = Site("train.py", 41, "step")


class Thing:
    """Like a variable: can be neither hashed nor compared."""

    __hash__ = None

    def __eq__(self, other):
        raise TypeError("elementwise")


@pytest.fixture
def ledger():
    return Ledger(max_sites=10)


def counted(ledger, kind="variable", site=AT):
    tally = ledger.read()[Key(kind, site)]
    return tally.born, tally.died


def line(number):
    return Site("train.py", number, "step")


def test_births_and_deaths_are_counted_by_line(ledger):
    """What was made, what is gone and what is left, each at the line that made it."""
    things = [Thing() for _ in range(5)]
    for thing in things:
        ledger.born("variable", AT, thing)
    del thing, things[:2]
    assert counted(ledger) == (5, 2)
    assert ledger.read()[Key("variable", AT)].alive == 3


def test_what_only_happened_stays_counted(ledger):
    """An event that leaves something behind for ever counts as alive, with its bytes and seconds."""
    ledger.happened("retrace", AT, times=3, size=600, seconds=1.5, note="step")
    tally = ledger.read()[Key("retrace", AT)]
    assert (tally.alive, tally.live_bytes, tally.bytes, tally.seconds, tally.note) == (
        3,
        600,
        600,
        1.5,
        "step",
    )


def test_what_is_undone_is_no_longer_alive(ledger):
    """What events left behind can go with its owner, bytes and all."""
    ledger.happened("fetch", AT, times=3, size=600)
    ledger.undone("fetch", AT, 2, 400)
    tally = ledger.read()[Key("fetch", AT)]
    assert (tally.alive, tally.live_bytes, tally.bytes) == (1, 200, 600)


def test_what_was_closed_is_not_alive_though_it_is_held(ledger):
    """A closed session that a list still holds is no open session."""
    thing = Thing()
    ledger.born("session", AT, thing, ends=True)
    ledger.ended(thing, "session_closed")
    assert counted(ledger, "session") == (1, 1)
    assert counted(ledger, "session_closed") == (1, 0)


def test_what_was_closed_and_then_dropped_died_once(ledger):
    """Closing, closing again and collecting a session is one death."""
    thing = Thing()
    ledger.born("session", AT, thing, ends=True)
    ledger.ended(thing, "session_closed")
    ledger.ended(thing, "session_closed")
    del thing
    assert counted(ledger, "session") == (1, 1)
    assert counted(ledger, "session_closed") == (1, 0)


def test_what_was_never_counted_can_end_unnoticed(ledger):
    """A session that was opened before the watch began may close."""
    ledger.ended(Thing(), "session_closed")
    assert ledger.read() == {}


def test_sizes_are_asked_for_when_read_and_go_with_the_thing(ledger):
    """Bytes are those of what is alive; a size that can't be known is none."""
    large, strange = Thing(), Thing()
    ledger.born("variable", AT, large, sizer=lambda thing: 1000)
    ledger.born("variable", AT, strange, sizer=lambda thing: thing.no_such_shape)
    assert ledger.read()[Key("variable", AT)].live_bytes == 1000
    del large
    tally = ledger.read()[Key("variable", AT)]
    assert (tally.live_bytes, tally.bytes) == (0, 1000)


def test_lines_beyond_the_bound_are_counted_as_one(ledger):
    """A thousand lines of generated code fill no memory, and no event is lost."""
    things = [Thing() for _ in range(25)]
    for number, thing in enumerate(things):
        ledger.born("variable", line(number), thing)
    tallies = ledger.read()
    assert len(tallies) == 11
    assert tallies[Key("variable", OTHER)].born == 15
    assert ledger.folded == 15
    del thing, things
    assert counted(ledger, site=OTHER) == (15, 15)


def test_a_full_table_of_one_kind_leaves_room_for_the_others(ledger):
    """Variables made at ever new lines do not hide a session."""
    for number in range(25):
        ledger.happened("name", line(number))
    ledger.happened("retrace", AT)
    assert counted(ledger, "retrace") == (1, 0)


def test_causes_are_ordered_before_their_effects(ledger):
    """Which line came first can be told later."""
    ledger.happened("compile", line(2))
    ledger.happened("retrace", line(1))
    tallies = ledger.read()
    assert tallies[Key("compile", line(2))].order < tallies[Key("retrace", line(1))].order


def test_a_reading_is_a_value(ledger):
    """What was read does not change afterwards."""
    ledger.happened("retrace", AT)
    before = ledger.read()
    ledger.happened("retrace", AT)
    assert before[Key("retrace", AT)].born == 1
    assert counted(ledger, "retrace") == (2, 0)


def test_ages_are_those_of_the_living(ledger):
    """For each thing alive: its line, and a time that does not run backwards."""
    thing, gone = Thing(), Thing()
    ledger.born("session", AT, thing, ends=True)
    ledger.born("session", AT, gone, ends=True)
    del gone
    ledger.read()
    ((site, seconds),) = ledger.ages("session")
    assert site == AT
    assert seconds >= 0


def test_examples_of_many_things_are_of_all_ages_and_one_is_recent(ledger):
    """A search looks at the newest 4,096 items of a long list: one of four is among these, and none still in hand."""
    things = [Thing() for _ in range(30000)]
    for thing in things:
        ledger.born("variable", AT, thing)
    ledger.read()
    place = {id(thing): number for number, thing in enumerate(things)}
    found = [place[id(ref())] for ref in ledger.references_at(("variable",), AT)]
    assert len(found) == 4
    assert found == sorted(found)
    assert found[0] < 10000
    assert 30000 - 4096 < found[-1] < 29000


def test_starting_afresh_forgets_everything(ledger):
    """The child of a fork has no past, and what its parent made dies there uncounted."""
    thing = Thing()
    ledger.born("session", AT, thing, ends=True)
    ledger.start_afresh()
    ledger.ended(thing, "session_closed")
    del thing
    assert ledger.read() == {}
    assert ledger.folded == 0


@pytest.mark.slow
def test_a_million_events_leave_its_memory_flat():
    """The watch itself does not leak: what has gone takes no room, whether or not anybody reads."""
    ledger = Ledger()
    sites = [line(number) for number in range(50)]
    make_and_drop_with_events(ledger, sites, 20000)
    ledger.read()
    before = sys.getallocatedblocks()
    make_and_drop_with_events(ledger, sites, 500000)
    unread = sys.getallocatedblocks() - before
    ledger.read()
    grown = sys.getallocatedblocks() - before
    assert unread < 50000  # what waits in the queue to be counted
    assert grown < 1000


def make_and_drop_with_events(ledger, sites, times):
    for number in range(times):
        site = sites[number % 50]
        ledger.born("variable", site, Thing())
        ledger.happened("retrace", site)


def test_things_with_a_size_leave_memory_flat_though_nobody_reads():
    """A loop drops a hundred thousand variables between two looks: what is gone need not be weighed."""
    ledger = Ledger()
    make_and_drop(ledger, 5000)
    before = sys.getallocatedblocks()
    make_and_drop(ledger, 100000)
    assert sys.getallocatedblocks() - before < 50000


def make_and_drop(ledger, times):
    for _ in range(times):
        ledger.born("variable", AT, Thing(), sizer=lambda thing: 4)


class CollectingLock:
    """A lock under which the collector always finds something to do."""

    def __init__(self, lock, at_each=lambda: None):
        self._lock = lock
        self._at_each = at_each
        self.held = 0

    def take(self, work, *wait):
        def with_garbage():
            self.held += 1
            self._at_each()
            gc.collect(0)
            work()

        return self._lock.take(with_garbage, *wait)


def in_a_thread_that_ends(function):
    """Whether a function comes to its end; a deadlock fails the test instead of hanging it."""
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    thread.join(20)
    return not thread.is_alive()


def test_a_collection_inside_our_own_lock_does_not_deadlock(ledger):
    """The collector may run at any allocation, also at ours; what dies then is counted all the same."""

    def make_garbage():
        for _ in range(3):
            thing = Thing()
            thing.self = thing
            pending.append(weakref.ref(thing))

    pending = []
    lock = ledger._lock = CollectingLock(ledger._lock, make_garbage)

    def work():
        for _ in range(20):
            thing = Thing()
            thing.self = thing
            ledger.born("variable", AT, thing)
            del thing
            ledger.happened("retrace", AT)
            ledger.read()

    assert in_a_thread_that_ends(work)
    assert lock.held >= 20
    gc.collect()
    assert counted(ledger) == (20, 20)


class Closing:
    """Like a session: a finalizer tells the ledger that it has ended."""

    def __init__(self, ledger):
        self.ledger = ledger
        self.self = self
        ledger.born("session", AT, self, ends=True)

    def __del__(self):
        self.ledger.ended(self, "session_dropped")
        self.ledger.undone("fetch", AT)


def test_a_hook_never_waits_for_a_reader(ledger):
    """While a report is being made, the program goes on: what it does meanwhile is counted afterwards."""

    def work():
        for _ in range(10000):
            ledger.born("variable", AT, Thing())
            ledger.happened("retrace", AT)

    with ledger._lock:
        ended = in_a_thread_that_ends(work)
    assert ended
    assert counted(ledger) == (10000, 10000)
    assert counted(ledger, "retrace") == (10000, 0)


def test_a_finalizer_inside_our_own_lock_may_end_things(ledger):
    """A session that is collected while we count closes itself, and that does not deadlock either."""
    ledger.happened("fetch", AT, times=20)
    lock = ledger._lock = CollectingLock(ledger._lock)

    def work():
        for _ in range(20):
            Closing(ledger)
            ledger.read()

    assert in_a_thread_that_ends(work)
    assert lock.held >= 20
    gc.collect()
    assert counted(ledger, "session") == (20, 20)
    assert counted(ledger, "session_dropped") == (20, 0)
    assert counted(ledger, "fetch") == (20, 20)


class MakingMore:
    """An object of the user's whose finalizer uses TensorFlow."""

    def __init__(self, ledger):
        self.ledger = ledger
        self.self = self

    def __del__(self):
        self.ledger.happened("retrace", AT)
        self.ledger.born("variable", AT, Thing())


def test_a_finalizer_inside_our_own_lock_may_make_things(ledger):
    """A finalizer of the user's may make a variable or run a session, whenever the collector calls it."""
    lock = ledger._lock = CollectingLock(ledger._lock)

    def work():
        for _ in range(20):
            MakingMore(ledger)
            ledger.happened("trace", AT)
            ledger.read()

    assert in_a_thread_that_ends(work)
    assert lock.held >= 20
    gc.collect()
    assert counted(ledger, "retrace") == (20, 0)


def test_sixteen_threads_leave_exact_counts():
    """Sixteen threads that make and drop at once lose no event, while a seventeenth reads."""
    ledger = Ledger()
    kept = []
    ready = threading.Barrier(17)

    def work(number):
        ready.wait()
        for turn in range(1000):
            thing = Thing()
            ledger.born("variable", AT, thing, sizer=lambda thing: 4)
            session = Thing()
            ledger.born("session", line(number), session, ends=True)
            ledger.ended(session, "session_closed")
            if not turn % 10:
                kept.append(thing)

    def read():
        ready.wait()
        for _ in range(100):
            ledger.read()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    threads.append(threading.Thread(target=read))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally = ledger.read()[Key("variable", AT)]
    assert (tally.born, tally.died, tally.live_bytes) == (16000, 14400, 6400)
    assert sum(counted(ledger, "session", line(number))[1] for number in range(16)) == 16000
    assert sum(counted(ledger, "session_closed", line(number))[0] for number in range(16)) == 16000
    assert (ledger.references("session", 2000), len(ledger.references("variable", 2000))) == ([], 1600)
