"""`tfmemwatch rules`: rules for Prometheus, as a file or as an object of Kubernetes."""

from __future__ import annotations

import argparse
from functools import partial

from ..outputs.rules import KEPT, kept, prometheus_rule, rules
from . import to_file
from .command import Command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which labels stay, where the runbook is, and where to."""
    parser.add_argument(
        "--keep", metavar="LABELS", default=",".join(KEPT),
        help="labels of your platform that alerts keep, with commas between (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--runbook-url", metavar="URL", default="",
        help="your own runbook: the alert's name is put in the place of {alert}, or at the end (default: our pages)",
    )  # fmt: skip
    to_file.add_kubernetes(parser, "a PrometheusRule for Prometheus Operator")
    to_file.add_arguments(parser)


def run(chosen: argparse.Namespace) -> int:
    """Print them, or write them."""
    labels, runbook = kept(chosen.keep), chosen.runbook_url
    if chosen.kubernetes:
        make = partial(prometheus_rule, labels, runbook, to_file.metadata(chosen), chosen.json)
    else:
        make = partial(rules, labels, runbook, chosen.json)
    return to_file.giving(make)(chosen)


COMMAND = Command("rules", "Print recording and alerting rules for Prometheus.", add_arguments, run)
