"""Small pieces of HTML for notebooks and pages: every text is escaped, no script, and colours for light and dark."""

from __future__ import annotations

import html
import re
from typing import Sequence

_MOST_LETTERS = 600  # of one text
# What breaks a page, or turns the direction of the text after it.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

# Colours that can be read on white and on black: a notebook's theme is not known here.
STYLE = """
.tfmemwatch{font:13px/1.45 system-ui,sans-serif;max-width:70em}
.tfmemwatch h4{font-size:14px;margin:.9em 0 .3em}.tfmemwatch p{margin:.25em 0}
.tfmemwatch table{border-collapse:collapse;color:inherit;font:inherit;margin:.3em 0 .6em;background:none}
.tfmemwatch th,.tfmemwatch td{padding:2px 10px 2px 0;text-align:left;vertical-align:top;background:none;\
border-bottom:1px solid rgba(128,128,128,.3)}
.tfmemwatch th{font-weight:600;opacity:.75}.tfmemwatch .n{text-align:right;font-variant-numeric:tabular-nums;\
white-space:nowrap}
.tfmemwatch pre,.tfmemwatch code{font:12px/1.45 ui-monospace,monospace;background:rgba(128,128,128,.13);\
border-radius:3px;color:inherit}
.tfmemwatch pre{padding:6px 9px;margin:.3em 0;overflow-x:auto;white-space:pre-wrap}.tfmemwatch code{padding:0 3px}
.tfmemwatch .leak{border-left:4px solid #d6453d;padding:1px 0 1px 10px;margin:.5em 0}
.tfmemwatch .fine{border-left:4px solid #2f9e5b;padding:1px 0 1px 10px;margin:.5em 0}
.tfmemwatch .dim{opacity:.7}
""".strip()


def text(value: object) -> str:
    """Any text, as it can stand in a page: escaped, not too long, and without what turns the direction of others."""
    written = _UNSEEN.sub("\ufffd", str(value))
    if len(written) > _MOST_LETTERS:
        written = written[:_MOST_LETTERS] + " …"
    return html.escape(written, quote=True)


def table(head: Sequence[str], rows: Sequence[Sequence[object]], numbers: Sequence[int] = ()) -> str:
    """A table of texts; the columns in `numbers` stand right. Nothing where there are no rows."""
    if not rows:
        return ""
    kinds = [' class="n"' if column in numbers else "" for column in range(len(head))]
    top = "".join('<th scope="col"%s>%s</th>' % (kind, text(name)) for kind, name in zip(kinds, head))
    lines = ["".join("<td%s>%s</td>" % (kind, text(cell)) for kind, cell in zip(kinds, row)) for row in rows]
    return "<table><thead><tr>%s</tr></thead><tbody>%s</tbody></table>" % (
        top, "".join("<tr>%s</tr>" % line for line in lines),
    )  # fmt: skip


def heading(title: str) -> str:
    """Above a table."""
    return "<h4>%s</h4>" % text(title)


def line(sentence: object, kind: str = "") -> str:
    """One paragraph; `kind` is a class of the style."""
    return "<p%s>%s</p>" % (' class="%s"' % kind if kind else "", text(sentence))


def code(source: str) -> str:
    """Some lines of code."""
    return "<pre>%s</pre>" % text(source) if source else ""


def piece(*parts: str) -> str:
    """What a notebook shows: the parts, with their style."""
    return '<div class="tfmemwatch"><style>%s</style>%s</div>' % (STYLE, "".join(parts))


def page(title: str, *parts: str) -> str:
    """A whole page that asks for nothing else."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>%s</title>'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '</head><body style="margin:2em"><main>%s</main></body></html>\n'
    ) % (text(title), piece("<h1>%s</h1>" % text(title), *parts))
