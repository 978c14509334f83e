"""`tfmemwatch dashboard`: a dashboard for Grafana, as a file or as an object of Kubernetes."""

from __future__ import annotations

import argparse
from functools import partial

from ..outputs.dashboard import config_map, dashboard
from . import to_file
from .command import Command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """In which form, and where to."""
    to_file.add_kubernetes(parser, "a ConfigMap for the sidecar of Grafana that loads dashboards")
    to_file.add_arguments(parser)


def run(chosen: argparse.Namespace) -> int:
    """Print it, or write it."""
    make = partial(config_map, to_file.metadata(chosen), chosen.json) if chosen.kubernetes else dashboard
    return to_file.giving(make)(chosen)


COMMAND = Command("dashboard", "Print a Grafana dashboard of the metrics.", add_arguments, run)
