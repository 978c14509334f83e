"""`tfmemwatch dashboard`: a dashboard for Grafana."""

from __future__ import annotations

from ..outputs.dashboard import dashboard
from .command import Command
from .to_file import add_arguments, giving

COMMAND = Command("dashboard", "Print a Grafana dashboard of the metrics.", add_arguments, giving(dashboard))
