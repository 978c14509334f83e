"""In a block, collections are counted at each step: what grows and has no bound is named, what has one is not."""

import collections
import gc
import random
from pathlib import Path

import numpy as np
import pytest

import tfmemwatch
from tfmemwatch.heap import shapes


class Server:
    """What a program keeps between two requests."""

    def __init__(self):
        self.answers = []
        self.last = collections.deque(maxlen=20)
        self.waiting = {}
        self.sessions = {}
        self.known = {}
        self.numbers = []

    def keep(self, answer):
        """Never taken out."""
        self.answers.append(answer)  # line of answers

    def keep_the_last(self, answer):
        """As many as there is room for."""
        self.last.append(answer)

    def ask(self, number, answer):
        """Some of them may be answered."""
        self.waiting[number] = answer

    def answered(self, number):
        """And then they go."""
        self.waiting.pop(number)

    def log_in(self, number, user):
        """Somebody else logs them out."""
        self.sessions[number] = user

    def learn(self, word, meaning):
        """By chance the words of a language."""
        if word not in self.known:
            self.known[word] = meaning

    def note(self, number):
        """A plain number."""
        self.numbers.append(number)


server = Server()


@pytest.fixture(autouse=True)
def nothing_kept():
    server.__init__()
    yield
    server.__init__()


def run(step, steps, until_found=True):
    """The step at which something was found, and the block."""
    with tfmemwatch.watch("steps", log=False) as block:
        for number in range(steps):
            step(number)
            block.step()
            if until_found and block.findings:
                break
    return block.steps, block


def row():
    return np.ones(400)


def test_a_list_that_grows_is_named_within_forty_steps():
    """With its line, its name, and all that it has gained since the block began."""
    steps, block = run(lambda number: server.keep(row()), 200)
    (finding,) = block.findings
    assert steps <= 40
    assert finding.kind == "python_objects" and finding.holder == "Server.answers"
    assert "line of answers" in Path(finding.site.file).read_text().splitlines()[finding.site.line - 1]
    assert finding.grown == steps and 0.9 < finding.bytes / (steps * 3200) < 1.3


@pytest.mark.slow
def test_one_in_twenty_steps_is_named_in_a_block_of_a_thousand():
    """Growth is counted by its own steps."""
    _, block = run(lambda number: number % 20 or server.keep(row()), 1000)
    assert [one.holder for one in block.findings] == ["Server.answers"]


def test_what_has_a_bound_is_not_named_while_it_fills_nor_after():
    """A deque with maxlen."""
    _, block = run(lambda number: server.keep_the_last(row()), 100, until_found=False)
    assert block.findings == []
    block.assert_clean()


@pytest.mark.slow
def test_what_things_are_taken_out_of_is_waited_for():
    """A request that is answered after 150 steps is no leak."""

    def step(number):
        server.ask(number, row())
        if number >= 150:
            server.answered(number - 150)

    _, block = run(step, 400, until_found=False)
    assert block.findings == []


@pytest.mark.slow
def test_what_is_never_answered_is_named_at_last():
    """The same, when nobody answers."""
    _, block = run(lambda number: server.ask(number, row()), 400)
    assert [one.holder for one in block.findings] == ["Server.waiting"]


class Cleaner:
    """Has a number of its own, and takes out of what belongs to another."""

    def __init__(self, server, most):
        self.server, self.most = server, most

    def clean(self):
        """Above that number it forgets the oldest."""
        while len(self.server.sessions) > self.most:
            self.server.sessions.pop(next(iter(self.server.sessions)))


@pytest.mark.slow
@pytest.mark.parametrize("cleans", [True, False])
def test_what_another_object_cleans_above_its_number_is_waited_for(cleans):
    """Where its cleaner is never called it has grown beyond that number, and is named."""
    cleaner = Cleaner(server, 300)

    def step(number):
        server.log_in(number, row())
        if cleans:
            cleaner.clean()

    _, block = run(step, 250)
    assert block.findings == [] and "items go into Server.sessions, which seems to be full at 300" in str(
        block.report()
    )
    server.__init__()
    _, block = run(step, 700)
    assert [(one.holder, len(server.sessions) > 300) for one in block.findings] == (
        [] if cleans else [("Server.sessions", True)]
    )


@pytest.mark.slow
def test_keys_drawn_by_chance_may_come_again():
    """A language has so many words: the new ones become fewer."""
    chance = random.Random(7)
    _, block = run(lambda number: server.learn(chance.randrange(300), row()), 700, until_found=False)
    assert block.findings == []


def test_a_number_at_each_step_is_no_leak():
    """As one keeps the losses of a training."""
    _, block = run(lambda number: server.note(number * 0.5), 100)
    assert block.findings == []


@pytest.mark.slow
def test_growth_that_stops_is_over_after_as_many_steps_as_it_took():
    """And then the block is clean."""
    told = []

    def listen(finding):
        told.append(finding.state)

    with tfmemwatch.watch("fills", log=False, on_finding=listen) as block:
        for number in range(200):
            if number < 50:
                server.keep([row()])
            block.step()
            if block.findings:
                found_at = block.steps
    assert block.findings == [] and told[0] == "leak" and told[-1] == "over"
    assert found_at <= 50 + 40
    block.assert_clean()


def test_classes_are_not_asked_anew_for_each_length():
    """What there is of them is remembered until one of them dies."""
    kind = type("Rows", (list,), {})
    first = shapes.shapes()
    assert id(kind) in first.lengths and shapes.known_shapes() is first
    del kind
    gc.collect()
    assert shapes.known_shapes() is not first
