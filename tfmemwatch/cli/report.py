"""`tfmemwatch report`: the report of another process."""

from __future__ import annotations

from .command import Command
from .other_process import NOTE, add_arguments, ask

_HELP = "Print the report of a process."
COMMAND = Command("report", _HELP, add_arguments, ask, _HELP + NOTE)
