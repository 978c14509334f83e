"""Sessions and writers of TensorFlow 1 that stay open; all in graph mode."""

import tempfile
import threading

import tensorflow.compat.v1 as tf
from pairs import leak


class Served:
    """A small graph, and what it takes to ask it."""

    def __init__(self):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, (None, 16))
            self.y = tf.matmul(self.x, tf.get_variable("w", (16, 16)))
            self.init = tf.global_variables_initializer()
        self.sessions = {}

    def ask(self, session):
        session.run(self.init)
        session.run(self.y, {self.x: [[0.0] * 16]})

    def end(self):
        for session in self.sessions.values():
            session.close()


@leak("session_unclosed")
class SessionPerUser(Served):
    """A session for each user, in a dict; cured by closing those of users that left. tf#37960"""

    def leaky(self, i):
        session = tf.Session(graph=self.graph)  # CULPRIT
        self.sessions[i] = session
        self.ask(session)

    def cured(self, i):
        self.sessions[i] = tf.Session(graph=self.graph)
        self.ask(self.sessions[i])
        if i >= 4:
            self.sessions.pop(i - 4).close()


@leak("session_unclosed")
class SessionPerThread(Served):
    """A session for each thread of a short life; cured by one for all: it is safe in threads. tf#10013"""

    def work(self, i):
        session = tf.Session(graph=self.graph)  # CULPRIT
        self.sessions[i] = session
        self.ask(session)

    def share(self):
        if not self.sessions:
            self.sessions["all"] = tf.Session(graph=self.graph)
        self.ask(self.sessions["all"])

    def in_thread(self, target, *arguments):
        thread = threading.Thread(target=target, args=arguments)
        thread.start()
        thread.join()

    def leaky(self, i):
        self.in_thread(self.work, i)

    def cured(self, i):
        self.in_thread(self.share)


@leak("session_unclosed")
class InteractiveSessions(Served):
    """A notebook's habit: one for each experiment, left entered; cured by close()."""

    def leaky(self, i):
        session = tf.InteractiveSession(graph=self.graph)  # CULPRIT
        self.ask(session)
        self.sessions[i] = session

    def cured(self, i):
        session = tf.InteractiveSession(graph=self.graph)
        self.ask(session)
        session.close()

    def end(self):
        for i in sorted(self.sessions, reverse=True):  # the last one entered is the first to leave
            self.sessions[i].close()


@leak("session_unclosed")
class MembersOfEnsemble:
    """A graph and a session for each member, in a list; cured by closing the one replaced."""

    def __init__(self):
        self.members = []

    def graph(self):
        graph = tf.Graph()
        with graph.as_default():
            x = tf.placeholder(tf.float32, (None, 8))
            y = tf.reduce_sum(tf.matmul(x, tf.ones((8, 4))), 1)
        return graph, x, y

    def leaky(self, i):
        graph, x, y = self.graph()
        self.members.append((tf.Session(graph=graph), x, y))  # CULPRIT
        self.members[-1][0].run(y, {x: [[1.0] * 8]})

    def cured(self, i):
        graph, x, y = self.graph()
        self.members.append((tf.Session(graph=graph), x, y))
        self.members[-1][0].run(y, {x: [[1.0] * 8]})
        if len(self.members) > 4:
            self.members.pop(0)[0].close()

    def end(self):
        for session, _, _ in self.members:
            session.close()


@leak("session_unclosed")
class MonitoredSessions:
    """A MonitoredSession for each evaluation, kept open; cured by `with`."""

    def __init__(self):
        self.open = []

    def leaky(self, i):
        with tf.Graph().as_default():
            tf.train.create_global_step()
            y = tf.reduce_sum(tf.ones((8, 8)))
            session = tf.train.MonitoredSession()  # CULPRIT
            self.open.append(session)
            session.run(y)

    def cured(self, i):
        with tf.Graph().as_default():
            tf.train.create_global_step()
            y = tf.reduce_sum(tf.ones((8, 8)))
            with tf.train.MonitoredSession() as session:
                session.run(y)

    def end(self):
        for session in self.open:
            session.close()


@leak("python_objects")
class WriterPerGraph:
    """A FileWriter for each graph, with a thread and a file each; cured by close(). tf#26684"""

    def __init__(self):
        self.folder = tempfile.mkdtemp()

    def leaky(self, i):
        with tf.Graph().as_default() as graph:
            tf.constant(1.0)
            tf.summary.FileWriter(self.folder, graph)  # CULPRIT

    def cured(self, i):
        with tf.Graph().as_default() as graph:
            tf.constant(1.0)
            tf.summary.FileWriter(self.folder, graph).close()
