"""Which line of the user's code did it."""

import os
import sys
import tempfile
import types

import pytest

from tfmemwatch.ledger import site
from tfmemwatch.model import OTHER, UNKNOWN, Site

FRAMEWORK = "/env/lib/python3/site-packages/tensorflow/python/framework/ops.py"
KERAS = "/env/lib/python3/site-packages/keras/src/models/model.py"
LIBRARY = "/env/lib/python3/site-packages/some_library/training.py"
PROJECT = "/home-of-someone/project/train.py"
INNER = "/home-of-someone/project/layers.py"


def calling(file, function="call", line=7):
    """A function that stands in `file` at `line` and calls what it is given with the rest."""
    source = "\n" * (line - 2) + "def %s(first, *rest):\n    return first(*rest)\n" % function
    names = {}
    exec(compile(source, file, "exec"), names)
    return names[function]


def seen_from(*files, ask=site.here):
    """What a question asked at the end of a chain of calls through these files is answered."""
    calls = [calling(file) for file in files]
    return calls[0](*calls[1:], lambda: ask(sys._getframe(1)))


@pytest.mark.parametrize(
    "files, line",
    [
        ([PROJECT, FRAMEWORK], PROJECT),
        ([PROJECT, INNER, FRAMEWORK], INNER),
        ([PROJECT, KERAS, FRAMEWORK], PROJECT),
        ([PROJECT, LIBRARY, FRAMEWORK], PROJECT),
        ([PROJECT, LIBRARY, KERAS, INNER, KERAS, FRAMEWORK], INNER),
        ([PROJECT, "<frozen importlib._bootstrap>", FRAMEWORK], PROJECT),
        ([PROJECT, os.__file__, FRAMEWORK], PROJECT),
    ],
)
def test_the_site_is_the_innermost_line_of_the_project(files, line):
    """No TensorFlow, Keras, library or standard library is blamed while the project is there."""
    assert seen_from(*files) == Site(line, 7, "call")


def test_code_typed_into_a_notebook_or_a_prompt_is_the_users():
    """`<stdin>` and notebook cells are lines of the project."""
    assert seen_from(PROJECT, "<stdin>", FRAMEWORK).file == "<stdin>"
    assert seen_from(PROJECT, "<ipython-input-3-abc>", FRAMEWORK).file == "<ipython-input-3-abc>"


def chained(files):
    """The frame at the end of a chain of calls through these files, with nothing of this test around it."""
    frame = None
    for file in files:
        frame = Frame(file, frame)
    return frame


class Frame:
    """A frame as far as `site` looks at one."""

    def __init__(self, file, back):
        self.f_code = self
        self.co_filename, self.co_name = file, "call"
        self.f_lineno, self.f_back, self.f_locals = 7, back, {}


def test_a_library_is_named_where_the_project_is_not_on_the_stack():
    """In a worker thread that a library started, its innermost line is better than none."""
    outer = LIBRARY.replace("some_library", "another")
    assert site.here(chained([outer, LIBRARY, FRAMEWORK])) == Site(LIBRARY, 7, "call")


def test_nothing_is_named_where_only_frameworks_are_on_the_stack():
    """A thread of TensorFlow's own has no line of the user's, and is not given one."""
    assert site.here(chained([KERAS, FRAMEWORK])) is UNKNOWN


def test_a_stack_of_endless_recursion_is_not_walked_to_its_end():
    """The answer is near the top; a stack that is framework for hundreds of frames costs no more."""
    assert site.here(chained([PROJECT] + [FRAMEWORK] * 5000)) is UNKNOWN


def test_the_stack_has_the_users_lines_only_innermost_first():
    """`level='stacks'` shows who called it, without the machinery between."""
    rows = seen_from(PROJECT, KERAS, INNER, FRAMEWORK, ask=lambda frame: site.stack(frame, 2))
    assert [row.file for row in rows] == [INNER, PROJECT]


def test_the_stack_is_bounded():
    """However deep the program calls, a few lines are kept."""
    assert len(site.stack(chained([PROJECT] * 300))) == 8


def test_the_line_of_a_graph_operation_is_the_innermost_of_the_project():
    """The traceback that TensorFlow keeps with an operation is read by the same rule."""
    rows = [(PROJECT, 3, "main"), (INNER, 5, "build"), (LIBRARY, 6, "fit"), (FRAMEWORK, 9, "_create_op")]
    assert site.of_traceback(rows) == Site(INNER, 5, "build")
    assert site.of_traceback(rows[2:]) == Site(LIBRARY, 6, "fit")
    assert site.of_traceback(rows[3:]) is UNKNOWN


def test_the_files_remembered_are_bounded(monkeypatch):
    """A program that runs ever new generated files does not make the watch grow."""
    monkeypatch.setattr(site, "classes", {})
    monkeypatch.setattr(site, "_MOST_FILES", 10)
    classes = [site.is_project("/project/generated_%d.py" % number) for number in range(30)]
    assert classes == [True] * 30
    assert len(site.classes) == 10


def test_a_site_is_said_as_a_person_says_it():
    """`train.py:41 step()`, without the path."""
    assert Site("/a/b/train.py", 41, "step").short == "train.py:41 step()"
    assert Site("C:\\a\\train.py", 41, "<module>").short == "train.py:41 <module>"
    assert OTHER.short == "<other lines>"


def test_in_a_notebook_the_line_is_one_of_a_cell(monkeypatch):
    """`cell [3], line 5`: by the name of the file, or by the number that IPython has given it."""
    assert Site("<ipython-input-3-0a1b2c>", 5, "<module>").short == "cell [3], line 5"
    assert Site("<ipython-input-12-0a1b2c>", 5, "step").short == "cell [12], line 5 step()"
    compiler = types.SimpleNamespace(_filename_map={"/tmp/ipykernel_7/123.py": 4})
    shell = types.SimpleNamespace(_instance=types.SimpleNamespace(compile=compiler))
    module = types.SimpleNamespace(InteractiveShell=shell)
    monkeypatch.setitem(sys.modules, "IPython.core.interactiveshell", module)
    assert Site("/tmp/ipykernel_7/123.py", 5, "step").short == "cell [4], line 5 step()"
    assert Site("/tmp/ipykernel_7/456.py", 5, "step").short == "456.py:5 step()"


def test_a_program_with_a_temporary_name_is_the_users_own():
    """AutoGraph of TensorFlow 1.15 writes its copies as /tmp/tmp….py; a user's script may be called so, too."""
    file = os.path.join(tempfile.gettempdir(), "tmpabc123.py")
    namespace = {"here": site.here}
    exec(compile("def step():\n    return here()\n", file, "exec"), namespace)
    assert namespace["step"]() == (file, 2, "step")


class Converted(Frame):
    """A frame of AutoGraph's copy: what called it has the map back to the original."""

    def __init__(self, original, back):
        copy = "/tmp/__autograph_generated_file_%d.py" % abs(hash((original, "truth")))
        calls = Frame(FRAMEWORK, back)
        calls.co_name = "converted_call"
        origin = Frame(original, None)
        origin.filename, origin.lineno, origin.loc, origin.function_name = original, 21, origin, "original"
        at = Frame(copy, None)
        at.filename, at.lineno = copy, 7
        calls.f_locals = {"converted_f": type("F", (), {"ag_source_map": {at: origin}})}
        super().__init__(copy, calls)


def converted(*originals, outer=PROJECT):
    """The innermost frame of functions that AutoGraph has converted, called one by the other from `outer`."""
    frame = Frame(outer, None)
    for original in originals:
        frame = Converted(original, frame)
    return Frame(FRAMEWORK, frame)


@pytest.mark.parametrize("theirs", [LIBRARY, KERAS, FRAMEWORK])
def test_a_converted_copy_belongs_to_whoever_wrote_the_original(theirs):
    """The user's line is the one that called the library's, though AutoGraph runs a copy of that."""
    for _ in range(2):  # what is known of a copy is the same
        assert site.here(converted(theirs)) == Site(PROJECT, 7, "call")
        assert site.here(converted(INNER, theirs)) == Site(INNER, 21, "original")
    assert site.here(converted(theirs, INNER)) == Site(INNER, 21, "original")


def test_a_librarys_copy_is_named_by_its_original_where_no_line_is_the_users():
    """In a thread that a library started."""
    assert site.here(converted(LIBRARY, outer=FRAMEWORK)) == Site(LIBRARY, 21, "original")
