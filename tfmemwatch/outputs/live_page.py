"""What a browser may ask for: the page, the report as text, the report as JSON. Each is made once for each look."""

from __future__ import annotations

import math
import os
import time
import zlib
from typing import Callable, Dict, Hashable, NamedTuple, Optional, Tuple
from urllib.parse import parse_qs

from ..reports import Report
from ..safety.turn import Turn
from . import html_page, text
from .kept_json import KeptJson

# For making what is shown: 0.4 ms of the five seconds from poll to poll. As much goes to the connection.
_SHARE = 0.00008
_AHEAD_SECONDS = 5.0  # that it may be made earlier than that, as polls do not come when it is due
_MOST_SECONDS = 60.0  # that what is shown may be old, however long it takes to make it
_MOST_ANSWERS = 8  # kept of one look
_JSON, _TEXT, _HTML = "application/json", "text/plain; charset=utf-8", "text/html; charset=utf-8"
PATHS = ("/", "/report.txt", "/report.json")
REASONS = {
    200: "OK", 301: "Moved Permanently", 304: "Not Modified", 404: "Not Found", 405: "Method Not Allowed",
    500: "Internal Server Error",
}  # fmt: skip


class Answer(NamedTuple):
    """What is sent back."""

    status: int
    body: bytes
    headers: Tuple[Tuple[str, str], ...]


class _Made(NamedTuple):
    """What was made of one look."""

    stamp: Hashable
    report: Report
    rest: str  # JSON of all but the history, without its last brace
    mark: str  # by which a browser knows that it has it
    answers: Dict[Hashable, bytes]
    news: Hashable


class LivePage:
    """Answers for three paths. Nobody waits, and however many ask, the program pays for one of them."""

    def __init__(
        self, report: Callable[[], Report], looked: Callable[[], Hashable], news: Callable[[], Hashable] = int
    ) -> None:  # fmt: skip
        self._report = report
        self._looked = looked  # another value after each look
        self._news = news  # another value when that is to be shown at once
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._turn = Turn()
        self._made: Optional[_Made] = None
        self._json = KeptJson()
        self._made_at = -math.inf
        self._due = -math.inf

    def answer(self, method: str, path: str, query: str = "", known: str = "") -> Answer:
        """To a request for a path below the place where the page is; `known` is the mark that the browser has."""
        if method not in ("GET", "HEAD"):
            return _said(405, "method not allowed", ("Allow", "GET, HEAD"))
        if path not in PATHS:
            return _said(404, "there are only / , /report.txt and /report.json")
        made = self._current()
        if made is None:  # a handler of a signal asks, or a finalizer, while its own thread makes it
            return _said(404, "not yet")
        if path == "/":
            return _answer(self._once(made, "page", lambda: _page(self._told(made, None))), _HTML, _policy())
        if path == "/report.txt":
            return _answer(self._once(made, "text", lambda: text.render(made.report)), _TEXT)
        since = _since(query)
        mark = ("ETag", made.mark)
        if made.mark in [one.strip() for one in known.split(",")]:
            return Answer(304, b"", (mark, *_ALWAYS))
        return _answer(self._once(made, since, lambda: self._told(made, since)), _JSON, mark)

    def _once(self, made: _Made, key: Hashable, make: Callable[[], str]) -> bytes:
        body = made.answers.get(key)
        if body is None:
            body = make().encode("utf-8", "replace")
            if len(made.answers) >= _MOST_ANSWERS:
                made.answers.clear()
            made.answers[key] = body
        return body

    # -- what was made of the last look

    def _current(self) -> Optional[_Made]:
        if self._pid != os.getpid():
            self._begin()
        made, stamp = self._made, self._looked()
        if made is None or (made.stamp != stamp and (time.monotonic() >= self._due or made.news != self._news())):
            self._turn.take(lambda: self._make(stamp), 0 if made is not None else 1.0)
        return self._made

    def _make(self, stamp: Hashable) -> None:
        began, now, news = time.thread_time(), time.monotonic(), self._news()
        report = self._report()
        self._made = _Made(stamp, report, self._json.beginning(report), _mark(stamp), {}, news)
        is_opened = now - self._made_at > 2 * _MOST_SECONDS  # nobody has polled: it is made whole, which takes longest
        wait = 0.0 if is_opened else (time.thread_time() - began) / _SHARE
        self._due = min(max(self._due, now - _AHEAD_SECONDS) + wait, now + _MOST_SECONDS)
        self._made_at = now

    def _told(self, made: _Made, since: Optional[float]) -> str:
        """The report; with `since`, of its history only what came later."""
        return '%s, "history": %s}' % (made.rest, self._json.history(made.report.history, since))


_ALWAYS = (
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)


def _policy() -> Tuple[str, str]:
    return "Content-Security-Policy", html_page.frame().policy + "; frame-ancestors 'self'"


def _page(report: str) -> str:
    return html_page.with_json(report, live=True)


def _mark(stamp: Hashable) -> str:
    return '"%08x"' % (zlib.crc32(repr(stamp).encode("utf-8", "replace")) & 0xFFFFFFFF)


def _since(query: str) -> Optional[float]:
    """What `since=` says, if it is a number."""
    try:
        return float(parse_qs(query).get("since", [""])[0])
    except ValueError:
        return None


def _answer(body: bytes, content_type: str, *more: Tuple[str, str]) -> Answer:
    return Answer(200, body, (("Content-Type", content_type), *more, *_ALWAYS))


def _said(status: int, words: str, *more: Tuple[str, str]) -> Answer:
    return Answer(status, (words + "\n").encode(), (("Content-Type", _TEXT), *more, *_ALWAYS))


def failed() -> Answer:
    """It can't be made now."""
    return _said(500, "internal server error")


def moved(to: str) -> Answer:
    """The page is at the address that ends in a slash: its links are relative."""
    return _said(301, "the page is at " + to, ("Location", to))
