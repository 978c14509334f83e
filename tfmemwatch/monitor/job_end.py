"""What a job leaves when it ends: its last values in a file, or at a Pushgateway."""

from __future__ import annotations

import atexit
import os
import socket
from typing import Callable

from ..config import Address
from ..outputs import final_push
from ..outputs.prometheus import Collector, page
from ..safety import guard
from .exported_values import ExportedValues
from .watch import Watch


class JobEnd:
    """Writes and pushes once: at the end of the watch, or of the process."""

    def __init__(self, watch: Watch, values: ExportedValues, collector: Collector) -> None:
        config = watch.config
        self._watch = watch
        self._values = values
        self._collector = collector
        self._textfile = final_push.checked_file(config.textfile) if config.textfile else ""
        self._gateway = final_push.checked_gateway(config.pushgateway) if config.pushgateway else Address("")
        self._pid = os.getpid()

    def wait(self) -> None:
        """For the end of the process, where anything is to be left."""
        if self._textfile or self._gateway:
            atexit.register(self.leave)

    def not_at_exit(self) -> None:
        """The watch ends before the process does."""
        atexit.unregister(self.leave)

    def leave(self) -> None:
        """The last values of a job; a forked child's are not the job's."""
        textfile, gateway, self._textfile, self._gateway = self._textfile, self._gateway, "", Address("")
        if not (textfile or gateway) or os.getpid() != self._pid or not self._watch.is_running:
            return
        try:
            self._values.expire()
            text, _ = page(self._collector)("")
            if textfile:
                _try_to_send(textfile, lambda: final_push.write(textfile, text))
            if gateway:
                _try_to_send(gateway, lambda: self._push(gateway, text))
        except Exception:
            guard.failed("the last metrics")

    def _push(self, gateway: Address, text: bytes) -> None:
        grouping = {"job": self._watch.config.job, "instance": socket.gethostname()}
        final_push.push(gateway, grouping, text)


def _try_to_send(where: str, send: Callable[[], None]) -> None:
    try:
        send()
    except Exception as error:
        guard.logger.warning("the last metrics could not be sent to %s: %s", where, error or type(error).__name__)
