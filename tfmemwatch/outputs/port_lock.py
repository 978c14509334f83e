"""Which of the workers of one server has the port, where they share no folder."""

from __future__ import annotations

import os

from ..safety.sibling_lock import SiblingLock


class PortLock(SiblingLock):
    """The port's name, among the workers of one parent. An abstract socket holds as far as the port does."""

    def __init__(self, port: int) -> None:
        super().__init__("port%d" % port)

    def take(self) -> bool:
        """Whether no other worker of our parent has it; of what is no worker, the port itself has to say."""
        return not _is_worker() or super().take()


def _is_worker() -> bool:
    """Whether our parent runs the same interpreter: a shell or an init starts programs that have nothing in common."""
    try:
        return os.path.samefile("/proc/self/exe", "/proc/%d/exe" % os.getppid())
    except OSError:
        return False
