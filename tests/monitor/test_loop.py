"""What a training costs that is watched batch by batch: evidence when there is time for it, or when it matters."""

import time

import tfmemwatch
from tfmemwatch.memory.limits import Limit
from tfmemwatch.monitor.loop import Loop


class Container:
    """Of which a test says how much is used."""

    used_bytes = 1 << 30

    def read(self):
        return [Limit("container limit", 3 << 30, self.used_bytes, True)]


def test_a_short_loop_pays_for_evidence_once_unless_memory_is_at_stake(fake_tf, monkeypatch):
    """It takes a second or two, which a short training would feel; one that fills memory has to be explained."""
    monkeypatch.setattr("tfmemwatch.monitor.loop._LIMITS_SECONDS", 0.0)
    container = Container()
    loop = Loop(tfmemwatch.watch("it", warmup=0), "warn", 0.9, container)
    loop.begin()
    allowance = loop.block.running().state.allowance
    try:
        loop.step()
        now = time.monotonic()
        assert allowance.has_some(now)
        allowance.spend(1.5)
        assert not allowance.has_some(now + 140)
        assert allowance.has_some(now + 160)  # a hundred times what it took
        allowance.spend(10)
        assert not allowance.has_some(now + 161)
        container.used_bytes += 100 << 20
        loop.step()
        assert not allowance.has_some(now + 162)
        container.used_bytes += 10 << 20  # a twentieth of the 2 GiB that were left
        loop.step()
        assert allowance.has_some(now + 163)
    finally:
        loop.end()


def test_a_loop_in_a_process_that_is_watched_shares_its_allowance(fake_tf):
    """There is one for the process."""
    running = tfmemwatch.install(log=False)
    before = running.state.allowance
    loop = Loop(tfmemwatch.watch("it"), "warn", 0.9, Container())
    loop.begin()
    loop.end()
    assert running.state.allowance is before
