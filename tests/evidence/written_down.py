"""Evidence as it would be read, written down by hand: no TensorFlow, no heap, no clock."""

from tfmemwatch.evidence.census import Weight
from tfmemwatch.evidence.evidence import Collection, Evidence, Holding, Named, Pace, Questions, Reading
from tfmemwatch.evidence.operations import Operation, by_key
from tfmemwatch.holders.roots import Root
from tfmemwatch.holders.search import Way
from tfmemwatch.model import Site

LINE = Site("train.py", 7, "step")
OTHER = Site("train.py", 30, "fill")
STEPS = Pace(bytes_a_look=1000, bytes_in_all=96 * 1024, first_half=0.62)
CLOCK = Pace(bytes_a_look=0, bytes_in_all=768 * 1024, first_half=0.75)
MB = 1 << 20


def seen(grown=4 * MB, half=None, looks=112, by_clock=False, tensors=(100, 100, 100), blocks=0, ask=None, **more):
    """Evidence of memory that grows in a straight line; `half` is what it had grown by in the middle."""
    half = grown / 2 if half is None else half
    base = 100 * MB
    first = Reading(0, 0.0, base, 1000, tensors[0])
    middle = Reading(looks // 2, looks / 2, base + half, 1000 + blocks // 2, tensors[1])
    last = Reading(looks, float(looks), base + grown, 1000 + blocks, tensors[2])
    in_use = tuple(base + grown * look / looks for look in range(1, looks + 1))
    ask = dict({"tensors": lambda: tensors[2]}, **(ask or {}))
    evidence = Evidence(CLOCK if by_clock else STEPS, by_clock, looks, first, middle, last, in_use, window=32,
                        tensors_at_first=tensors[0], ask=Questions(**ask))  # fmt: skip
    return evidence._replace(**more)


def operation(name="MatMul", site=LINE, calls=32, output=0, kept=0, signatures=1, numbers=0, sizes=1, function=False,
              compiled=False):  # fmt: skip
    """What one operation did in a window."""
    return Operation(site, name, calls, output, kept, signatures, numbers, sizes, function, compiled)


def window(*pairs):
    """What was seen of operations: each as at the end of the window, and as in its middle."""
    return {"operations": tuple(row for row, _ in pairs), "first_half": by_key(half for _, half in pairs)}


def steadily(row):
    """It did half of it in the first half."""
    return row, row._replace(
        calls=row.calls // 2, output_bytes=row.output_bytes // 2, kept_bytes=row.kept_bytes // 2,
        signatures=max(1, row.signatures // 2), numbers=row.numbers // 2, sizes=max(1, row.sizes // 2),
    )  # fmt: skip


def way(thing):
    """A way to a thing with this id."""
    return Way(Root("train"), (thing,))


def collection(thing=1, grown=112, looks=104, climbs=None, goes_on=True, slows_down=False):
    """One that grows; by default at each look."""
    return Collection(thing, grown, looks, looks if climbs is None else climbs, goes_on, slows_down)


def holding(path="train.history", line=LINE, thing=1, **more):
    """It as the program knows it."""
    return Holding(path, line, way=way(thing), **more)


def weighing(each, tensors=0.0):
    """An item of a collection weighs so much."""
    return lambda thing: Weight(each, tensors)


def always(answer):
    """A question that is always answered so."""
    return lambda *asked: answer


def named(path, line=LINE):
    """A thing with a name."""
    return Named(path, line)
