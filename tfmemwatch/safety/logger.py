"""The one logger, `tfmemwatch`: the program's handlers have it all; where there is none, warnings go to stderr.

Python's own last resort is not enough: it is silent where a level was set without a handler, and where the logging was
configured after `install()`, which turns off all loggers that the configuration does not name.
"""

from __future__ import annotations

import logging
import sys
from typing import Any, Callable, Iterator, Optional, Tuple

from .turn import is_held, later

NAME = "tfmemwatch"


class Logger:
    """Each record goes to the handlers of the program, or else once to stderr; never while this thread has a turn."""

    def __init__(self) -> None:
        self._logger = logging.getLogger(NAME)
        self.is_verbose: Callable[[], bool] = bool  # whether what is at level INFO is for stderr, too
        self.only: Optional[logging.Handler] = None  # in the place of all others: under `tfmemwatch run`

    def info(self, message: str, *values: Any) -> None:
        """What is no warning."""
        self._log(logging.INFO, message, values, None)

    def warning(self, message: str, *values: Any, exc_info: bool = False) -> None:
        """What somebody should know; with the exception that is being handled, if that is wished."""
        self._log(logging.WARNING, message, values, sys.exc_info() if exc_info else None)

    def log(self, level: int, message: str, *values: Any) -> None:
        """Either of them."""
        self._log(level, message, values, None)

    def _log(self, level: int, message: str, values: Tuple[Any, ...], error: Any) -> None:
        if level <= self._logger.manager.disable:  # logging.disable()
            return
        caller = sys._getframe(2)
        place = caller.f_code, caller.f_lineno

        def write() -> None:  # the program may have a factory of records of its own: it is called here, too
            code, line = place
            made = self._logger.makeRecord(
                NAME, level, code.co_filename, line, message, values, error, code.co_name
            )  # fmt: skip
            self._write(made)

        if is_held():
            later(write)
        else:
            write()

    def _write(self, record: logging.LogRecord) -> None:
        """`disabled` is not asked: `logging.config` sets it for every logger that it does not name."""
        level, logger = record.levelno, self._logger
        if self.only is not None:
            self._filtered(record, self.only.handle)
            return
        has_handlers = logger.hasHandlers()
        is_wanted = has_handlers and level >= logger.getEffectiveLevel()
        if is_wanted and (level >= logging.WARNING or any(handler.level <= level for handler in self._handlers())):
            self._filtered(record, logger.callHandlers)
        elif level >= self._least(has_handlers):
            self._filtered(record, _to_stderr)

    def _least(self, has_handlers: bool) -> int:
        """The level from which on stderr gets what no handler gets: a level of this logger's own is kept to."""
        if self.is_verbose():
            return max(self._logger.level, logging.INFO)
        return sys.maxsize if has_handlers else max(self._logger.level, logging.WARNING)

    def _handlers(self) -> Iterator[logging.Handler]:
        logger: Optional[logging.Logger] = self._logger
        while logger is not None:
            yield from logger.handlers
            logger = logger.parent if logger.propagate else None

    def _filtered(self, record: logging.LogRecord, handle: Callable[[logging.LogRecord], Any]) -> None:
        found: Any = self._logger.filter(record)  # from Python 3.12 on, a filter may give another record
        if found:
            handle(found if isinstance(found, logging.LogRecord) else record)


def _to_stderr(record: logging.LogRecord) -> None:
    """As Python does in the last resort, with level and name."""
    if logging.lastResort is None:  # the program wants none
        return
    text = record.getMessage()
    name = "" if text.startswith(NAME) else " " + NAME
    record.msg, record.args = "%s%s: %s" % (record.levelname, name, text), ()
    logging.lastResort.handle(record)
