"""What was seen of eager operations: plain rows, and what can be read from two halves of a window."""

from __future__ import annotations

from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from ..model import Site

ASSIGNS = "AssignVariableOp"
LEAST_NEW = 6  # attributes, shapes or numbers that must be new in each half of a window


class Operation(NamedTuple):
    """What the calls of one operation from one line did."""

    site: Site
    name: str
    calls: int
    output_bytes: int  # of an assignment, what was assigned
    kept_bytes: int  # in use after the call more than before, the outputs not counted
    signatures: int  # distinct attributes and, for compiled functions, input shapes
    numbers: int  # distinct Python numbers among the inputs
    sizes: int  # distinct sizes of the outputs
    is_function: bool
    is_compiled: bool = False  # a function that XLA compiles
    latest_bytes: int = 0  # of the last output

    @property
    def is_assignment(self) -> bool:
        """Whether it gives a variable a value."""
        return self.name == ASSIGNS

    @property
    def shapes(self) -> int:
        """About how many shapes it came to: of a function those of its inputs are known, of others what they made."""
        return max(self.sizes, self.signatures) if self.is_function else self.sizes

    @property
    def key(self) -> Tuple[Site, str]:
        """By what the same operation is found in another reading."""
        return (self.site, self.name)


Rows = Mapping[Tuple[Site, str], Operation]


def by_key(rows: Iterable[Operation]) -> Dict[Tuple[Site, str], Operation]:
    """The rows, each by its key."""
    return {row.key: row for row in rows}


def story_of(row: Operation, half: Optional[Operation]) -> Optional[str]:
    """Which of TensorFlow's caches an operation fills, if it asks for as much that is new now as at first."""
    if half is None or not goes_on(half.signatures, row.signatures) or row.kept_bytes <= 2000 * row.signatures:
        return None
    if "Dataset" in row.name or "Iterator" in row.name:
        return None  # their functions have new names each time, but go with them
    if row.is_function:  # ever new shapes cost an ordinary function nothing
        return "executable" if row.is_compiled else None
    return "kernel"


def growing_output(row: Operation, half: Optional[Operation]) -> float:
    """By how many bytes the result of an operation has grown over a window."""
    if half is None or not half.calls or row.calls <= half.calls:
        return 0.0
    first = half.output_bytes / half.calls
    second = (row.output_bytes - half.output_bytes) / (row.calls - half.calls)
    return 2 * (second - first)


def functions_together(rows: Iterable[Operation]) -> List[Operation]:
    """The functions called from one line as one: each new shape compiles them all."""
    lines: Dict[Site, Operation] = {}
    others = []
    for row in rows:
        if not row.is_function or not row.is_compiled:
            others.append(row)
            continue
        one = lines.get(row.site)
        lines[row.site] = row if one is None else one._replace(
            name=min(one.name, row.name), calls=one.calls + row.calls, kept_bytes=one.kept_bytes + row.kept_bytes,
            signatures=one.signatures + row.signatures,
        )  # fmt: skip
    return sorted([*lines.values(), *others], key=lambda row: -row.kept_bytes)


def goes_on(first_half: int, both: int) -> bool:
    """Whether about as much was new in the second half of a window as in the first."""
    return first_half >= LEAST_NEW and both - first_half >= max(LEAST_NEW, 0.6 * first_half)
