"""The report as one page of HTML, which shows itself in any browser and asks nothing of anybody.

The page is `page/page.html` with its style, its script and the report as JSON in it. The script makes what is seen, by
`textContent` alone: nothing of the program's is ever read as HTML.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
import pkgutil
from typing import Any, NamedTuple

from ..catalog import BY_KIND
from ..memory.account import OWNERS
from ..memory.process import PYTHON_BLOCK_BYTES
from ..reports import Report

_HEIGHT = 640  # pixels of a page within another one


class Frame(NamedTuple):
    """The page without a report: what is before it, what is behind it, and what a browser may load for it."""

    head: str
    tail: str
    policy: str


@functools.lru_cache(maxsize=None)
def frame() -> Frame:
    """Read once, when a page is first asked for."""
    style, script, words = _file("page.css"), _file("page.js"), escaped(json.dumps(_words()))
    policy = "default-src 'none'; script-src %s; style-src %s; connect-src 'self'; base-uri 'none'; form-action 'none'"
    policy %= (_digest(script), _digest(style))
    whole = _file("page.html").replace("{policy}", html.escape(policy)).replace("{words}", words)
    head, tail = whole.replace("{style}", style).split("{report}")
    return Frame(head, tail.replace("{script}", script), policy)


def page(report: Report) -> str:
    """The whole page, frozen: to be kept, sent or attached to an issue."""
    return with_json(json.dumps(report.as_dict(), allow_nan=False), live=False)


def with_json(report: str, *, live: bool) -> str:
    """The page with a report that is JSON already; a live one asks for the next."""
    made = frame()
    head = made.head.replace("{mode}", "live" if live else "frozen")
    return "".join((head, escaped(report), made.tail))


def html_fragment(report: Report, height: int = _HEIGHT) -> str:
    """The page within another page, a notebook or a test report: an element that shares nothing with it."""
    return (
        '<iframe title="tfmemwatch report" sandbox="allow-scripts" srcdoc="%s" width="100%%" height="%d" '
        'frameborder="0"></iframe>' % (html.escape(page(report)), height)
    )


def escaped(text: str) -> str:
    """JSON that can stand within a script element, whatever texts are in it."""
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _words() -> Any:
    """What kinds and owners are called."""
    return {
        "kinds": {kind: row.title for kind, row in BY_KIND.items()},
        "alive": [row.kind for row in BY_KIND.values() if row.reading == "alive"],
        "owners": [[owner.name, owner.title, owner.help] for owner in OWNERS],
        "python_block_bytes": PYTHON_BLOCK_BYTES,
    }


def _file(name: str) -> str:
    data = pkgutil.get_data(__package__, "page/" + name)
    return (data or b"").decode("utf-8")


def _digest(text: str) -> str:
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
