"""What an inquiry reads of the watch that it belongs to."""

from __future__ import annotations

from typing import Callable, Dict, FrozenSet, List, NamedTuple, Optional

from ..model import Site
from ..probes.datasets import Remembering
from .instruments.operations_window import OperationsWindow


class Sources(NamedTuple):
    """Callables, which a test replaces by plain functions."""

    operations: OperationsWindow
    tapes: Callable[[float], List[Site]] = lambda seconds: []  # lines of those that have recorded for so long
    remembering: Callable[[], List[Remembering]] = list  # datasets that remember elements
    tensor_class: Callable[[], Optional[type]] = lambda: None
    counted: Callable[[], FrozenSet[int]] = frozenset  # ids of the living things that counts have explained
    empty_caches: Optional[Callable[[], Dict[str, int]]] = None  # TensorFlow's, where that is allowed
