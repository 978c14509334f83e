"""Findings in the logger `tfmemwatch`: leaks are warnings; what may still be a cache that fills is at level INFO."""

from __future__ import annotations

import logging

from ..model import Finding
from ..safety import guard


def tell(finding: Finding) -> None:
    """One line for each finding; one more when it is over."""
    level = logging.WARNING if finding.is_sure else logging.INFO
    if finding.state == "over":
        guard.logger.log(level, "(over) %s %s: the growth has stopped.", finding.kind, finding.site.short)
    else:
        guard.logger.log(level, "%s %s", finding.kind, finding)
