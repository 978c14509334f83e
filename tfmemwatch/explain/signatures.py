"""What a tf.function was traced for, as plain values; and in what two traces differ. Knows no TensorFlow."""

from __future__ import annotations

import weakref
from typing import Any, Callable, Dict, Hashable, Iterable, List, NamedTuple, Optional, Sequence, Tuple

NAN = ("float", "NaN")  # which is not equal to itself, nor has always the same hash
Shape = Optional[Tuple[Optional[int], ...]]  # None where not even the rank is known


class Node(NamedTuple):
    """One argument, or a part of one.

    Never compared as a whole: a weak reference that is compared compares what it refers to.
    """

    kind: str  # tensor, value, object, function, method, partial, list, tuple, dict, fields, custom, spec
    what: str = ""  # the dtype of a tensor, the type of a value, the class of an object
    shape: Shape = None
    token: Hashable = None  # of a value its type and hash; of an object a weak reference, or its id
    like: Hashable = None  # the same for objects of the same content, where that can be seen
    shown: str = ""  # a value, where that is allowed
    parts: Tuple[Tuple[str, Any], ...] = ()  # of a collection: the step to each of its nodes, and the node
    precision: str = ""  # of a layer of Keras

    @property
    def spoken(self) -> str:
        """`float32[None, 16]`, `Python float 0.1`, `list of 3`."""
        if self.kind == "tensor":
            return self.what + shape_of(self.shape)
        if self.kind == "spec":
            return self.what + (shape_of(self.shape) if self.shape is not None else "")
        if self.kind == "value":
            return "Python %s%s" % (self.what, " " + self.shown if self.shown else "")
        if self.kind in _COLLECTIONS:
            return "%s of %d" % (self.what, len(self.parts))
        gone = isinstance(self.token, weakref.ref) and self.token() is None
        precision = " (%s)" % self.precision if self.precision else ""
        return "a %s%s%s" % (self.what, precision, " that is gone" if gone else "")


_COLLECTIONS = frozenset("list tuple dict fields custom".split())
_OBJECTS = frozenset("object function method partial".split())


class Signature(NamedTuple):
    """What one trace was made for."""

    arguments: Tuple[Tuple[str, Node], ...]
    context: Tuple[Tuple[str, Hashable], ...] = ()


class Difference(NamedTuple):
    """One way in which two traces differ."""

    path: str  # `batch["x"][1]`; nothing where no argument differs
    cause: str  # a key of CAUSES
    what: str = ""
    old: str = ""
    new: str = ""

    @property
    def key(self) -> Tuple[str, str, str]:
        """What two differences have in common that are told as one."""
        return (self.path, self.cause, self.what)

    def said(self, times: int = 1) -> str:
        """As a person would say it, of a thing that has happened so often."""
        words = CAUSES[self.cause]
        text = words % self.what if "%s" in words else words
        if times > 1 and self.cause in _EACH_TIME:
            text += " each time"
        return "`%s` %s" % (self.path, text) if self.path else text

    @property
    def example(self) -> str:
        """`x: float32[32, 16] → float32[7, 16]`; nothing where it would say no more."""
        if self.old == self.new:
            return ""
        return "%s%s → %s" % (self.path + ": " if self.path else "", self.old or "nothing", self.new or "nothing")


CAUSES: Dict[str, str] = {
    "batch": "a new batch size",
    "size": "a new size in dimension %s",
    "rank": "another number of dimensions",
    "dtype": "another dtype",
    "value": "a new Python %s",
    "switch": "the other bool",
    "nan": "a NaN, which this TensorFlow takes for a new value",
    "type": "another type: %s",
    "none": "None in one call and not in the other",
    "object": "a new %s object",
    "precision": "a new %s object of another precision",
    "copy": "a new %s object of the same content",
    "function": "a new %s",
    "method": "a bound method, which is a new object at each access",
    "partial": "a new %s",
    "variable": "a variable in one call and a tensor in the other",
    "trainable": "trainable in one call and not in the other",
    "alias": "the same variable as another argument, or no longer",
    "length": "another number of items",
    "keys": "other keys",
    "class": "another class: %s",
    "spec": "another %s",
    "unseen": "a %s that TensorFlow takes for another one",
    "given": "given, and not before",
    "left out": "left out, and given before",
    "count": "another number of arguments",
    "captured": "a captured value that has changed",
    "graph": "called inside another graph",
    "device": "called under another device",
    "colocation": "called under another colocation",
    "strategy": "called under another distribution strategy",
    "replica": "called in another replica context",
    "policy": "saved with another variable policy",
    "scope": "traced again after its variables were made",
    "xla": "called in another XLA context",
    "context": "called in another context",
    "nothing": "no difference that can be seen in its arguments",
}
_EACH_TIME = frozenset("value object precision copy function partial".split())


def widest(shapes: Sequence[Shape]) -> Shape:
    """The shape into which all of them fit, with None where they differ."""
    first = shapes[0]
    if first is None or any(shape is None or len(shape) != len(first) for shape in shapes):
        return None
    known = [shape for shape in shapes if shape is not None]
    return tuple(size if all(shape[axis] == size for shape in known) else None for axis, size in enumerate(first))


def shape_of(shape: Shape) -> str:
    """`[None, 16]`; `[?]` where not even the rank is known."""
    return "[?]" if shape is None else "[%s]" % ", ".join(map(str, shape))


def nearest(new: Signature, earlier: Iterable[Signature]) -> List[Difference]:
    """In what a trace differs from that of the earlier ones which is most like it; the first of two alike."""
    best: Optional[List[Difference]] = None
    least = (0, 0)
    for old in earlier:
        found = differences(old, new)
        weight = (len(found), sum(one.cause in _COARSE for one in found))
        if best is None or weight < least:
            best, least = found, weight
            if least == (1, 0):
                break
    return best if best is not None else []


_COARSE = frozenset("type class none nothing unseen rank dtype".split())  # where another trace may well be nearer


def differences(old: Signature, new: Signature) -> List[Difference]:
    """In what the later trace differs from the earlier one, the arguments first."""
    found: List[Difference] = []
    unseen: List[Difference] = []
    before, after = dict(old.arguments), dict(new.arguments)
    for name, node in new.arguments:
        if name in before:
            _compare(name, before[name], node, found, unseen)
    _presence(before, after, found)
    contexts = dict(old.context)
    for name, token in new.context:
        if contexts.get(name, token) != token:
            found.append(Difference("", name, old=_word(contexts.get(name)), new=_word(token)))
    if not found:
        found = unseen or [Difference("", "nothing")]
    return found


def _word(token: Hashable) -> str:
    return token if type(token) is str else ""


def _presence(before: Dict[str, Node], after: Dict[str, Node], found: List[Difference]) -> None:
    """Arguments that only one of the two traces has; those of a `*rest` are one, whose number differs."""
    given = [name for name in after if name not in before]
    missing = [name for name in before if name not in after]
    stems = {_stem(name) for name in given + missing}
    if len(stems) == 1 and None not in stems:
        (stem,) = stems
        count = [sum(_stem(name) == stem for name in names) for names in (before, after)]
        found.append(Difference("*%s" % stem, "count", "", str(count[0]), str(count[1])))
        return
    found.extend(Difference(name, "given", "", "", after[name].spoken) for name in given)
    found.extend(Difference(name, "left out", "", before[name].spoken, "") for name in missing)


def _stem(name: str) -> Optional[str]:
    stem, _, number = name.rpartition("_")
    return stem if stem and number.isdigit() else None


def _compare(path: str, old: Node, new: Node, found: List[Difference], unseen: List[Difference]) -> None:
    if old is new:
        return
    if old.kind != new.kind:
        is_none = "NoneType" in (old.what, new.what)
        cause = Difference(path, "none" if is_none else "type", "" if is_none else _word_for(old, new))
        found.append(cause._replace(old=old.spoken, new=new.spoken))
        return
    _COMPARE[new.kind](path, old, new, found, unseen)


def _word_for(old: Node, new: Node) -> str:
    return "%s, before %s" % (_plain(new), _plain(old))


def _plain(node: Node) -> str:
    return {"tensor": "a tensor", "value": "a Python " + node.what}.get(node.kind, "a " + node.what)


def _compare_tensors(path: str, old: Node, new: Node, found: List[Difference], unseen: List[Difference]) -> None:
    told = Difference(path, "", "", old.spoken, new.spoken)
    if old.what != new.what:
        found.append(told._replace(cause="dtype"))
    if is_within(new.shape, old.shape):
        if old.token != new.token and old.what == new.what:
            found.append(told._replace(cause=_variable_cause(old.token, new.token)))
        return
    if old.shape is None or new.shape is None or len(old.shape) != len(new.shape):
        found.append(told._replace(cause="rank"))
        return
    axes = [axis for axis, size in enumerate(old.shape) if size is not None and size != new.shape[axis]]
    if axes == [0] and len(new.shape) > 1:
        found.append(told._replace(cause="batch"))
    else:
        found.append(told._replace(cause="size", what=" and ".join(map(str, axes))))


def _variable_cause(old: Any, new: Any) -> str:
    if old is None or new is None:
        return "variable"
    return "trainable" if old[0] != new[0] else "alias"


def is_within(shape: Shape, wider: Shape) -> bool:
    """Whether a tensor of the one shape may go where the other is expected."""
    if wider is None:
        return True
    if shape is None or len(shape) != len(wider):
        return False
    return all(most is None or most == size for size, most in zip(shape, wider))


def _compare_values(path: str, old: Node, new: Node, found: List[Difference], unseen: List[Difference]) -> None:
    told = Difference(path, "", "", old.spoken, new.spoken)
    if old.what != new.what:
        is_none = "NoneType" in (old.what, new.what)
        word = "" if is_none else _word_for(old, new)
        found.append(told._replace(cause="none" if is_none else "type", what=word))
    elif old.token != new.token:
        found.append(told._replace(cause="switch" if new.what == "bool" else "value", what=new.what))
    elif new.token == NAN:
        unseen.append(told._replace(cause="nan"))


def _is_same(old: Node, new: Node) -> bool:
    """Whether it is the same object; one that has died is the same as none."""
    if isinstance(old.token, weakref.ref):
        return old.token is new.token and old.token() is not None
    return type(old.token) is type(new.token) and old.token == new.token


def _compare_objects(path: str, old: Node, new: Node, found: List[Difference], unseen: List[Difference]) -> None:
    if old.what != new.what and new.kind == "object":
        found.append(Difference(path, "class", _word_for(old, new), old.spoken, new.spoken))
        return
    if _is_same(old, new) and (new.kind != "method" or old.like == new.like):
        return
    told = Difference(path, new.kind, new.what, old.spoken, new.spoken)
    if new.kind == "object" and new.like is not None and old.like == new.like:
        told = told._replace(cause="copy")
    elif old.precision != new.precision:
        told = told._replace(cause="precision")
    found.append(told)


def _compare_specs(path: str, old: Node, new: Node, found: List[Difference], unseen: List[Difference]) -> None:
    told = Difference(path, "spec", new.what, old.spoken, new.spoken)
    if old.what != new.what:
        found.append(told._replace(cause="class", what=_word_for(old, new)))
        return
    before = len(found)
    _compare_parts(path, old, new, found, unseen)
    if len(found) > before:
        return
    if not is_within(new.shape, old.shape):
        _compare_tensors(path, old, new, found, unseen)
    elif new.token is None or old.token is None:
        unseen.append(told._replace(cause="unseen"))
    elif old.token != new.token:
        found.append(told)


def _compare_collections(path: str, old: Node, new: Node, found: List[Difference], unseen: List[Difference]) -> None:
    if old.what != new.what:
        found.append(Difference(path, "class", _word_for(old, new), old.spoken, new.spoken))
    elif new.kind == "dict" and [step for step, _ in old.parts] != [step for step, _ in new.parts]:
        found.append(Difference(path, "keys", "", old.spoken, new.spoken))
    elif len(old.parts) != len(new.parts):
        found.append(Difference(path, "length", "", old.spoken, new.spoken))
    else:
        _compare_parts(path, old, new, found, unseen)
        if old.token != new.token:  # there is more in it than was looked at
            unseen.append(Difference(path, "unseen", new.what, old.spoken, new.spoken))


def _compare_parts(path: str, old: Node, new: Node, found: List[Difference], unseen: List[Difference]) -> None:
    for (step, before), (_, after) in zip(old.parts, new.parts):
        _compare(path + step, before, after, found, unseen)


_Compare = Callable[[str, Node, Node, List[Difference], List[Difference]], None]
_COMPARE: Dict[str, _Compare] = {"tensor": _compare_tensors, "value": _compare_values, "spec": _compare_specs}
_COMPARE.update((kind, _compare_objects) for kind in _OBJECTS)
_COMPARE.update((kind, _compare_collections) for kind in _COLLECTIONS)


def leaves(arguments: Sequence[Tuple[str, Node]]) -> List[Tuple[str, Node]]:
    """All that is no collection, with its path."""
    found: List[Tuple[str, Node]] = []
    for path, node in arguments:
        if node.kind in _COLLECTIONS:
            found.extend(leaves([(path + step, part) for step, part in node.parts]))
        else:
            found.append((path, node))
    return found


def key_of(node: Node) -> Hashable:
    """The same for nodes that are the same to TensorFlow; asks nothing of the program's objects."""
    token = id(node.token) if isinstance(node.token, weakref.ref) else node.token
    return (node.kind, node.what, node.shape, token, tuple((step, key_of(part)) for step, part in node.parts))
