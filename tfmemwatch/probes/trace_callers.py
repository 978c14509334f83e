"""Who has a function traced: the user's frame and the tf.function, far above the hook on the stack."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any, Dict, NamedTuple, Optional, Tuple

from ..ledger import site

_OWNER, _DATASET = "owner", "dataset"  # what a file of TensorFlow's stands for on the stack of a trace
_OWNERS = ("polymorphic_function.py", "def_function.py")
_DATASETS = ("structured_function.py", "dataset_ops.py")
_ASKS = "_maybe_define_function"  # what looks for a trace that fits, and has one made where there is none


class _Way(NamedTuple):
    """How far above the hook, with which code, some frames stood the last time."""

    asking: int
    asking_code: CodeType
    owner: int
    owner_code: CodeType
    entry: int  # where the user's line entered TensorFlow
    entry_code: CodeType


class Callers:
    """Finds them: by a walk, or where they stood the last time. Both are called two frames below the hook."""

    def __init__(self) -> None:
        self._roles: Dict[str, str] = {}  # by file, of TensorFlow and of libraries
        self._way: Optional[_Way] = None

    def walk(self, frame: Optional[FrameType]) -> Tuple[Optional[FrameType], Any, bool, Optional[FrameType]]:
        """The user's frame, the tf.function that is traced, whether it is one of a dataset, and what asks for it."""
        owner, of_dataset, asking = None, False, None
        owner_frame = below = None
        library: Any = None
        asking_at = owner_at = 0
        classes, roles = site.classes, self._roles
        left, at = site.DEEPEST, 2  # the hook, seen from `known`
        while frame is not None and left:
            code = frame.f_code
            file = code.co_filename
            kind = classes.get(file, -1)
            if kind < 0:
                kind = site.class_of(file)
            if kind == site.GENERATED:  # of a trace, which takes milliseconds
                kind = site.whose(frame)
            if kind in site.THEIRS:
                if asking is not None and owner_frame is not None and below is not None and not of_dataset:
                    self._way = _Way(asking_at, asking.f_code, owner_at, owner_frame.f_code, at - 1, below.f_code)
                return frame, owner, of_dataset, asking
            if kind != site.SKIP and library is None:
                library = (frame, owner, of_dataset, asking)
            role = roles.get(file)
            if role is None:
                role = roles[file] = _role(file)
            if role is _OWNER:
                if owner is None:
                    owner, owner_frame, owner_at = frame.f_locals.get("self"), frame, at
            elif role is _DATASET:
                of_dataset = True
            if asking is None and code.co_name == _ASKS:
                asking, asking_at = frame, at
            below, frame = frame, frame.f_back
            at += 1
            left -= 1
        return library or (None, owner, of_dataset, asking)

    def known(self) -> Optional[Tuple[FrameType, Any, bool, FrameType]]:
        """The same as `walk`, where the way is that of the last time: a walk makes an object of each step."""
        way = self._way
        if way is None:
            return None
        try:
            entry = sys._getframe(way.entry)
        except ValueError:  # the stack is not as deep
            return None
        asking, owner, user = sys._getframe(way.asking), sys._getframe(way.owner), entry.f_back
        is_same = entry.f_code is way.entry_code and asking.f_code is way.asking_code and owner.f_code is way.owner_code
        if not is_same or user is None or not site.is_plain(user.f_code, False):
            return None
        return user, owner.f_locals.get("self"), False, asking


def _role(file: str) -> str:
    if file.endswith(_OWNERS):
        return _OWNER
    return _DATASET if file.endswith(_DATASETS) else ""
