"""How a command gives out a file that is made from the catalogue: printed, or written."""

from __future__ import annotations

import argparse
from typing import Any, Callable, Dict

from ..errors import ConfigError
from .exit_codes import WELL
from .printing import add_json, add_output, give


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """In which form, and where to."""
    add_json(parser)
    add_output(parser)


def add_kubernetes(parser: argparse.ArgumentParser, what: str) -> None:
    """Whether as an object of Kubernetes, and what its head says."""
    parser.add_argument("--kubernetes", action="store_true", help="print %s" % what)
    parser.add_argument("--namespace", metavar="NAME", help="of that object (default: whichever it is applied in)")
    parser.add_argument(
        "--label", metavar="KEY=VALUE", action="append", default=[],
        help="a label of that object, by which your operator or sidecar selects it; can be repeated",
    )  # fmt: skip


def metadata(chosen: argparse.Namespace) -> Dict[str, Any]:
    """What stands in the head of an object, beside its name."""
    labels = dict(label.partition("=")[::2] for label in chosen.label)
    wrong = [label for label in chosen.label if not label.partition("=")[0] or "=" not in label]
    if wrong:
        raise ConfigError("--label is %r; it must be KEY=VALUE" % wrong[0])
    head = {"namespace": chosen.namespace, "labels": labels}
    return {name: value for name, value in head.items() if value}


def giving(make: Callable[[], str]) -> Callable[[argparse.Namespace], int]:
    """A command that makes a text, and prints or writes it."""

    def run(chosen: argparse.Namespace) -> int:
        give(make(), chosen.output)
        return WELL

    return run
