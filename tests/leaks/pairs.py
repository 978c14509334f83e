"""What a pair is: one setup, a step that leaks and its cure; and which of them there are."""

import ast
import inspect
import re
from collections import namedtuple
from pathlib import Path

FOLDER = Path(__file__).resolve().parent

# Eager execution is for ever switched on or off in a process: all modules of one mode share one.
MODES = {
    "eager": "functions variables models held bounded caches datasets python_objects innocent".split(),
    "graph": "graphs sessions innocent_graphs".split(),
}

# Steps until a leak must have its name, by how it is seen.
COUNTED = 40  # an exact count grows by one a step
KEPT = 48  # as above; then the collection that keeps these things is looked for
OPERATIONS = 100  # memory rises; then the attributes and numbers that operations are given are watched
HOLDERS = 180  # memory rises; then collections and tapes are watched, over a longer while
BOUNDABLE = 300  # the same, where some line takes things out: then it is watched for twice as long
UNNAMED = 600  # no collection holds it: then two inquiries must see it, and a jump in one costs a third

SILENT = 700  # that what has a bound of some hundreds runs: while it fills, and when it is full

Claim = namedtuple("Claim", "kind steps needs silent culprit")
Case = namedtuple("Case", "mode module name is_pair issues")


def leak(kind, steps=COUNTED, needs=(), silent=None, culprit=None):
    """This class is a pair: `leaky` is named, by its kind and its line, within so many steps; `cured` is not.

    `silent`: for how many steps it is not, where they are others. `culprit`: where the line is, if not in the pair.
    """

    def claimed(pair):
        pair.claim = Claim(kind, steps, needs, silent or steps, culprit or pair)
        return pair

    return claimed


def bounded(kind, steps, needs=(), culprit=None):
    """A pair whose cure is a bound."""
    return leak(kind, steps, needs, SILENT, culprit)


def innocent(steps, needs=()):
    """This class has one step, `cured`, that looks like a leak and is none."""
    return leak("", steps, needs)


def cases():
    """All pairs and innocents, in the order of their files; read, not imported: that would load TensorFlow."""
    for mode, modules in MODES.items():
        for module in modules:
            tree = ast.parse((FOLDER / (module + ".py")).read_text(encoding="utf-8"))
            for node in tree.body:
                marks = [mark.func.id for mark in getattr(node, "decorator_list", ()) if isinstance(mark, ast.Call)]
                if {"leak", "bounded", "innocent"} & set(marks):
                    issues = re.findall(r"\w+#\d+", ast.get_docstring(node) or "")
                    yield Case(mode, module, node.name, "innocent" not in marks, tuple(issues))


def culprit(pair):
    """`file.py:7`, of the line in a pair that ends in CULPRIT."""
    lines, first = inspect.getsourcelines(pair)
    (found,) = [number for number, line in enumerate(lines, first) if line.rstrip().endswith("# CULPRIT")]
    return "%s:%d" % (Path(inspect.getsourcefile(pair)).name, found)
