"""Findings in the logger `tfmemwatch`: warnings, and at level INFO what may still be a cache that fills."""

from __future__ import annotations

import logging

from ..model import Finding

logger = logging.getLogger("tfmemwatch")


def tell(finding: Finding) -> None:
    """One line for each finding; one more when it is over."""
    level = logging.WARNING if finding.is_sure else logging.INFO
    if finding.state == "over":
        logger.log(level, "(over) %s %s: it has stopped growing.", finding.kind, finding.site.short)
    else:
        logger.log(level, "%s %s", finding.kind, finding)
