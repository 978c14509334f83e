"""What became of memory: in use and rising, filling, kept by the allocator, given back, or nothing at all."""

import random

import pytest

from tfmemwatch.growth.memory_verdict import MemoryVerdict

MB = 1 << 20
LEVEL = 500 * MB


def looked(held, kept=lambda i: 10 * MB, looks=600):
    balance = MemoryVerdict()
    for i in range(looks):
        balance.look(int(held(i)), int(kept(i)), int(held(i) + kept(i) + 200 * MB))
    return balance


@pytest.mark.parametrize(
    "word, held, kept",
    [
        ("steady", lambda i: LEVEL, lambda i: 10 * MB),
        ("leak", lambda i: LEVEL + i * MB / 10, lambda i: 10 * MB),
        ("filling", lambda i: LEVEL + 200 * MB * (1 - 0.995**i), lambda i: 10 * MB),
        ("filled", lambda i: LEVEL + 50 * MB * (1 - 0.98**i), lambda i: 10 * MB),
        ("retained", lambda i: LEVEL, lambda i: 10 * MB + i * MB / 10),
        ("retained", lambda i: LEVEL + (100 * MB if 100 < i < 400 else 0), lambda i: 10 * MB + (i >= 400) * 90 * MB),
        ("released", lambda i: LEVEL + (100 * MB if 100 < i < 400 else 0), lambda i: 10 * MB),
    ],
)
def test_each_fate_of_memory_has_its_word(word, held, kept):
    """Leak, filling, filled, retained, released: which of them, and how one knows."""
    verdict = looked(held, kept).verdict
    assert (verdict.word, bool(verdict.why)) == (word, True)


def test_nothing_is_said_of_a_few_looks():
    """A start-up is no growth."""
    assert looked(lambda i: LEVEL + i * MB, looks=10).verdict.word == ""


def test_temporaries_between_looks_are_no_growth():
    """What is allocated and freed again is not there on the floors."""
    dice = random.Random(1)
    assert looked(lambda i: LEVEL + dice.randint(0, 50) * MB, looks=5000).verdict.word == "steady"


def test_free_memory_that_grows_for_ever_is_fragmentation():
    """In use stands still, and the allocator keeps more and more."""
    dice = random.Random(2)
    balance = looked(lambda i: LEVEL, lambda i: 10 * MB + i * MB / 4 + dice.randint(0, MB), looks=2000)
    assert balance.fragmented == pytest.approx(500 * MB, rel=0.2)


@pytest.mark.parametrize(
    "held, kept",
    [
        (lambda i: LEVEL, lambda i: 10 * MB + 200 * MB * (1 - 0.99**i)),  # an allocator that has found its level
        (lambda i: LEVEL, lambda i: 10 * MB + (i % 300) * MB),  # trimmed now and then
        (lambda i: LEVEL, lambda i: 10 * MB + i * MB / 100),  # too little to matter
        (lambda i: LEVEL + i * MB / 4, lambda i: 10 * MB + i * MB / 4),  # a leak, which has its own story
    ],
)
def test_an_allocator_that_behaves_is_not_accused(held, kept):
    """It keeps what it needs, gives back now and then, or something else grows."""
    assert looked(held, kept, looks=2000).fragmented is None


def test_its_own_memory_stays_flat():
    """A million looks are no more than a thousand."""
    balance = looked(lambda i: LEVEL + i, looks=20000)
    assert len(balance._held) <= 64
