"""`tfmemwatch owners`: whose bytes another process is made of."""

from __future__ import annotations

from .command import Command
from .other_process import NOTE, add_arguments, ask

_HELP = "Print the resident memory of a process by owner."
COMMAND = Command("owners", _HELP, add_arguments, ask, _HELP + NOTE)
