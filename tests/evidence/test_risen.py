"""In a loop with steps an inquiry begins for what has risen, and not for garbage."""

import pytest

from tfmemwatch.evidence.instruments.memory_in_use import MemoryInUse
from tfmemwatch.evidence.risen import Risen
from tfmemwatch.heap import collector
from tfmemwatch.memory.process import Memory


class Program:
    """So many bytes are in use, of which some are garbage that a full collection takes."""

    def __init__(self, leaks, litters):
        self.kept = self.garbage = 0
        self.leaks, self.litters = leaks, litters

    def step(self):
        self.kept += self.leaks
        self.garbage += self.litters

    def read(self):
        return Memory(None, 100000 + self.kept + self.garbage, 0, 0)

    def collect(self, asked=False):
        self.garbage = 0
        return True


@pytest.mark.parametrize("leaks, litters, garbage", [(2000, 0, False), (2000, 3000, False), (0, 3000, True)])
def test_what_a_collection_takes_is_no_reason_for_an_inquiry(monkeypatch, leaks, litters, garbage):
    """What is kept is, at the latest a dozen steps later."""
    program = Program(leaks, litters)
    monkeypatch.setattr(collector, "collect", program.collect)
    monkeypatch.setattr(collector, "collect_young", lambda: None)
    risen, answers = Risen(MemoryInUse(by_clock=False), 1000), []
    for look in range(1, 60):
        program.step()
        if risen.look(look, float(program.read().held_bytes), program.read) or look == 27:
            answers.append(risen.is_young_garbage(look, program.read) or risen.is_garbage(look, program.read))
    assert all(answers) == garbage
