"""`tfmemwatch rules`: rules for Prometheus."""

from __future__ import annotations

from ..outputs.rules import rules
from .command import Command
from .to_file import add_arguments, giving

COMMAND = Command("rules", "Print recording and alerting rules for Prometheus.", add_arguments, giving(rules))
