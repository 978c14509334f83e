"""A report from what `as_dict` made of it: whoever gets it from a file or a port shows it as they show a live one."""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import typing
from typing import Any, Dict, Mapping, Tuple

from ..reports import SCHEMA, Report


def report_from(data: Mapping[str, Any]) -> Report:
    """The report; ValueError where this is none. Names that are not known here are left out."""
    schema = data.get("schema")
    if not isinstance(schema, int) or schema > SCHEMA:
        raise ValueError("this report has schema %r, and %d is the newest that is known here" % (schema, SCHEMA))
    report = value_from(Report, data)
    assert isinstance(report, Report)
    return report


def value_from(kind: Any, data: Any) -> Any:
    """A plain value of a kind, as annotations write it: numbers, texts, tuples, mappings, named tuples of them."""
    origin: Any = getattr(kind, "__origin__", None)
    arguments: Tuple[Any, ...] = getattr(kind, "__args__", ())
    if kind is Any:
        return data
    if origin is typing.Union:
        return None if data is None else value_from(arguments[0], data)
    if origin in (tuple, collections.abc.Sequence):
        return tuple(value_from(arguments[0], one) for one in _a(data, (list, tuple), kind))
    if origin is collections.abc.Mapping:
        return {name: value_from(arguments[1], one) for name, one in _a(data, dict, kind).items()}
    if hasattr(kind, "_fields") or dataclasses.is_dataclass(kind):
        return _named(kind, _a(data, dict, kind))
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    return _a(data, kind, kind)


def _a(data: Any, kind: Any, asked: Any) -> Any:
    if not isinstance(data, kind) or (isinstance(data, bool) and kind is int):
        raise ValueError("%.60r stands where %s is to stand" % (data, asked))
    return data


def _named(kind: Any, data: Mapping[str, Any]) -> Any:
    """Where a number was infinite, and so none of JSON's, the field's default stands for it, or infinity."""
    hints = _hints(kind)
    values: Dict[str, Any] = {}
    for name, hint in hints.items():
        if name not in data:
            continue
        if data[name] is None and hint is float:
            values[name] = getattr(kind, "_field_defaults", {}).get(name, float("inf"))
        else:
            values[name] = value_from(hint, data[name])
    try:
        return kind(**values)
    except TypeError as error:
        raise ValueError(str(error)) from None


@functools.lru_cache(maxsize=None)
def _hints(kind: Any) -> Dict[str, Any]:
    names = kind._fields if hasattr(kind, "_fields") else [field.name for field in dataclasses.fields(kind)]
    hints = typing.get_type_hints(kind)
    return {name: hints[name] for name in names}
