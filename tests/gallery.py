"""Writes the gallery of the documentation: runs its programs, and draws the page of each by way of Chromium.

make gallery
"""

import difflib
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
PROGRAMS = TREE / "examples" / "gallery"
PAGE = TREE / "docs" / "pages" / "gallery.md"
PICTURES = PAGE.parent / "pictures" / "gallery"
MARK = "  # leaks"
WIDE = 900
BELOW = "return Math.ceil(document.querySelector('%s').getBoundingClientRect().bottom) + 16"
SHOWN = {  # of a leak the headline and what is found; of a cured program the headline and memory
    False: "document.querySelector('#memory').remove(); " + BELOW % "#finding-1",
    True: BELOW % "#memory .panel",
}

Leak = namedtuple("Leak", "name kind title story cure")
GALLERY = (
    Leak(
        "python_float", "retrace", "A Python number as an argument",
        "A `tf.function` is traced for each Python number that it has not seen yet, and keeps the trace.",
        "A tensor is data: one trace serves all of them. `tf.constant(boost)` alone would be a smaller leak, which is\n"
        "found as well: TensorFlow keeps a scalar for each new Python number, and none for a NumPy one.",
    ),
    Leak(
        "new_function", "retrace", "A function made anew",
        "A partial function, a lambda or a bound method that is made for the call is another object each time.\n"
        "To a `tf.function` it is another argument.",
        "Make it once.",
    ),
    Leak(
        "models_in_a_loop", "model_rebuild", "A model for each trial",
        "The models die, and something of each stays: Keras 3 gives each layer a new name, and TensorFlow keeps a\n"
        "kernel for each new name of a variable.",
        "`clear_session()` lets names begin anew.",
    ),
    Leak(
        "snapshots", "variable", "A variable for each step",
        "The average is over the last ten. The list keeps all of them.",
        "Take out what is not looked at again.",
    ),
    Leak(
        "sessions", "session_unclosed", "A session for each user",
        "A session that is neither closed nor dropped keeps its variables, its executors and its copy of the graph.",
        "Close the oldest where there are more than a few.",
    ),
    Leak(
        "graph_in_a_loop", "graph_growth", "Operations added in the loop",
        "`assign()` makes operations. In TensorFlow 1 they stay in the graph, and the session takes them in at its\n"
        "next run: each step is slower than the one before.",
        "Make the operation before the loop, and feed what varies.",
    ),
    Leak(
        "losses", "live_tensors", "Losses in a list",
        "What is kept as a tensor is kept whole, here 200 kB for a point of a curve.",
        "Keep a number.",
    ),
    Leak(
        "predictions", "python_objects", "A cache without a bound",
        "New users come every day, and nobody takes the old ones out.",
        "Throw the oldest out.",
    ),
    Leak(
        "tape_around_the_loop", "tape", "A tape around the loop",
        "A tape holds all that was computed under it, until it ends. This one ends with the training.",
        "A tape belongs to one step. Two lines change places.",
    ),
    Leak(
        "iterators", "dataset_iterator", "An iterator for each client",
        "An iterator has threads, and buffers that are full whether somebody reads them or not.",
        "Keep as many as there are clients.",
    ),
    Leak(
        "growing_tensor", "live_tensors", "A tensor that others are appended to",
        "No list grows, and there is one tensor at any time. It is made anew in each step, with more in it.",
        "A window of it.",
    ),
    Leak(
        "filled_queue", "native_heap", "A queue that is not emptied",
        "No object of Python's holds these tensors: they are in a queue of TensorFlow's. What is seen is memory in\n"
        "use, and the operation that puts in more than another takes out.",
        "Read a file when the queue is empty.",
    ),
)  # fmt: skip
HEAD = """\
# Gallery

Twelve programs that leak, the page on which tfmemwatch names the line, what cures them, and the page after that.
Each runs as it stands, in seconds, and prints its report: `python examples/gallery/python_float.py`, in a checkout.
For the page, put `handle.report().save("leak.html")` at its end. The tests of tfmemwatch run all of them.

Two lines of each program are tfmemwatch's: `import tfmemwatch`, and `@tfmemwatch.watch` above what is one step of its
loop. A program that one would not change is watched by [`tfmemwatch run`](commands.md). What else leaks, kind by kind,
is in [Findings](findings.md).
"""
SECTION = """
## {title}

{story}

```python
{program}```

![The page: {kind} at {line}](pictures/gallery/{name}.png)

{cure}

```diff
{change}```

![The page of the cured program: nothing grows](pictures/gallery/{name}_cured.png)
"""


def names():
    """All programs: those that leak, each with its cure."""
    return [one.name + ending for one in GALLERY for ending in ("", "_cured")]


def program(name):
    """Its text."""
    return (PROGRAMS / (name + ".py")).read_text(encoding="utf-8")


def culprit(name):
    """The number of the line that leaks."""
    (line,) = [number for number, text in enumerate(program(name).splitlines(), 1) if MARK in text]
    return line


def change(name):
    """What the cure takes out and puts in, with the line before and after."""
    before = [line.partition(MARK)[0] for line in program(name).splitlines()]
    after = program(name + "_cured").splitlines()
    lines = list(difflib.unified_diff(before, after, n=1, lineterm=""))[3:]
    shown = [" ..." if line[:2] == "@@" else line for line in lines if line != " "]
    return "".join(line.rstrip() + "\n" for line in shown)


def page():
    """The page of the documentation."""
    return HEAD + "".join(map(section, GALLERY))


def section(leak):
    """What it shows of one."""
    line = "%s.py:%d" % (leak.name, culprit(leak.name))
    return SECTION.format(program=program(leak.name), change=change(leak.name), line=line, **leak._asdict())


def main():
    import browser as browsers
    from palette import with_palette

    PAGE.write_text(page(), encoding="utf-8")
    PICTURES.mkdir(parents=True, exist_ok=True)
    asked = sys.argv[1:] or names()
    with tempfile.TemporaryDirectory() as folder, browsers.started() as browser:
        run = [sys.executable, str(TREE / "tests" / "leaks" / "run_gallery.py"), "--pages", folder, *asked]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name in asked:
            browser.looks(WIDE, "light")
            browser.go((Path(folder) / (name + ".html")).as_uri())
            high = browser.run(SHOWN[name.endswith("_cured")])
            (PICTURES / (name + ".png")).write_bytes(with_palette(browser.picture(high)))


if __name__ == "__main__":
    main()
