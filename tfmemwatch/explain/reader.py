"""What a tf.function is called with, as plain values: read from TensorFlow's own types, or from the arguments.

Runs in the program's own thread, before each trace. Nothing of the program is compared, hashed or printed, but
values of Python's own types; no object is kept alive.
"""

from __future__ import annotations

import enum
import types
import weakref
from typing import Any, Callable, Dict, Hashable, List, Mapping, Optional, Tuple

from ..ledger.site import NO_ATTRIBUTES, attributes_of, is_a_name
from .signatures import NAN, Node, Shape

_MOST_NODES = 256  # of one trace; what comes after them is not told apart
_MOST_SHOWN = 80  # characters of a value
_MOST_ATTRIBUTES = 16
# Classes are told apart by their ids: a metaclass may hash in Python.
_VALUES = frozenset(map(id, (bool, int, float, complex, str, bytes, type(None), range, slice)))
HASHED = frozenset(map(id, (bool, int, float, complex, str, bytes, type(None), range)))
_OPEN = Node("value", "…")


class Reader:
    """Makes nodes of one trace's arguments, as many as are allowed."""

    __slots__ = ("_left", "_shows")

    def __init__(self, shows: bool) -> None:
        self._shows = shows  # whether values may be told
        self._left = _MOST_NODES

    # -- TensorFlow's own types

    def of_type(self, kind: Any) -> Node:
        """The node of a trace type."""
        self._left -= 1
        if self._left < 0:
            return _OPEN
        read = _TYPES.get(type(kind).__name__)
        return read(self, kind) if read is not None else self._spec(kind)

    def _tensor(self, spec: Any) -> Node:
        return Node("tensor", spec.dtype.name, dims(spec.shape))

    def _variable(self, spec: Any) -> Node:
        token = (spec.trainable, spec.alias_id)
        return Node("tensor", spec.dtype.name, dims(spec.shape), token, "variable")

    def _literal(self, literal: Any) -> Node:
        return self.of_value(literal.value)

    def _weakref(self, kind: Any) -> Node:
        return self._object(kind._ref(), kind._ref)

    def _tuple(self, kind: Any) -> Node:
        return Node("tuple", "tuple", parts=self._types(kind.components))

    def _list(self, kind: Any) -> Node:
        return Node("list", "list", parts=self._types(kind.components_tuple.components))

    def _named(self, kind: Any) -> Node:
        steps = ["." + name for name in kind.attribute_names]
        return Node("fields", kind.type_name, parts=self._types(kind.attributes.components, steps))

    def _attrs(self, kind: Any) -> Node:
        return self._named(kind.named_attributes)._replace(kind="custom")

    def _dict(self, kind: Any) -> Node:
        return self._mapping(kind.mapping, self.of_type)

    def _custom(self, kind: Any) -> Node:
        return Node("custom", kind.value_type.__name__, parts=self._types(kind.components))

    def _spec(self, spec: Any) -> Node:
        """A composite tensor's, an iterator's, or a type that the program has defined."""
        name = type(spec).__name__
        is_known = type(spec).__module__.split(".")[0] in ("tensorflow", "tensorflow_core")
        if not is_known:
            if any(base.__name__ == "ExtensionTypeSpec" for base in type(spec).__mro__):
                return Node("spec", type(spec).__qualname__, parts=self._fields(spec))
            return Node("spec", name)  # what it compares by is its own affair
        element = getattr(spec, "_element_spec", None)
        parts = (("", self._element(element)),) if element is not None else ()
        shape = getattr(spec, "_shape", None)
        dtype = getattr(getattr(spec, "_dtype", None), "name", "")
        return Node("spec", (dtype + " " if dtype else "") + name, dims(shape), hash(spec), parts=parts)

    def _fields(self, spec: Any) -> Tuple[Tuple[str, Node], ...]:
        """Those of an extension type that the program has defined: specs, and Python values."""
        rows = [(name, value) for name, value in attributes_of(spec).items() if not name.startswith("_")]
        return self._each([value for _, value in rows], self._field, ["." + name for name, _ in rows])

    def _field(self, value: Any) -> Node:
        is_spec = any(base.__name__ == "TypeSpec" for base in type(value).__mro__)
        return self.of_type(value) if is_spec else self.of_value(value)

    def _element(self, element: Any) -> Node:
        """The structure of what a dataset gives: plain collections of specs."""
        if type(element) is dict:
            return self._mapping(element, self._element)
        if isinstance(element, (tuple, list)):
            return Node("tuple", "tuple", parts=self._each(element, self._element))
        return self.of_type(element)

    def _types(self, components: Any, steps: Optional[List[str]] = None) -> Tuple[Tuple[str, Node], ...]:
        return self._each(components, self.of_type, steps)

    def _each(
        self, items: Any, read: Callable[[Any], Node], steps: Optional[List[str]] = None
    ) -> Tuple[Tuple[str, Node], ...]:
        found = []
        for index, item in enumerate(items):
            if self._left <= 0:
                break
            found.append((steps[index] if steps is not None else "[%d]" % index, read(item)))
        return tuple(found)

    def _mapping(self, mapping: Mapping[Any, Any], read: Callable[[Any], Node]) -> Node:
        rows = []
        for key, value in mapping.items():
            if self._left <= 0:
                break
            rows.append((_step(key), read(value)))
        if all(type(key) is str for key in mapping):
            rows.sort(key=_first)  # TensorFlow does not mind their order
        return Node("dict", "dict", token=len(mapping), parts=tuple(rows))

    # -- the arguments themselves, where TensorFlow has no types for them

    def of_value(self, value: Any) -> Node:
        """The node of an argument."""
        self._left -= 1
        if self._left < 0:
            return _OPEN
        kind = type(value)
        if id(kind) in _VALUES:
            shown = _shown(value) if self._shows else ""
            return Node("value", kind.__name__, token=_token(value), shown=shown)
        if kind is tuple or kind is list:
            return Node(kind.__name__, kind.__name__, parts=self._each(value, self.of_value))
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            steps = ["." + str(name) for name in kind._fields]
            return Node("fields", kind.__name__, parts=self._each(tuple.__iter__(value), self.of_value, steps))
        if issubclass(kind, list):
            return Node("list", "list", parts=self._each(list.__iter__(value), self.of_value))
        if issubclass(kind, dict):
            return self._mapping(dict(dict.items(value)), self.of_value)
        names = {base.__name__ for base in kind.__mro__ if base.__module__.split(".")[0] in _LIBRARIES}
        if "ndarray" in names:
            return Node("tensor", str(value.dtype), tuple(value.shape))
        if "generic" in names:
            return Node("value", kind.__name__, token=(kind.__name__, value.tobytes()))
        if "BaseResourceVariable" in names or "Variable" in names:
            return Node("object", "variable", token=weakref.ref(value))
        if "Tensor" in names or "TensorSpec" in names:
            return Node("tensor", value.dtype.base_dtype.name, dims(value.shape))
        if "TypeSpec" in names:
            return self._spec(value)
        if "CompositeTensor" in names:
            return Node("spec", kind.__name__, dims(getattr(value, "shape", None)))
        try:
            token: Hashable = weakref.ref(value)
        except TypeError:
            token = id(value)
        return self._object(value, token)

    def _object(self, thing: Any, ref: Hashable) -> Node:
        """What is known by its identity."""
        kind = type(thing)
        if thing is None:
            return Node("object", "object", token=ref)
        if kind is types.FunctionType:
            code = thing.__code__
            name = "lambda" if code.co_name == "<lambda>" else "function %s" % code.co_name
            return Node("function", name, token=ref, like=code.co_filename)
        if kind is types.MethodType:
            name = getattr(thing.__func__, "__name__", "")
            owner = type(thing.__self__).__name__
            return Node("method", "method %s.%s" % (owner, name), token=ref, like=id(thing.__self__))
        if kind.__name__ == "partial" and kind.__module__ == "functools":
            name = getattr(thing.func, "__name__", type(thing.func).__name__)
            return Node("partial", "functools.partial of %s" % name, token=ref)
        fixed = _fixed_name(thing, kind)
        if fixed is not None:
            return Node("value", kind.__name__, token=(kind.__name__, fixed), shown=fixed if self._shows else "")
        attributes = attributes_of(thing)
        precision = _precision(attributes)
        like = _content(attributes) if _is_plain(kind) else None
        return Node("object", kind.__name__, token=ref, like=like, precision=precision)


_LIBRARIES = frozenset(("tensorflow", "tensorflow_core", "numpy", "keras", "tf_keras"))
_TYPES: Dict[str, Callable[[Reader, Any], Node]] = {
    "TensorSpec": Reader._tensor,
    "BoundedTensorSpec": Reader._tensor,
    "VariableSpec": Reader._variable,
    "Literal": Reader._literal,
    "Weakref": Reader._weakref,
    "Tuple": Reader._tuple,
    "List": Reader._list,
    "NamedTuple": Reader._named,
    "Attrs": Reader._attrs,
    "Dict": Reader._dict,
    "CustomNestTraceType": Reader._custom,
}


def _first(row: Tuple[str, Node]) -> str:
    return row[0]


def _step(key: Any) -> str:
    """`["x"]`, if the key looks like a name in a program; else what it is without what it says."""
    if type(key) is str:
        return '["%s"]' % key if is_a_name(key) else "[…%04x]" % (hash(key) & 0xFFFF)
    if type(key) is int and -1000 < key < 1000:
        return "[%d]" % key
    return "[%s]" % type(key).__name__


def dims(shape: Any) -> Shape:
    """The sizes of a TensorShape, None where its rank is unknown."""
    if shape is None:
        return None
    sizes = getattr(shape, "_dims", None)
    if sizes is None:
        return tuple(shape) if type(shape) is tuple else None
    if type(sizes) is tuple:
        return sizes
    return tuple([getattr(size, "value", size) for size in sizes])  # TensorFlow 1.15 has an object for each


def _token(value: Any) -> Hashable:
    kind = type(value)
    if kind is float and value != value:
        return NAN
    return (kind.__name__, hash(value)) if id(kind) in HASHED else (kind.__name__, id(value))


def _shown(value: Any) -> str:
    """A short form of a value of one of Python's own types."""
    if type(value) is int and value.bit_length() > 256:
        return ""
    text = repr(value[:_MOST_SHOWN]) if type(value) in (str, bytes) else repr(value)
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"


def _precision(attributes: Dict[str, Any]) -> str:
    """What a layer of Keras computes in: `mixed_float16`."""
    name = attributes_of(attributes.get("_dtype_policy")).get("_name")
    return name if type(name) is str and len(name) <= _MOST_SHOWN else ""


class _Plain:
    """An object that keeps all it has in its attributes."""


def _is_plain(kind: type) -> bool:
    """Whether objects of a class are like that: no slots, and no number, text or native object inside."""
    return (
        kind.__basicsize__ <= _Plain.__basicsize__
        and not kind.__itemsize__
        and not any(base.__dict__.get("__slots__") for base in kind.__mro__)
    )


def _fixed_name(thing: Any, kind: type) -> Optional[str]:
    """Of what is never made anew, but chosen: a member of an enum, a dtype, a class, a module."""
    if issubclass(kind, enum.Enum):
        name = attributes_of(thing).get("_name_")
    elif kind.__module__.split(".")[0] in _LIBRARIES and kind.__name__.endswith("DType"):
        name = thing.name
    elif issubclass(kind, type) or kind is types.ModuleType:
        name = "%s at %d" % (attributes_of(thing).get("__name__", kind.__name__), id(thing))
    else:
        return None
    return name if type(name) is str else None


def _content(attributes: Dict[str, Any]) -> Hashable:
    """The attributes of an object, where all are values of Python's own types."""
    if attributes is NO_ATTRIBUTES or len(attributes) > _MOST_ATTRIBUTES:
        return None
    values = list(attributes.items())
    if not all(type(name) is str and id(type(value)) in HASHED for name, value in values):
        return None
    return tuple(sorted((name, _token(value)) for name, value in values))
