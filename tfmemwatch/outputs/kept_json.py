"""Reports that follow each other, as JSON: what has not changed since the one before is not written again."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Dict, Hashable, Iterable, List, Optional, Tuple

from ..reports import SCHEMA, Moment, Report, plain

_FIELDS = tuple(field.name for field in dataclasses.fields(Report) if field.name != "history")
_written = json.JSONEncoder(allow_nan=False).encode


class KeptJson:
    """`Report.as_dict()` as text. It keeps the text of the last report, part by part and row by row."""

    def __init__(self) -> None:
        self._parts: Dict[str, Tuple[Any, str]] = {}
        self._rows: Dict[str, Dict[Hashable, str]] = {}
        self._moments: Dict[float, Tuple[Moment, str]] = {}

    def beginning(self, report: Report) -> str:
        """All but the history, and without the last brace."""
        parts = ['"%s": %s' % (name, self._part(name, getattr(report, name))) for name in _FIELDS]
        return '{"schema": %d, %s' % (SCHEMA, ", ".join(parts))

    def history(self, moments: Tuple[Moment, ...], since: Optional[float]) -> str:
        """The history, or what of it came later."""
        wanted = moments if since is None else _later(moments, since)
        told = "[%s]" % ", ".join([self._moment(one) for one in wanted])
        if len(self._moments) > 2 * len(moments):
            known = {one.at for one in moments}
            self._moments = {at: kept for at, kept in list(self._moments.items()) if at in known}
        return told

    def _moment(self, moment: Moment) -> str:
        kept = self._moments.get(moment.at)
        if kept is None or kept[0] is not moment:  # another watch has begun since
            kept = self._moments[moment.at] = moment, _json(moment)
        return kept[1]

    def _part(self, name: str, value: Any) -> str:
        last = self._parts.get(name)
        if last is not None and last[0] == value:
            return last[1]
        is_table = isinstance(value, tuple) and not hasattr(value, "_fields")
        text = self._table(name, value) if is_table else _json(value)
        self._parts[name] = value, text
        return text

    def _table(self, name: str, rows: Iterable[Any]) -> str:
        last, now = self._rows.get(name, {}), {}
        texts: List[str] = []
        for row in rows:
            try:
                text = now[row] = last.get(row) or _json(row)
            except TypeError:  # with a table in it
                text = _json(row)
            texts.append(text)
        self._rows[name] = now
        return "[%s]" % ", ".join(texts)


def _later(moments: Tuple[Moment, ...], since: float) -> Iterable[Moment]:
    """The last of them, as the earliest come first."""
    first = len(moments)
    while first and moments[first - 1].at > since:
        first -= 1
    return moments[first:]


def _json(value: Any) -> str:
    return _written(plain(value))
