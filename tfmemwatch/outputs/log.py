"""Findings as warnings of the logger `tfmemwatch`."""

from __future__ import annotations

import logging

from ..model import Finding

logger = logging.getLogger("tfmemwatch")


def tell(finding: Finding) -> None:
    """One line for each finding; one more when it is over."""
    if finding.state == "over":
        logger.warning("(over) %s %s: it has stopped growing.", finding.kind, finding.site.short)
    else:
        logger.warning("%s %s", finding.kind, finding)
