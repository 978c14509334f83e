"""A report in each form that it can be written in: by name, or by the ending of a file."""

from __future__ import annotations

import json
import os
from typing import Callable, Dict

from ..errors import ConfigError
from ..reports import Report
from . import html_page, markdown, text


def _json(report: Report) -> str:
    return json.dumps(report.as_dict(), allow_nan=False, ensure_ascii=False, indent=1) + "\n"


FORMATS: Dict[str, Callable[[Report], str]] = {
    "text": text.render,
    "html": html_page.page,
    "json": _json,
    "markdown": markdown.issue,
}
ENDINGS = {".txt": "text", ".html": "html", ".htm": "html", ".json": "json", ".md": "markdown"}


def written(report: Report, format: str) -> str:
    """The whole report in one of the formats."""
    if format not in FORMATS:
        raise ConfigError("format is %r; it must be one of %s" % (format, ", ".join(FORMATS)))
    return FORMATS[format](report)


def format_of(path: str) -> str:
    """The format that the ending of a file's name asks for."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in ENDINGS:
        raise ConfigError("the file is %r; its name must end in one of %s" % (path, " ".join(ENDINGS)))
    return ENDINGS[ending]


def save(report: Report, path: str) -> None:
    """Write a report to a file, in the format that its ending asks for."""
    said = written(report, format_of(path))
    with open(path, "w", encoding="utf-8", errors="replace", newline="\n") as file:
        file.write(said)
