"""The port at which the metrics and the page are served, and whose turn it is among workers that share one."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Callable, Optional, Union

from ..config import Config
from ..errors import ConfigError
from ..outputs.all_workers import AllWorkers
from ..outputs.port_lock import PortLock
from ..outputs.prometheus import Collector, page
from ..outputs.worker_lock import Lock
from ..reports import Report
from ..safety import guard
from .answers import Answers

_OTHERS_PORT = (
    "port %d is served by another worker, and does not show this one. Set PROMETHEUS_MULTIPROC_DIR to an empty "
    "folder that all workers may write to: then the port shows all of them"
)

_ONE_OF_MANY = "one of the workers that share this port: what all of them have is in /metrics"


class ServedPort:
    """Takes the port, serves it, and gives it back: each step can be repeated, and interrupted."""

    def __init__(
        self, config: Config, collector: Collector, folder: str, is_over: Callable[[], bool], answers: Answers
    ) -> None:  # fmt: skip
        self._config = config
        self._collector = collector
        self._folder = folder  # that the workers share
        self._server: Any = None  # whose module, with TLS, is loaded where there is a port
        self._turn: Union[Lock, PortLock, None] = None  # to serve the one port that the workers share
        self._is_over = is_over  # whether the export was stopped
        self._answers = answers

    @property
    def number(self) -> Optional[int]:
        """Where the metrics are served; None where they are not."""
        server = self._server
        return int(server.port) if server is not None else None

    def take(self, port: int) -> None:
        """Take the port. Of workers that share a folder one has it, and shows what all have; the others wait.

        Where they share none, the first shows its own, and the others say what is missing.
        """
        from ..outputs.live_page import LivePage
        from ..outputs.server import Server

        config = self._config
        shown: Any = self._collector
        is_known_free = True
        if self._folder:
            shown = AllWorkers(self._folder)
        if port:
            turn = _turn(self._folder, port)
            try:
                if not turn.take():
                    if not self._folder:
                        guard.logger.warning(_OTHERS_PORT, port)
                    return
                self._turn = turn
            except OSError:  # another user's, that can't be read: the port itself says whether it is taken
                is_known_free = False
        try:
            self._server = Server(
                page(shown), config.address, port, config.token, config.certificate, config.private_key,
                LivePage(self._report, self._answers.looked, self._answers.news),
            )  # fmt: skip
        except BaseException as error:
            self.no_turn()
            if is_known_free or not isinstance(error, ConfigError):
                raise
        if self._is_over():  # stopped meanwhile, by another thread or a signal handler
            self.no_server()
            self.no_turn()

    def _report(self) -> Report:
        """For the page. Source is shown to who is on this machine, or has the token."""
        report = self._answers.light_report()
        server = self._server
        is_open = not self._config.token and not (server is not None and server.is_local)
        if self._folder and report.program is not None:
            report = dataclasses.replace(report, program=report.program._replace(note=_ONE_OF_MANY))
        return dataclasses.replace(report, sources=()) if is_open else report

    def start(self) -> Optional[int]:
        """Answer from now on, where this process has the port: its number."""
        server = self._server
        if server is None:
            return None
        server.start()
        return int(server.port)

    def take_if_free(self) -> None:
        """Who had the port that the workers share may have ended."""
        port = self._config.port
        if port and self._server is None:
            self.take(port)
            self.start()

    def no_server(self) -> None:
        """Give the port back."""
        server = self._server
        if server is not None:
            server.stop()
        self._server = None

    def no_turn(self) -> None:
        """Let another worker have it."""
        turn = self._turn
        if turn is not None:
            turn.give_back()
        self._turn = None  # last: who is interrupted before does it again

    def abandon(self) -> None:
        """A forked child has no thread that would answer, and the port is its parent's."""
        server, self._server = self._server, None
        if server is not None:
            server.abandon()
        self.no_turn()


def _turn(folder: str, port: int) -> Union[Lock, PortLock]:
    """What one of the workers has: of those that share a folder, or of those that one parent has started."""
    return Lock(os.path.join(folder, "tfmemwatch-port%d.lock" % port)) if folder else PortLock(port)
