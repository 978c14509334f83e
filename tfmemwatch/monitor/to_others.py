"""What other processes of the same user may ask at the control socket, by name."""

from __future__ import annotations

from typing import Any, Callable, Dict

from ..memory import remedy
from ..memory.process import Process
from .answers import Answers

Question = Dict[str, Any]


def to_others(answers: Answers, process: Process) -> Dict[str, Callable[[Question], str]]:
    """A text for each question."""

    def remedies(question: Question) -> str:
        names = tuple(str(name) for name in question.get("names", ()))
        return str(remedy.trial(names, question.get("function"), process))

    return {
        "remedies": remedies,
        "owners": lambda question: str(answers.account()),
        "report": lambda question: str(answers.report()),
    }
