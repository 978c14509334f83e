"""Which line of the user's code did this."""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
import sysconfig
import tempfile
from types import CodeType, FrameType, GetSetDescriptorType, MemberDescriptorType
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple, Union

from ..model import UNKNOWN, Site

FRAMEWORKS = frozenset(
    "tensorflow tensorflow_core tensorflow_estimator tensorflow_intel keras tf_keras keras_core "
    "keras_preprocessing keras_applications wrapt tfmemwatch numpy".split()
)
PROJECT, LIBRARY, SKIP, GENERATED = 0, 1, 2, 3
THEIRS = (PROJECT, GENERATED)
_MARK = "__autograph_generated_file"
_TEMPORARY = re.compile(re.escape(tempfile.gettempdir() + os.sep) + r"tmp\w+\.py$")  # AutoGraph's in TensorFlow 1.15
DEEPEST = 400  # frames looked at; deeper stacks are recursion, and the answer is near the top
# Before Python 3.9 a relative path on sys.path makes relative file names.
_HOME = os.path.dirname(os.path.dirname(__file__))  # of this package
_OWN = (os.path.abspath(_HOME) + os.sep, _HOME + os.sep)
_LIBRARIES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_STDLIB = tuple(
    os.path.realpath(path) + os.sep
    for path in {
        sysconfig.get_paths()["stdlib"],
        sysconfig.get_paths()["platstdlib"],
        os.path.dirname(os.__file__),
    }
)


def _package(file: str) -> str:
    for mark in _LIBRARIES:
        if mark in file:
            return file.rsplit(mark, 1)[1].split(os.sep, 1)[0]
    return ""


def classify(file: str) -> int:
    """Whether a file is the user's project, a library of theirs, or machinery that they did not write."""
    if _MARK in file:
        return GENERATED
    if file.startswith("<"):
        return SKIP if file.startswith(("<frozen", "<__array")) else PROJECT
    if file.startswith(_OWN):
        return SKIP
    package = _package(file)
    if package:
        return SKIP if package.split(".", 1)[0] in FRAMEWORKS else LIBRARY
    if file.startswith(_STDLIB) or os.path.realpath(file).startswith(_STDLIB):
        return SKIP
    return PROJECT


classes: Dict[str, int] = {}  # by file name: grows with the files of the program, not with its events
REWRITTEN: Set[str] = set()  # files that are, or in TensorFlow 1.15 may be, AutoGraph's copy of the user's code
_MOST_FILES = 20000


def class_of(file: str) -> int:
    kind = classify(file)
    if len(classes) < _MOST_FILES:
        classes[file] = kind
        if kind == GENERATED or _TEMPORARY.match(file):
            REWRITTEN.add(file)
    return kind


def here(frame: Optional[FrameType] = None) -> Site:
    """The innermost line of the user's own code on this thread's stack."""
    found = user_frame(sys._getframe(1) if frame is None else frame)
    return UNKNOWN if found is None else of_frame(found)


def place(frame: Optional[FrameType], makes: bool = False) -> Union[Site, Tuple[CodeType, int]]:
    """The same as `here`, but for a hook: a code object and a line, which become a site when they are counted.

    What an object makes in its constructor is made by the line that makes the object, if `makes` is asked for.
    """
    found = user_frame(frame)
    if found is None:
        return UNKNOWN
    while makes and found.f_code.co_name == "__init__":
        outer = user_frame(found.f_back)
        if outer is None:
            break
        found = outer
    code = found.f_code
    if code.co_filename in REWRITTEN:
        return of_frame(found)
    return code, found.f_lineno


def is_plain(code: CodeType, makes: bool) -> bool:
    """Whether a frame of this code is surely a line of the user's project, and the one that is asked for."""
    file = code.co_filename
    return classes.get(file) == PROJECT and file not in REWRITTEN and not (makes and code.co_name == "__init__")


def user_frame(frame: Optional[FrameType]) -> Optional[FrameType]:
    """The innermost frame of the project; where there is none, of a library that uses TensorFlow."""
    library = None
    known = classes
    left = DEEPEST
    while frame is not None and left:
        file = frame.f_code.co_filename
        kind = known.get(file, -1)
        if kind < 0:
            kind = class_of(file)
        if kind in THEIRS:
            if kind == PROJECT:
                return frame
            kind = whose(frame)
            if kind == GENERATED:
                return frame
        if kind == LIBRARY and library is None:
            library = frame
        frame = frame.f_back
        left -= 1
    return library


_theirs: Set[str] = set()  # AutoGraph's copies of which it is known that the user wrote the original


def whose(frame: FrameType) -> int:
    """Whose code a frame of AutoGraph's copy runs: of whoever wrote the original. The copy is one function's."""
    file = frame.f_code.co_filename
    if file in _theirs:
        return GENERATED
    original = _original(frame)
    if original is None:
        return GENERATED
    kind = classify(original.file)
    if kind == PROJECT:
        if len(_theirs) < _MOST_FILES:
            _theirs.add(file)
        return GENERATED
    if file in classes:
        classes[file] = kind
    return kind


_FIRST_LINES: Dict[str, Dict[int, int]] = {}  # by file: of the calls that go over several lines


def first_line(file: str, line: int) -> int:
    """The line on which a call begins. Before Python 3.8 a frame stands at the last argument of one over several."""
    if sys.version_info >= (3, 8):
        return line
    lines = _FIRST_LINES.get(file)
    if lines is None:
        lines = _long_calls(file)
        if len(_FIRST_LINES) < _MOST_FILES:
            _FIRST_LINES[file] = lines
    return lines.get(line, line)


def _long_calls(file: str) -> Dict[int, int]:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return {}
    found: Dict[int, int] = {}
    for node in ast.walk(tree):  # the outer calls come first, so the innermost has the last word
        if isinstance(node, ast.Call):
            last = max(getattr(part, "lineno", node.lineno) for part in ast.walk(node))
            found.update((line, node.lineno) for line in range(node.lineno + 1, last + 1))
    return found


def of_frame(frame: FrameType) -> Site:
    """Where a frame stands, in the file that the user wrote."""
    code = frame.f_code
    original = _original(frame) if code.co_filename in REWRITTEN else None
    if original is None and _MARK in code.co_filename:
        return here(frame.f_back)
    return original or Site(code.co_filename, first_line(code.co_filename, frame.f_lineno), code.co_name)


def _original(frame: FrameType) -> Optional[Site]:
    """AutoGraph runs a rewritten copy; the map back hangs on the function that it was called through."""
    key = (frame.f_code.co_filename, frame.f_lineno)
    caller: Optional[FrameType] = frame
    for _ in range(40):
        caller = caller.f_back if caller is not None else None
        if caller is None:
            return None
        if caller.f_code.co_name not in ("converted_call", "_call_unconverted", "wrapper", "tf_convert"):
            continue
        origins = getattr(caller.f_locals.get("converted_f"), "ag_source_map", None)
        site = _mapped(origins, key) if origins else None
        if site is not None:
            return site
    return None


def _mapped(origins: Dict[Any, Any], key: Tuple[str, int]) -> Optional[Site]:
    for location, origin in origins.items():
        if (location.filename, location.lineno) == key:
            return Site(origin.loc.filename, origin.loc.lineno, origin.function_name or "<lambda>")
    return None


def stack(frame: Optional[FrameType] = None, most: int = 8) -> Tuple[Site, ...]:
    """The user's own lines on this thread's stack, innermost first."""
    found: List[Site] = []
    at = user_frame(sys._getframe(1) if frame is None else frame)
    while at is not None and len(found) < most:
        found.append(of_frame(at))
        at = user_frame(at.f_back)
    return tuple(found)


def of_traceback(lines: Iterable[Tuple[str, int, str]]) -> Site:
    """The innermost line of the user's code in (file, line, function) rows, outermost first."""
    library = UNKNOWN
    for file, line, function in reversed(list(lines)):
        kind = classes.get(file, -1)
        if kind < 0:
            kind = class_of(file)
        if kind == PROJECT:
            return Site(file, first_line(file, line), function)
        if kind == LIBRARY and library is UNKNOWN:
            library = Site(file, line, function)
    return library


def file_of(module: Any) -> str:
    """The file of a module, read without `getattr`: TensorFlow has modules that load themselves when they are asked."""
    file = attributes_of(module).get("__file__")
    return file if isinstance(file, str) else ""


NO_ATTRIBUTES: Dict[str, Any] = {}


def attributes_of(thing: Any) -> Dict[str, Any]:
    """Where an object keeps its attributes, asked past any code of its own; an empty dict where it has none."""
    for base in type.__dict__["__mro__"].__get__(type(thing)):
        member = type.__dict__["__dict__"].__get__(base).get("__dict__")
        if member is not None:
            if type(member) is not GetSetDescriptorType and type(member) is not MemberDescriptorType:
                return NO_ATTRIBUTES  # a property of the program's
            attributes = member.__get__(thing)
            return attributes if type(attributes) is dict else NO_ATTRIBUTES
    return NO_ATTRIBUTES


def is_a_name(key: str) -> bool:
    """Whether a key of a dict looks like a name in a program, and may be told; others may be anything."""
    return key.isidentifier() and len(key) <= 40


def is_users(module: Any, if_unknown: bool = False) -> bool:
    """Whether a module is the user's own, by its name."""
    if module == "__main__":
        return True
    found = sys.modules.get(module) if isinstance(module, str) else None
    if found is None:
        return if_unknown and not is_framework(module)
    file = file_of(found)
    return file != "" and is_project(file)


def is_framework(module: Any) -> bool:
    """Whether a module is TensorFlow's, Keras's or ours, by its name."""
    return str(module).split(".")[0] in FRAMEWORKS


def is_project(file: str) -> bool:
    """Whether a file is the user's own."""
    kind = classes.get(file, -1)
    return (class_of(file) if kind < 0 else kind) == PROJECT
