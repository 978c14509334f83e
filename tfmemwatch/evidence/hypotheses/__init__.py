"""Hypotheses: what may explain memory that no count explains. Pure functions of evidence, asked in this order.

A new one is a file here, a row in a table, and its cases in tests/evidence/test_hypotheses.py.
"""

from __future__ import annotations

from typing import Callable, List, NamedTuple, Tuple

from ...model import Finding
from ..answers import Answer
from ..background import Background
from ..evidence import Evidence
from . import (
    bounded_collections,
    call_growth,
    chain,
    dataset,
    emptied_caches,
    exit_functions,
    filled_queue,
    fragmentation,
    growing_collection,
    growing_result,
    growing_tensor,
    growing_value,
    growing_variable,
    kept_tensors,
    kernel_cache,
    native_heap,
    number_cache,
    one_jump,
    open_tape,
    python_heap,
    shape_cache,
    slow_growth,
    slow_rise,
    steady_collection,
)  # fmt: skip

# When a hypothesis is asked.
WINDOW = "window"  # the window on operations is over
EARLY = "early"  # before the end, in a loop with steps, of growth that is worth a finding
END = "end"  # all looks are taken, and there is growth that is worth a finding


class Hypothesis(NamedTuple):
    """One explanation: when it is asked, and the function that answers."""

    name: str  # of its file
    when: str
    ask: Callable[[Evidence], Answer]
    sees_its_own: bool = False  # it weighs what it accuses: it is asked beside other findings, too


HYPOTHESES: Tuple[Hypothesis, ...] = (
    # counted, and each is known to be kept: a short while is enough
    Hypothesis("number_cache", WINDOW, number_cache.ask, sees_its_own=True),
    Hypothesis("kernel_cache", WINDOW, kernel_cache.ask),
    Hypothesis("steady_collection", EARLY, steady_collection.ask, sees_its_own=True),
    # what is counted is straight, whatever else bends the bytes
    Hypothesis("growing_collection", END, growing_collection.ask, sees_its_own=True),
    Hypothesis("growing_variable", END, growing_variable.ask, sees_its_own=True),
    Hypothesis("exit_functions", END, exit_functions.ask),
    Hypothesis("open_tape", END, open_tape.ask),
    Hypothesis("kept_tensors", END, kept_tensors.ask),
    Hypothesis("chain", END, chain.ask),
    Hypothesis("emptied_caches", END, emptied_caches.ask),
    # known by bytes that grow in a straight line
    Hypothesis("growing_tensor", END, growing_tensor.ask),
    Hypothesis("dataset", END, dataset.ask),
    Hypothesis("one_jump", END, one_jump.ask),
    # what has an end, and explains the rest
    Hypothesis("bounded_collections", END, bounded_collections.ask),
    Hypothesis("shape_cache", END, shape_cache.ask),
    # nothing that can be named holds it: said only where it is much, and when it was seen twice
    Hypothesis("slow_growth", END, slow_growth.ask),
    Hypothesis("filled_queue", END, filled_queue.ask),
    Hypothesis("growing_value", END, growing_value.ask),
    Hypothesis("growing_result", END, growing_result.ask),
    Hypothesis("python_heap", END, python_heap.ask),
    Hypothesis("native_heap", END, native_heap.ask),
)


class Standing(NamedTuple):
    """An explanation that needs no inquiry: asked when findings are brought up to date and nothing else is found."""

    name: str  # of its file
    ask: Callable[[Background], List[Finding]]


# The first that finds something is believed.
WITHOUT_INQUIRY: Tuple[Standing, ...] = (
    Standing("call_growth", call_growth.ask),
    Standing("slow_rise", slow_rise.ask),
    Standing("fragmentation", fragmentation.ask),
)
