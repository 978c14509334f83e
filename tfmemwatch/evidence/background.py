"""What is known without an inquiry, from all looks there have been: a plain value."""

from __future__ import annotations

from typing import NamedTuple, Optional, Tuple

from ..growth.episode import Growth
from ..model import Site
from .call_growth import Row
from .evidence import NOTHING_HEAVY


class Background(NamedTuple):
    """Slow growth, what an allocator keeps, and what calls of models leave."""

    per: str
    calls: Tuple[Row, ...] = ()  # ways of calling a model that leak
    looks_of_calls: int = 0  # since such calls leak
    slow_rise: Optional[Growth] = None  # of memory in use
    heaviest: Tuple[Site, str] = NOTHING_HEAVY  # what left most in use in the last inquiry
    is_filling: bool = False  # something is known that fills
    kept_by_allocator: Optional[float] = None  # bytes, while those in use stand still
