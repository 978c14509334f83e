"""What has a bound is no leak, however long it takes to fill; the same without its bound is one.

Each cure fills for four hundred steps and is full for three hundred, or is far from full at the end.
"""

import asyncio
import collections
import functools
import heapq
import queue
import threading

import numpy as np
import tensorflow as tf
from pairs import BOUNDABLE, COUNTED, HOLDERS, bounded

MOST = 400
FAR = 100000


def tensor(i):
    return tf.fill((32, 32), 1.0) * 2.0


def array(i):
    return np.full((32, 32), i, "float32")


def record(i, make=tensor):
    return {"state": make(i), "action": i % 4, "reward": 0.5, "next": make(i)}


class Transition:
    """Has its parts as attributes."""

    def __init__(self, i):
        self.state, self.action, self.next = tensor(i), i % 4, tensor(i)


class Slotted:
    """Has them in slots."""

    __slots__ = ("action", "next", "state")

    def __init__(self, i):
        self.state, self.action, self.next = tensor(i), i % 4, tensor(i)


Step = collections.namedtuple("Step", "state action next")


# -- a deque with maxlen


@bounded("live_tensors", HOLDERS)
class TuplesInDequeInDict:
    """Tuples of tensors in a deque that stands in a dict."""

    def __init__(self):
        self.state = {"all": collections.deque(), "buf": collections.deque(maxlen=MOST)}

    def leaky(self, i):
        s = tensor(i)
        self.state["all"].append((s, s + 1.0, i % 4))  # CULPRIT

    def cured(self, i):
        s = tensor(i)
        self.state["buf"].append((s, s + 1.0, i % 4))


@bounded("live_tensors", HOLDERS)
class RecordsInDeque:
    """Dicts of tensors and numbers."""

    def __init__(self):
        self.all, self.last = collections.deque(), collections.deque(maxlen=MOST)

    def leaky(self, i):
        self.all.append(record(i))  # CULPRIT

    def cured(self, i):
        self.last.append(record(i))


@bounded("live_tensors", HOLDERS)
class ListsInDeque:
    """Lists of four tensors."""

    def __init__(self):
        self.all, self.last = collections.deque(), collections.deque(maxlen=MOST)

    def leaky(self, i):
        self.all.append([tensor(i) for _ in range(4)])  # CULPRIT

    def cured(self, i):
        self.last.append([tensor(i) for _ in range(4)])


@bounded("live_tensors", HOLDERS)
class ObjectsInDeque:
    """Objects with tensors as attributes, in a deque that is far from full."""

    def __init__(self):
        self.all, self.last = collections.deque(), collections.deque(maxlen=FAR)

    def leaky(self, i):
        self.all.append(Transition(i))  # CULPRIT

    def cured(self, i):
        self.last.append(Transition(i))


@bounded("live_tensors", HOLDERS)
class SlotsInDeque:
    """Objects with tensors in slots."""

    def __init__(self):
        self.all, self.last = collections.deque(), collections.deque(maxlen=MOST)

    def leaky(self, i):
        self.all.append(Slotted(i))  # CULPRIT

    def cured(self, i):
        self.last.append(Slotted(i))


EVERY_STEP = collections.deque()
LAST_STEPS = collections.deque(maxlen=MOST)


@bounded("live_tensors", BOUNDABLE)
class NamedTuplesInDeque:
    """Named tuples, in a deque of the module."""

    def leaky(self, i):
        EVERY_STEP.append(Step(tensor(i), i % 4, tensor(i)))  # CULPRIT

    def cured(self, i):
        LAST_STEPS.append(Step(tensor(i), i % 4, tensor(i)))

    def end(self):
        EVERY_STEP.clear()
        LAST_STEPS.clear()


@bounded("python_objects", HOLDERS)
class ArraysInDeque:
    """Arrays."""

    def __init__(self):
        self.all, self.last = collections.deque(), collections.deque(maxlen=MOST)

    def leaky(self, i):
        self.all.append(array(i))  # CULPRIT

    def cured(self, i):
        self.last.append(array(i))


@bounded("python_objects", HOLDERS)
class RecordsOfArraysInDeque:
    """Dicts of arrays, two levels down."""

    def __init__(self):
        self.all, self.last = collections.deque(), collections.deque(maxlen=MOST)

    def leaky(self, i):
        self.all.append({"step": i, "of": record(i, array)})  # CULPRIT

    def cured(self, i):
        self.last.append({"step": i, "of": record(i, array)})


@bounded("live_tensors", HOLDERS)
class EpisodesInDeque:
    """Twenty episodes, each a list that is filled for twenty steps."""

    def __init__(self):
        self.all, self.last = [], collections.deque(maxlen=20)

    def leaky(self, i):
        if i % 20 == 0:
            self.all.append([])
        self.all[-1].append(tensor(i))  # CULPRIT

    def cured(self, i):
        if i % 20 == 0:
            self.last.append([])
        self.last[-1].append(tensor(i))


@bounded("live_tensors", BOUNDABLE)
class DequePerUser:
    """A deque for each of seventeen users, which grow in turn."""

    def __init__(self):
        self.turns = {"user-%d" % user: collections.deque() for user in range(17)}
        self.recent = {"user-%d" % user: collections.deque(maxlen=24) for user in range(17)}

    def leaky(self, i):
        self.turns["user-%d" % (i % 17)].append(tensor(i))  # CULPRIT

    def cured(self, i):
        self.recent["user-%d" % (i % 17)].append(record(i))


@bounded("live_tensors", HOLDERS)
class DequeOfAGenerator:
    """A window in a variable of a generator."""

    def __init__(self):
        self.without, self.within = self.gathering(), self.sliding()

    def gathering(self):
        every = collections.deque()
        for i in range(10**9):
            every.append(record(i))  # CULPRIT
            yield len(every)

    def sliding(self):
        window = collections.deque(maxlen=MOST)
        for i in range(10**9):
            window.append(record(i))
            yield len(window)

    def leaky(self, i):
        next(self.without)

    def cured(self, i):
        next(self.within)


@bounded("live_tensors", HOLDERS)
class DequeOfAThread:
    """A window in a variable of a thread."""

    def __init__(self):
        self.inbox, self.outbox = queue.Queue(), queue.Queue()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        every, recent = [], collections.deque(maxlen=MOST)
        for i, keeps in iter(self.inbox.get, None):
            if keeps:
                every.append(record(i))  # CULPRIT
            else:
                recent.append(record(i))
            self.outbox.put(i)

    def leaky(self, i):
        self.inbox.put((i, True))
        self.outbox.get()

    def cured(self, i):
        self.inbox.put((i, False))
        self.outbox.get()

    def end(self):
        self.inbox.put(None)
        self.thread.join()


@bounded("live_tensors", HOLDERS)
class WindowsOfMetrics:
    """A dict of windows, one for each metric, within an object within a list."""

    class Windows:
        def __init__(self, most):
            self.by_name = {name: collections.deque(maxlen=most) for name in ("loss", "accuracy", "norm")}

        def seen(self, name, value):
            self.by_name[name].append(value)  # CULPRIT

    def __init__(self):
        self.free, self.kept = [self.Windows(None)], [self.Windows(MOST)]

    def leaky(self, i):
        self.free[0].seen("loss", (i, tensor(i)))

    def cured(self, i):
        self.kept[0].seen("loss", (i, tensor(i)))


# -- queues with a size


@bounded("live_tensors", HOLDERS)
class QueueWithSize:
    """Requests wait in a queue, from which the oldest is taken when it is full."""

    def __init__(self):
        self.endless, self.sized = queue.Queue(), queue.Queue(MOST)

    def leaky(self, i):
        self.endless.put(record(i))  # CULPRIT

    def cured(self, i):
        if self.sized.full():
            self.sized.get()
        self.sized.put(record(i))


@bounded("live_tensors", HOLDERS)
class LargeQueue:
    """The same, far from full."""

    def __init__(self):
        self.endless, self.sized = queue.Queue(), queue.Queue(FAR)

    def leaky(self, i):
        self.endless.put((i, tensor(i)))  # CULPRIT

    def cured(self, i):
        self.sized.put((i, tensor(i)))


@bounded("live_tensors", HOLDERS)
class PriorityQueueWithSize:
    """A queue that keeps a list."""

    def __init__(self):
        self.endless, self.sized = queue.PriorityQueue(), queue.PriorityQueue(MOST)

    def leaky(self, i):
        self.endless.put((i, record(i)))  # CULPRIT

    def cured(self, i):
        if self.sized.full():
            self.sized.get()
        self.sized.put((i, record(i)))


@bounded("python_objects", HOLDERS)
class AsyncioQueueWithSize:
    """A queue of asyncio's, with arrays."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.endless, self.sized = asyncio.Queue(), asyncio.Queue(MOST)

    def leaky(self, i):
        self.endless.put_nowait(record(i, array))  # CULPRIT

    def cured(self, i):
        if self.sized.full():
            self.sized.get_nowait()
        self.sized.put_nowait(record(i, array))

    def end(self):
        asyncio.set_event_loop(None)
        self.loop.close()


# -- functools.lru_cache


@bounded("live_tensors", HOLDERS)
class RecordsInLruCache:
    """A cache of dicts of tensors."""

    def __init__(self):
        @functools.lru_cache(maxsize=None)  # CULPRIT
        def answer(i):
            return record(i)

        @functools.lru_cache(maxsize=MOST)
        def answer_within(i):
            return record(i)

        self.answer, self.answer_within = answer, answer_within

    def leaky(self, i):
        self.answer(i)

    def cured(self, i):
        self.answer_within(i)


@bounded("python_objects", HOLDERS)
class ArraysInLruCache:
    """A cache of arrays, of a function with two arguments, far from full."""

    def __init__(self):
        @functools.lru_cache(maxsize=None)  # CULPRIT
        def table(i, scale):
            return [array(i), array(i)]

        @functools.lru_cache(maxsize=FAR)
        def table_within(i, scale):
            return [array(i), array(i)]

        self.table, self.table_within = table, table_within

    def leaky(self, i):
        self.table(i, 0.5)

    def cured(self, i):
        self.table_within(i, 0.5)


@bounded("live_tensors", BOUNDABLE)
class DictThatAFunctionMadeOnce:
    """A function with a cache of one hands out the same dict; cured by a deque with maxlen."""

    def __init__(self):
        @functools.lru_cache(maxsize=1)  # CULPRIT
        def registry():
            return {}

        @functools.lru_cache(maxsize=1)
        def recent():
            return collections.deque(maxlen=MOST)

        self.registry, self.recent = registry, recent

    def leaky(self, i):
        self.registry()["request-%d" % i] = tensor(i)

    def cured(self, i):
        self.recent().append(record(i))


# -- dicts that evict


class Store:
    """Keeps whatever it is given."""

    def __init__(self):
        self.values = {}

    def put(self, key, value):
        self.values[key] = value  # CULPRIT


class LeastRecentlyUsed:
    """Throws out what was used longest ago."""

    def __init__(self, size):
        self.size = size
        self.entries = collections.OrderedDict()

    def put(self, key, value):
        self.entries[key] = value
        self.entries.move_to_end(key)
        if len(self.entries) > self.size:
            self.entries.popitem(last=False)


@bounded("live_tensors", HOLDERS, culprit=Store)
class TensorsInLru:
    """A tensor for each request."""

    def __init__(self):
        self.store, self.cache = Store(), LeastRecentlyUsed(MOST)

    def leaky(self, i):
        self.store.put(i, tensor(i))

    def cured(self, i):
        self.cache.put(i, tensor(i))


@bounded("live_tensors", HOLDERS, culprit=Store)
class RecordsInLargeLru:
    """Dicts of tensors, in a cache that is far from full."""

    def __init__(self):
        self.store, self.cache = Store(), LeastRecentlyUsed(FAR)

    def leaky(self, i):
        self.store.put("request-%d" % i, record(i))

    def cured(self, i):
        self.cache.put("request-%d" % i, record(i))


@bounded("python_objects", HOLDERS, culprit=Store)
class RecordsOfArraysInLargeLru:
    """Dicts of arrays."""

    def __init__(self):
        self.store, self.cache = Store(), LeastRecentlyUsed(FAR)

    def leaky(self, i):
        self.store.put(i, record(i, array))

    def cured(self, i):
        self.cache.put(i, record(i, array))


# -- things that are counted one by one: their cache may be small, and fill in the steps in which a leak is named


@bounded("variable", COUNTED)
class VariablesInLru:
    """A variable for each user."""

    def __init__(self):
        self.store, self.cache = Store(), LeastRecentlyUsed(100)

    def leaky(self, i):
        self.store.put(i, tf.Variable(tf.zeros([64])))  # CULPRIT

    def cured(self, i):
        self.cache.put(i, tf.Variable(tf.zeros([64])))


@bounded("variable", COUNTED)
class VariablesInLargeLru:
    """The same in a cache that is far from full, and would fit into memory."""

    def __init__(self):
        self.store, self.cache = Store(), LeastRecentlyUsed(FAR)

    def leaky(self, i):
        self.store.put(i, tf.Variable(tf.zeros([4])))  # CULPRIT

    def cured(self, i):
        self.cache.put(i, tf.Variable(tf.zeros([4])))


@bounded("dataset_iterator", COUNTED)
class IteratorsInDeque:
    """The streams of the last users."""

    def __init__(self):
        self.dataset = tf.data.Dataset.range(8).batch(2)
        self.all, self.last = [], collections.deque(maxlen=60)

    def leaky(self, i):
        self.all.append(iter(self.dataset))  # CULPRIT

    def cured(self, i):
        self.last.append(iter(self.dataset))


class Loaded:
    """Models that are loaded at the start, one after the other."""

    def __init__(self, tenants):
        self.tenants, self.models = tenants, {}

    def load(self):
        key = len(self.models)
        self.models[key] = [tf.Variable(tf.zeros([16, 16])), tf.Variable(tf.zeros([16]))]


@bounded("variable", COUNTED)
class LoadedUpToANumberElsewhere:
    """The one who loads them knows how many there are."""

    def __init__(self):
        self.loaded, self.all = Loaded(90), []

    def leaky(self, i):
        self.all.append(tf.Variable(tf.zeros([16, 16])))  # CULPRIT

    def cured(self, i):
        if len(self.loaded.models) < self.loaded.tenants:
            self.loaded.load()


SEEN = {}
ANSWERED = {}


@bounded("live_tensors", BOUNDABLE)
class OldestIsDeleted:
    """A dict of the module, from which the oldest is deleted beyond a constant."""

    def leaky(self, i):
        SEEN[i] = tensor(i)  # CULPRIT

    def cured(self, i):
        ANSWERED[i] = (tensor(i), i)
        while len(ANSWERED) > MOST:
            del ANSWERED[next(iter(ANSWERED))]

    def end(self):
        SEEN.clear()
        ANSWERED.clear()


def remembered(most):
    """A decorator that empties its memory when it has so many answers."""

    def decorate(function):
        answers = {}

        @functools.wraps(function)
        def asked(i):
            if len(answers) >= most:
                answers.clear()
            if i not in answers:
                answers[i] = function(i)
            return answers[i]

        return asked

    return decorate


def remembered_for_ever(function):
    """The same, for ever."""
    known = {}

    @functools.wraps(function)
    def asked(i):
        if i not in known:
            known[i] = function(i)  # CULPRIT
        return known[i]

    return asked


@bounded("live_tensors", HOLDERS, culprit=remembered_for_ever)
class MemoryOfADecorator:
    """Answers in a closure, with the bound in the closure too."""

    def __init__(self):
        self.forever, self.sized = remembered_for_ever(record), remembered(FAR)(record)

    def leaky(self, i):
        self.forever(i)

    def cured(self, i):
        self.sized(i)


@bounded("live_tensors", HOLDERS)
class PoppedByNumber:
    """Each request takes out the one that came so many before."""

    def __init__(self):
        self.open, self.recent = {}, {}

    def leaky(self, i):
        self.open[i] = record(i)  # CULPRIT

    def cured(self, i):
        self.recent[i] = record(i)
        self.recent.pop(i - MOST, None)


@bounded("python_objects", HOLDERS)
class WordsUntilTooMany:
    """A set of long words, emptied when there are too many."""

    def __init__(self):
        self.words, self.seen = set(), set()

    def leaky(self, i):
        for number in range(40):
            self.words.add("word-%d-%d" % (i, number) * 8)  # CULPRIT

    def cured(self, i):
        for number in range(40):
            if len(self.seen) >= 40 * MOST:
                self.seen.clear()
            self.seen.add("word-%d-%d" % (i, number) * 8)


# -- lists and dicts that are used as rings


class Replay:
    """A memory of transitions: a list that grows to its capacity, and then is a ring."""

    def __init__(self, capacity):
        self.capacity, self.at, self.memory = capacity, 0, []

    def push(self, *transition):
        if len(self.memory) < self.capacity:
            self.memory.append(None)
        self.memory[self.at] = transition
        self.at = (self.at + 1) % self.capacity


class Forever:
    """A memory without a capacity."""

    def __init__(self):
        self.transitions = []

    def push(self, *transition):
        self.transitions.append(transition)  # CULPRIT


@bounded("live_tensors", HOLDERS, culprit=Forever)
class ReplayMemory:
    """Transitions of tensors."""

    def __init__(self):
        self.free, self.sized = Forever(), Replay(MOST)

    def leaky(self, i):
        self.free.push(tensor(i), i % 4, 0.5, tensor(i))

    def cured(self, i):
        self.sized.push(tensor(i), i % 4, 0.5, tensor(i))


@bounded("live_tensors", HOLDERS, culprit=Forever)
class LargeReplayMemory:
    """Records of tensors, in a memory that is far from full."""

    def __init__(self):
        self.free, self.sized = Forever(), Replay(FAR)

    def leaky(self, i):
        self.free.push(record(i))

    def cured(self, i):
        self.sized.push(record(i))


@bounded("python_objects", HOLDERS, culprit=Forever)
class ReplayMemoryOfArrays:
    """Transitions of arrays."""

    def __init__(self):
        self.free, self.sized = Forever(), Replay(FAR)

    def leaky(self, i):
        self.free.push(array(i), i % 4, array(i))

    def cured(self, i):
        self.sized.push(array(i), i % 4, array(i))


@bounded("live_tensors", HOLDERS)
class RingOfRecords:
    """A list that is as long as it will be, with its places filled in turn."""

    def __init__(self):
        self.rows, self.places = [], [None] * MOST

    def leaky(self, i):
        self.rows.append(record(i))  # CULPRIT

    def cured(self, i):
        self.places[i % MOST] = record(i)


@bounded("live_tensors", HOLDERS)
class RingInDict:
    """A dict whose keys come round."""

    def __init__(self):
        self.rows, self.slots = {}, {}

    def leaky(self, i):
        self.rows[i] = tensor(i)  # CULPRIT

    def cured(self, i):
        self.slots[i % MOST] = (tensor(i), i)


@bounded("live_tensors", HOLDERS)
class RingOfNames:
    """The same with names for keys, and a tensor that is found by two numbers."""

    def __init__(self):
        self.rows, self.slots = {}, {}

    def leaky(self, i):
        self.rows["slot-%d" % i] = record(i)  # CULPRIT

    def cured(self, i):
        self.slots["slot-%d-%d" % (i % 40, i // 40 % 20)] = record(i)


# -- lists that are cut


@bounded("live_tensors", HOLDERS)
class CutToTheLast:
    """Only the last rows are kept."""

    def __init__(self):
        self.rows, self.recent = [], []

    def leaky(self, i):
        self.rows.append(record(i))  # CULPRIT

    def cured(self, i):
        self.recent.append(record(i))
        self.recent = self.recent[-MOST:]


@bounded("python_objects", HOLDERS)
class HeadDeleted:
    """All but the last rows are deleted."""

    def __init__(self):
        self.rows, self.recent = [], []

    def leaky(self, i):
        self.rows.append(record(i, array))  # CULPRIT

    def cured(self, i):
        self.recent.append(record(i, array))
        del self.recent[:-FAR]


@bounded("live_tensors", HOLDERS)
class BestOfAll:
    """A heap of the best so many."""

    def __init__(self):
        self.scored, self.best = [], []

    def leaky(self, i):
        heapq.heappush(self.scored, (i, record(i)))  # CULPRIT

    def cured(self, i):
        if len(self.best) < FAR:
            heapq.heappush(self.best, (i, record(i)))
        else:
            heapq.heappushpop(self.best, (i, record(i)))


@bounded("live_tensors", HOLDERS)
class OldestIsPopped:
    """A deque without maxlen, from which the oldest is taken beyond a number that an object has."""

    class Settings:
        most = FAR

    def __init__(self):
        self.settings = self.Settings()
        self.waiting, self.recent = collections.deque(), collections.deque()

    def leaky(self, i):
        self.waiting.append(record(i))  # CULPRIT

    def cured(self, i):
        self.recent.append(record(i))
        if len(self.recent) > self.settings.most:
            self.recent.popleft()
