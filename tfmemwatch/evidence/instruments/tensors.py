"""Eager tensors: how many there are, which came last, which is the largest."""

from __future__ import annotations

from typing import Callable, List, Optional

from .. import census


class Tensors:
    """Costs a look at all objects (11–20 ms with 400,000), each time that it is asked; above that it knows nothing."""

    def __init__(self, tensor_class: Callable[[], Optional[type]]) -> None:
        self._tensor_class = tensor_class
        self.kind: Optional[type] = None

    def open(self) -> None:
        """Know their class, where there is one."""
        self.kind = self._tensor_class()

    def look(self) -> int:
        """How many there are."""
        return census.number_of_tensors(self.kind)

    def newest(self, most: int) -> List[int]:
        """The ids of so many that came last."""
        return census.newest_tensors(self.kind, most)

    def bytes_of(self, tensors: List[int]) -> int:
        """What these weigh together."""
        return census.bytes_of(self.kind, tensors)

    def largest(self, least: float) -> List[int]:
        """The id of the largest, if it has so many bytes."""
        return census.largest(self.kind, least) if self.kind is not None else []

    def close(self) -> None:
        """Their class stays known."""
