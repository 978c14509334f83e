"""What a window on operations remembers, as it is told by its hooks."""

import types

import pytest
from written_down import seen

from tfmemwatch.evidence.hypotheses import number_cache
from tfmemwatch.evidence.instruments.operations_window import OperationsWindow


def convert(window, number):
    """A conversion of a number, seen three frames below the line that asks for it."""
    (lambda: (lambda: window._note_convert(650, 0, (number,)))())()


@pytest.mark.parametrize("a_half", [100, 6000, 60_000])
def test_ever_new_numbers_are_found_at_any_pace(a_half):
    """70,000 new numbers a second fill the table within the first half: the second one has room of its own."""
    window = OperationsWindow(types.SimpleNamespace(process=types.SimpleNamespace(in_use_bytes=lambda: 0)))
    window.open()
    for number in range(a_half):
        convert(window, float(number))
    first = {row.key: row for row in window.read()}
    window.go_on()
    for number in range(a_half, 2 * a_half):
        convert(window, float(number))
    rows = window.read()
    assert rows[0].numbers <= 2 * 2048  # bounded
    evidence = seen(grown=20_000, looks=32, operations=tuple(rows), first_half=first)
    assert number_cache.ask(evidence) is not None


def test_numbers_that_come_again_are_not_new():
    """As many calls, of the same numbers."""
    window = OperationsWindow(types.SimpleNamespace(process=types.SimpleNamespace(in_use_bytes=lambda: 0)))
    window.open()
    for number in range(6000):
        convert(window, float(number % 500))
    first = {row.key: row for row in window.read()}
    window.go_on()
    for number in range(6000):
        convert(window, float(number % 500))
    assert number_cache.ask(seen(looks=32, operations=tuple(window.read()), first_half=first)) is None


def test_of_an_assignment_the_value_is_known():
    """It has no result: what was assigned says how large the variable is."""

    class Value:
        dtype = types.SimpleNamespace(size=4)

        def _num_elements(self):
            return 1000

    window = OperationsWindow(types.SimpleNamespace(process=types.SimpleNamespace(in_use_bytes=lambda: 0)))
    window.open()
    (lambda: (lambda: window._note_fast(0, 0, (None, "AssignVariableOp", None, object(), Value(), "x", False)))())()
    (row,) = window.read()
    assert (row.is_assignment, row.output_bytes, row.latest_bytes) == (True, 4000, 4000)
