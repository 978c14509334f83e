"""Code that pads what varies to powers of two, so that XLA builds fewer programs."""

from __future__ import annotations

from typing import Hashable, List, Optional, Sequence

from .rewrites import Rewrite
from .signatures import Signature, widest


def buckets(seen: Sequence[Signature]) -> Optional[Rewrite]:
    """Code that pads what varies to powers of two; nothing where that does not halve the shapes that there were."""
    if len(seen) < 2:
        return None
    rows = [dict(one.arguments) for one in seen]
    lines, varied = [], []
    padded: List[List[Hashable]] = [[] for _ in seen]
    for name in rows[0]:
        shapes = [row[name].shape for row in rows if name in row]
        wide = widest(shapes)
        if len(shapes) < len(rows) or wide is None:
            return None
        if None in wide:
            pads = ["[0, 0]" if size is not None else _padding("%s.shape[%d]" % (name, axis))
                    for axis, size in enumerate(wide)]  # fmt: skip
            varied.append("`%s`" % name)
            lines.append("%s = tf.pad(%s, [%s])" % (name, name, ", ".join(pads)))
        for row, shape in zip(padded, shapes):
            row.append(tuple([_bucket(size) if open_ is None else size for size, open_ in zip(shape or (), wide)]))
    before, after = len(seen), len({tuple(row) for row in padded})
    if not lines or 2 * after > before:
        return None
    code = "\n".join([*lines[:-1], "%s  # %d builds become %d" % (lines[-1], before, after)])
    named = " and ".join(varied) if len(varied) < 3 else "what varies"
    return Rewrite(code, before, after, "pad %s to powers of two (%d builds become %d)" % (named, before, after))


def _bucket(size: Optional[int]) -> int:
    return 1 << ((size or 1) - 1).bit_length()


def _padding(size: str) -> str:
    return "[0, (1 << (%s - 1).bit_length()) - %s]" % (size, size)
