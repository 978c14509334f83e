"""Tensors that a collection, a thread or a tape holds on to."""

import atexit
import collections
import functools
import queue
import threading

import tensorflow as tf
from features import tensorflow_2
from pairs import BOUNDABLE, HOLDERS, KEPT, UNNAMED, leak


@leak("live_tensors", HOLDERS)
class Predictions:
    """Predictions appended as tensors; cured by keeping a number of each. tf#34606"""

    def __init__(self):
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(256)])
        self.x = tf.ones((8, 16))
        self.kept = []

    def leaky(self, i):
        prediction = self.model(self.x)
        self.kept.append(prediction)  # CULPRIT

    def cured(self, i):
        prediction = self.model(self.x)
        self.kept.append(float(tf.reduce_mean(prediction)))


@leak("live_tensors", HOLDERS)
class Gradients:
    """Gradients of the input appended in each step; cured by keeping their size. StackOverflow"""

    def __init__(self):
        self.w = tf.Variable(tf.ones((64, 8)))
        self.x = tf.ones((32, 64))
        self.kept = []

    def gradient(self):
        with tf.GradientTape() as tape:
            tape.watch(self.x)
            loss = tf.reduce_mean(tf.square(tf.matmul(self.x, self.w)))
        return tape.gradient(loss, self.x)

    def leaky(self, i):
        self.kept.append(self.gradient())  # CULPRIT

    def cured(self, i):
        self.kept.append(float(tf.norm(self.gradient())))


ANSWERS = {}


@leak("live_tensors", BOUNDABLE)
class Answers:
    """A cache of the module, by the number of the request; cured by throwing the oldest out."""

    def __init__(self):
        self.x = tf.ones((4, 256))

    def leaky(self, i):
        answer = tf.nn.softmax(self.x)
        ANSWERS["request-%d" % i] = answer  # CULPRIT

    def cured(self, i):
        ANSWERS["request-%d" % i] = tf.nn.softmax(self.x)
        ANSWERS.pop("request-%d" % (i - 32), None)

    def end(self):
        ANSWERS.clear()


@leak("live_tensors", HOLDERS)
class Window:
    """A window without a bound; cured by maxlen."""

    def __init__(self):
        self.frames = collections.deque()
        self.window = collections.deque(maxlen=32)
        self.x = tf.ones((32, 24))

    def leaky(self, i):
        frame = self.x * 0.5
        self.frames.append(frame)  # CULPRIT

    def cured(self, i):
        self.window.append(self.x * 0.5)


@leak("live_tensors", HOLDERS)
class WorkerThread:
    """A thread that keeps each result; cured by handing it over."""

    def __init__(self):
        self.inbox = queue.Queue()
        self.outbox = queue.Queue()
        self.done = []
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()
        self.x = tf.ones((32, 32))

    def work(self):
        for x, keeps in iter(self.inbox.get, None):
            y = tf.nn.relu(x) * 2.0
            if keeps:
                self.done.append(y)  # CULPRIT
            self.outbox.put(y)

    def leaky(self, i):
        self.inbox.put((self.x, True))
        self.outbox.get()

    def cured(self, i):
        self.inbox.put((self.x, False))
        self.outbox.get()

    def end(self):
        self.inbox.put(None)
        self.thread.join()


CALLBACKS = []


@leak("live_tensors", BOUNDABLE)
class Closures:
    """Callbacks that close over the batch; cured by registering one."""

    def __init__(self):
        self.x = tf.ones((16, 64))

    def on_epoch_end(self, function):
        CALLBACKS.append(function)  # CULPRIT

    def leaky(self, i):
        batch = self.x * 0.9
        self.on_epoch_end(lambda: float(tf.reduce_mean(batch)))

    def cured(self, i):
        batch = self.x * 0.9
        tf.reduce_mean(batch)
        if not CALLBACKS:
            self.on_epoch_end(lambda: float(tf.reduce_mean(self.x)))

    def end(self):
        del CALLBACKS[:]


@leak("tape", HOLDERS)
class TapeAroundTheLoop:
    """A persistent tape entered before the loop and never left; cured by one for each step. tf#32276"""

    def __init__(self):
        self.w = tf.Variable(tf.ones((32, 32)))
        self.x = tf.ones((8, 32))
        self.tape = None

    def before_leaky(self):
        self.tape = tf.GradientTape(persistent=True)
        self.tape.__enter__()  # CULPRIT

    def loss(self):
        return tf.reduce_mean(tf.square(tf.matmul(self.x, self.w)))

    def leaky(self, i):
        loss = self.loss()
        self.w.assign_sub(0.001 * self.tape.gradient(loss, self.w))

    def cured(self, i):
        with tf.GradientTape(persistent=True) as tape:
            loss = self.loss()
        self.w.assign_sub(0.001 * tape.gradient(loss, self.w))

    def end(self):
        if self.tape is not None:
            self.tape.__exit__(None, None, None)


@leak("tape", HOLDERS, needs=(tensorflow_2,))  # on 1.15 operations take another door
class SequenceWithoutEnd:
    """Losses summed under a tape that stays open; cured by closing it every ten steps. tf#45016"""

    def __init__(self):
        self.cell = tf.Variable(tf.eye(64) * 0.9)
        self.tape = None
        self.begin()

    def begin(self):
        if self.tape is not None:
            self.tape.__exit__(None, None, None)
        self.tape = tf.GradientTape()
        self.tape.__enter__()
        self.hidden = tf.zeros((16, 64))
        self.total = tf.constant(0.0)

    def leaky(self, i):
        self.hidden = tf.nn.tanh(tf.matmul(self.hidden + 0.1, self.cell))
        self.total += tf.reduce_mean(self.hidden)  # CULPRIT

    def cured(self, i):
        self.hidden = tf.nn.tanh(tf.matmul(self.hidden + 0.1, self.cell))
        self.total += tf.reduce_mean(self.hidden)
        if i % 10 == 9:
            self.begin()

    def end(self):
        self.tape.__exit__(None, None, None)


@leak("tape", HOLDERS)
class TapeAcrossYields:
    """A generator that yields under an open tape, for ever; cured by a tape for each turn."""

    def __init__(self):
        self.w = tf.Variable(tf.ones((16, 16)))
        self.x = tf.ones((8, 16))
        self.under_one = self.losses_under_one_tape()
        self.under_many = self.losses_under_many_tapes()

    def loss(self):
        return tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(self.x, self.w))))

    def losses_under_one_tape(self):
        with tf.GradientTape():  # CULPRIT
            while True:
                yield self.loss()

    def losses_under_many_tapes(self):
        while True:
            with tf.GradientTape():
                loss = self.loss()
            yield loss

    def leaky(self, i):
        float(next(self.under_one))

    def cured(self, i):
        float(next(self.under_many))

    def end(self):
        self.under_one.close()
        self.under_many.close()


@leak("tape", KEPT)
class TapesKept:
    """Persistent tapes kept for an analysis at the end; cured by keeping what it needs."""

    def __init__(self):
        self.w = tf.Variable(tf.ones((16, 16)))
        self.x = tf.ones((4, 16))
        self.kept = []

    def recorded(self):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_sum(tf.nn.tanh(tf.matmul(self.x, self.w)))
        return tape, tape.gradient(loss, self.w)

    def leaky(self, i):
        tape, _ = self.recorded()
        self.kept.append(tape)  # CULPRIT

    def cured(self, i):
        _, gradient = self.recorded()
        self.kept.append(float(tf.norm(gradient)))


@leak("live_tensors", HOLDERS)
class QueueWithoutConsumer:
    """Two results for each that is read; cured by a queue that is emptied."""

    def __init__(self):
        self.results = queue.Queue()
        self.x = tf.ones((16, 64))

    def leaky(self, i):
        for scale in (0.5, 0.25):
            self.results.put(self.x * scale)  # CULPRIT
        self.results.get()

    def cured(self, i):
        self.results.put(self.x * 0.5)
        self.results.get()


@leak("live_tensors", HOLDERS)
class ErrorsWithFrames:
    """Exceptions kept, and with them the variables of their frames; cured by keeping their text."""

    def __init__(self):
        self.x = tf.ones((32, 32))
        self.errors = []

    def parse(self):
        large = self.x * 2.0
        raise ValueError("bad request of %s" % large.shape)

    def leaky(self, i):
        try:
            self.parse()
        except ValueError as error:
            self.errors.append(error)  # CULPRIT

    def cured(self, i):
        try:
            self.parse()
        except ValueError as error:
            self.errors.append(str(error))


@leak("live_tensors", BOUNDABLE)
class TurnsPerUser:
    """A list for each of seventeen users, which grow in turn; cured by keeping the last few turns."""

    def __init__(self):
        self.x = tf.ones((1024,))
        self.users = {}

    def turns_of(self, i):
        return self.users.setdefault("user-%d" % (i % 17), {"turns": []})

    def leaky(self, i):
        user = self.turns_of(i)
        user["turns"].append(tf.nn.tanh(self.x))  # CULPRIT

    def cured(self, i):
        user = self.turns_of(i)
        user["turns"].append(tf.nn.tanh(self.x))
        del user["turns"][:-2]


@leak("live_tensors", HOLDERS)
class LapsedListeners:
    """A listener for each request, never taken off the bus; cured by one that listens for all."""

    class Bus:
        def __init__(self):
            self.listeners = collections.defaultdict(list)

        def on(self, topic, listener):
            self.listeners[topic].append(listener)  # CULPRIT

        def publish(self, topic, value):
            return self.listeners[topic][-1](value)

    def __init__(self):
        self.bus, self.one = self.Bus(), self.Bus()
        self.x, self.w = tf.ones((16, 64)), tf.ones((64, 2))
        self.one.on("weights", lambda w: tf.matmul(self.x, w))

    def leaky(self, i):
        scaled = self.x / 2.0
        self.bus.on("weights", lambda w: tf.matmul(scaled, w))
        self.bus.publish("weights", self.w)

    def cured(self, i):
        self.one.publish("weights", self.w)


@leak("live_tensors", HOLDERS)
class RegisteredForTheEnd:
    """A hook for the interpreter's end with each request; cured by one hook."""

    def __init__(self):
        self.x = tf.ones((16, 64))
        self.last = []
        self.hooks = []

    def leaky(self, i):
        self.hooks[:] = [functools.partial(self.last.append, tf.nn.relu(self.x))]
        atexit.register(self.hooks[0])  # CULPRIT

    def cured(self, i):
        self.hooks[:] = [functools.partial(self.last.append, tf.nn.relu(self.x))]

    def end(self):
        atexit._clear()


@leak("native_heap", UNNAMED, needs=(tensorflow_2,))
class QueueThatIsNotDrained:
    """A queue of TensorFlow's, of which every tenth element is read; cured by reading all of them."""

    def __init__(self):
        self.queue = tf.queue.FIFOQueue(10**8, [tf.float32], [(1024,)])
        self.x = tf.ones((1024,))

    def leaky(self, i):
        self.queue.enqueue(self.x * 2.0)  # CULPRIT
        if i % 10 == 0:
            self.queue.dequeue()

    def cured(self, i):
        self.queue.enqueue(self.x * 2.0)
        self.queue.dequeue()


@leak("variable", UNNAMED, needs=(tensorflow_2,))
class VariableThatGrows:
    """A bank of rows in one variable, with more of them assigned each time; cured by a window."""

    def __init__(self):
        self.bank = tf.Variable(tf.zeros((0, 64)), shape=tf.TensorShape([None, 64]), trainable=False)
        self.rows = tf.ones((16, 64))

    def leaky(self, i):
        self.bank.assign(tf.concat([self.bank, self.rows], axis=0))  # CULPRIT

    def cured(self, i):
        self.bank.assign(tf.concat([self.bank[-64:], self.rows], axis=0))
