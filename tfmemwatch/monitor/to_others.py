"""What other processes of the same user may ask at the control socket, by name."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict

from ..memory import remedy
from ..memory.process import Process
from ..reports import Report, plain
from .answers import Answers

Question = Dict[str, Any]


def to_others(answers: Answers, process: Process) -> Dict[str, Callable[[Question], str]]:
    """A text for each question, or JSON where that is wished; a report in any format."""

    def remedies(question: Question) -> Any:
        names = tuple(str(name) for name in question.get("names", ()))
        return remedy.trial(names, question.get("function"), process)

    return {
        "remedies": lambda question: _said(remedies(question), question),
        "owners": lambda question: _said(answers.account(), question),
        "report": lambda question: _written(answers.report(), question),
        "live": lambda question: _written(answers.light_report(), question),
    }


def _said(value: Any, question: Question) -> str:
    return json.dumps(plain(value)) if question.get("format") == "json" else str(value)


def _written(report: Report, question: Question) -> str:
    from ..outputs import formats

    return formats.written(report, question.get("format") or "text")
