"""What `tfmemwatch run` does within the program, once that imports TensorFlow: it watches, and records."""

from __future__ import annotations

import atexit
import json
import logging
import os
import sys
from typing import Any, Dict, Optional

from .. import __version__
from ..config import load
from ..errors import ConfigError
from ..model import Site
from ..monitor.installation import install, installations
from ..monitor.recorder import Recorder
from ..outputs.recording_file import path_of
from ..probes import BY_NAME
from ..safety import guard
from .exit_codes import USAGE

_AT = Site("", 0, "tfmemwatch run")


class _Said(logging.Handler):
    """What tfmemwatch has to say goes into the recording: the program's own output has none of it."""

    def emit(self, record: logging.LogRecord) -> None:
        """One line of it."""
        found = recorder()
        if found is not None and record.levelno >= logging.WARNING:
            found.say(record.getMessage())


def recorder() -> Optional[Recorder]:
    """That of the watch that runs."""
    return next((one.export.recorder for one in list(installations) if one.export is not None), None)


def begin(told: Dict[str, Any]) -> None:
    """Watch from now on. A setting that can't be used ends the program, as any wrong option does."""
    is_first = os.getpid() == told["pid"]
    settings = dict(told["settings"])
    if not is_first:  # a forked child that is the first to import TensorFlow
        settings["record"] = path_of(settings["record"], os.getpid())
    if told["is_quiet"]:
        guard.logger.only = _Said()
        settings["log"] = False  # a finding is an event of the recording
    try:
        install(load(settings, names=tuple(BY_NAME)), _AT, __version__)
    except ConfigError as error:
        sys.stderr.write("tfmemwatch: %s\n" % error)
        sys.stderr.flush()
        os._exit(USAGE)
    found = recorder()
    if found is not None:
        if is_first:
            _tell(told, "recording", found.path)
        atexit.register(_end)


def _end() -> None:
    """With all that can be known, as the program is over."""
    found = recorder()
    if found is not None:
        found.end("the program ended", is_whole=True)


def _tell(told: Dict[str, Any], what: str, text: str) -> None:
    try:
        with open(os.path.join(told["folder"], what), "w", encoding="utf-8") as file:
            json.dump(text, file)
    except OSError:
        return
