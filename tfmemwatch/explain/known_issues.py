"""Leaks of TensorFlow and Keras that others have met: what they look like, where they hold, and what cures them.

The versions are those on which each was measured or reported: 1.15, 2.1, 2.9 to 2.16, 2.18 and 2.21.
"""

from __future__ import annotations

import re
import sys
from typing import List, NamedTuple, Optional, Tuple

Version = Tuple[int, int]
_FIRST, _LAST = (1, 15), (99, 0)
_ANY = (3, 0)
_PYTHON: Version = (sys.version_info[0], sys.version_info[1])


class Known(NamedTuple):
    """One leak that has been reported."""

    kind: str  # of the finding
    like: str  # a pattern in its cause, its reasons or the line itself
    issues: str
    what: str
    cure: str = ""  # where it is another than the finding's own
    since: Version = _FIRST
    until: Version = _LAST
    python: Version = _ANY  # the first on which it is known

    @property
    def span(self) -> str:
        """`TensorFlow 2.16 and later`, `TensorFlow up to 2.11`."""
        span = self._of_tensorflow
        return span if self.python == _ANY else "%s on Python %d.%d and later" % (span, *self.python)

    @property
    def _of_tensorflow(self) -> str:
        first, last = "%d.%d" % self.since, "%d.%d" % self.until
        if self.until != _LAST:
            return "TensorFlow %s to %s" % (first, last) if self.since != _FIRST else "TensorFlow up to %s" % last
        return "TensorFlow %s and later" % first if self.since != _FIRST else "all versions"


TABLE: Tuple[Known, ...] = (  # the most special first
    Known("cache", "compiled again for each new shape", "tf#64170, tf#81896",
          "the cache of XLA executables has no eviction", "Pad to a few bucket sizes.", since=(2, 1)),
    Known("cache", r"random op runs eagerly after", "tf#37252, tf#36164",
          "each call has an operation seed of its own, and the eager kernel cache is unbounded", since=(2, 1)),
    Known("cache", "new queue is made", "tf#2942", "the unique name of a queue is a new key of the kernel cache"),
    Known("cache", "lookup table", "", "tables live as long as the process, on every version", since=(2, 1)),
    Known("cache", "Python numbers are made into tensors", "tf#68196",
          "each new Python number is kept in the scalar cache", since=(2, 1)),
    Known("cache", r"save_weights|\.save\(", "tf#32234", "Keras 3 builds a throw-away optimizer for each save",
          "Use tf.train.Checkpoint or np.savez(model.get_weights()).", since=(2, 16)),
    Known("cache", "new optimizer is made", "tf#24047, keras#21090",
          "Keras 3 gives each variable a new name, and each new name leaves a kernel", since=(2, 16)),
    Known("cache", "variables are made here under a new name", "keras#21090",
          "the name of a variable is an attribute of its operations", since=(2, 15)),
    Known("cache", "py_function", "tf#35010", "the token of each eager py_function is a new key of the kernel cache",
          since=(2, 1)),
    Known("model_rebuild", "load_model|saved_model", "tf#40171", "functions of a SavedModel were registered twice",
          "Load once; newer versions release them.", until=(2, 9)),
    Known("model_rebuild", "load_model|load_weights", "tf#35524, tf#27511",
          "a loaded model has new variable names each time", "Load once, or call clear_session() after each load.",
          since=(2, 16)),
    Known("model_rebuild", "", "keras#2102, tf#30324",
          "clear_session() resets the names, but does not reach what tf.custom_gradient has registered (tf#80753)"),
    Known("graph_growth", "custom_gradient", "tf#97697, tf#27492, tf#80753",
          "the gradient registry is never emptied, and clear_session() does not reach it", since=(2, 15)),
    Known("retrace", r"compile\(\) runs in a loop", "keras#9151, tf#55398",
          "each compile() drops the train function, and the old graph stays in the gradient registry"),
    Known("retrace", r"bound method|a new (functools\.partial|lambda|function)", "tf#31175",
          "a callable that is made for each call is compared by identity", "Make it once, and pass that."),
    Known("retrace", "batch size|new size|number of dimensions", "tf#38561, tf#124972",
          "every new shape is a trace of its own, and all are kept"),
    Known("retrace", "new Python", "tf#38561", "Python values are compared by value, and each new value is a trace"),
    Known("session_unclosed", "", "tf#10013, tf#37960", "an open session keeps its executors, and on 1.15 its threads"),
    Known("graph_growth", "operations are added", "tf#15206, tf#31419, keras#2973",
          "operations made in a loop stay in the graph, and each run optimizes the graph again"),
    Known("variable", "added to a graph", "tf#20218", "a variable made in a loop stays in the graph"),
    Known("dataset_iterator", r"\.cache\(\)", "tf#27128, tf#30126", "cache() of an endless dataset grows for ever"),
    Known("dataset_iterator", "iterators are made", "tf#37653, tf#44176", "each iterator has buffers and threads"),
    Known("tape", "", "tf#32276, tf#45016", "a tape holds the inputs and outputs of its operations until it ends"),
    Known("live_tensors", "put into", "tf#34606", "a kept tensor keeps its buffer; under a tape it keeps more"),
    Known("python_objects", "summary writers", "tf#26684, tf#8265", "each writer has a thread and a file",
          "writer.close()"),
    Known("python_objects", "py_function|from_generator", "tf#37653",
          "a dataset of a generator registers functions that stay", "Build the dataset once."),
    Known("python_objects", "number of Python objects rises", "tf#62551",
          "each eager tensor leaves a block of 40 bytes behind", "Use TensorFlow 2.16 or later, or Python 3.10.",
          since=(2, 12), until=(2, 15), python=(3, 11)),
    Known("function_library", "", "tf#62854", "an object with a tf.function keeps the graph of each of its traces"),
    Known("native_heap", r"predict\(", "tf#44711, tf#33030", "predict() on NumPy arrays in a loop",
          "model(x, training=False)", since=(2, 10), until=(2, 14)),
    Known("native_heap", r"\.map\(|lambda", "tf#20436, tf#35152, tf#43969", "dataset functions made in each step",
          "Build the dataset once.", since=(2, 10), until=(2, 14)),
)  # fmt: skip


def known(kind: str, text: str, python: Version = _PYTHON) -> List[Known]:
    """The rows that look like this, the likeliest first."""
    rows = (row for row in TABLE if row.kind == kind and row.python <= python)
    return [row for row in rows if not row.like or re.search(row.like, text)]


def said(kind: str, text: str, version: Optional[Version], python: Version = _PYTHON) -> str:
    """What is known of a finding on this version; where it holds on others only, that it does."""
    rows = known(kind, text, python)
    if version is None or not rows:
        return ""
    here = [row for row in rows if row.since <= version <= row.until]
    rows = [row for row in rows if row.python == _ANY]
    if not here and not rows:
        return ""
    if not here:
        row = rows[0]
        return "Looks like %s (%s), which is known on %s and not on this one." % (row.issues, row.what, row.span)
    row = here[0]
    name = "Known as %s (%s): " % (row.issues, row.span) if row.issues else "Known (%s): " % row.span
    return name + row.what + "." + (" " + row.cure if row.cure else "")
