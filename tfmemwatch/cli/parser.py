"""How a command line is read: help begins with an example, and a wrong word is answered with the one that was meant."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any, Iterable, List, NoReturn, Optional

from ..config import near
from .exit_codes import USAGE


class Parser(argparse.ArgumentParser):
    """Reads the arguments of one command."""

    def __init__(self, prog: str, description: str = "", example: str = "") -> None:
        self._example = example
        form = argparse.RawDescriptionHelpFormatter
        super().__init__(prog=prog, description=description, allow_abbrev=False, formatter_class=form)

    def format_help(self) -> str:
        """The example, and then all the rest."""
        text = super().format_help()
        return "example:\n%s\n\n%s" % (_indented(self._example), text) if self._example else text

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and what was meant."""
        sys.stderr.write("tfmemwatch: %s%s\n" % (message, self._meant(message)))
        sys.stderr.write("`%s --help` shows what there is\n" % self.prog)
        raise SystemExit(USAGE)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Unlike argparse's, one that can't be written is an error."""
        (file or sys.stderr).write(message)

    def _meant(self, message: str) -> str:
        wrong = re.search(r"(?:unrecognized arguments: |invalid choice: ')([^\s']+)", message)
        if wrong is None:
            return ""
        options = [name for action in self._actions for name in action.option_strings]
        choices = [str(choice) for action in self._actions for choice in action.choices or ()]
        return did_you_mean(wrong.group(1).partition("=")[0], [*options, *choices])


def did_you_mean(word: str, there_are: Iterable[str]) -> str:
    """`; did you mean …?`, where one of those that there are is near."""
    meant: Optional[str] = near(word, there_are)
    return "; did you mean %s?" % meant if meant else ""


def _indented(text: str) -> str:
    lines: List[str] = text.splitlines()
    return "\n".join("  " + line for line in lines)
