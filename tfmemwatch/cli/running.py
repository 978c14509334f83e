"""A program is run as a child, and is left to itself: signals are passed on to it, and what it ended with is told."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Any, Dict, List, Set

# What the terminal sends reaches the program by itself; what a fault or a child sends is not meant for another process.
_OWN = ("SIGKILL", "SIGSTOP", "SIGCHLD", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT", "SIGPIPE", "SIGXFSZ",
        "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS")  # fmt: skip
_BY_KERNEL = 0x80  # si_code of what the terminal sends, to all processes in front of it


def run(command: List[str], environ: Dict[str, str]) -> int:
    """Run it to its end: its wait status. What else would end this process stays blocked, as a report follows."""
    passed_on, parent = _passed_on(), os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, passed_on | {signal.SIGCHLD})
    child = os.fork()
    if not child:
        _become(command, environ, before, parent)
    status = _status(child, passed_on)
    with contextlib.suppress(OSError, ValueError):
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    return status


def _passed_on() -> Set[Any]:
    own = {getattr(signal, name) for name in _OWN if hasattr(signal, name)}
    # What is ignored here, as under nohup, the program may handle all the same; while blocked it is not thrown away.
    return set(range(1, signal.NSIG)) - own - {32, 33, 34}  # the last are glibc's


def _become(command: List[str], environ: Dict[str, str], mask: Any, parent: int) -> None:
    """The child; it never comes back."""
    try:
        _die_with(parent)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.execve(command[0], command, environ)
    except BaseException as error:
        os.write(2, ("tfmemwatch: %s can't be started: %s\n" % (command[0], error)).encode("utf-8", "replace"))
    finally:
        os._exit(2)


def _die_with(parent: int) -> None:
    """Whoever kills `tfmemwatch run` means the program."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(2)


def _status(child: int, passed_on: Set[Any]) -> int:
    while True:
        came = signal.sigwaitinfo(passed_on | {signal.SIGCHLD})
        if came.si_signo != signal.SIGCHLD:
            if came.si_code != _BY_KERNEL:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, came.si_signo)
            continue
        ended = _ended()
        if child in ended:
            return ended[child]


def _ended() -> Dict[int, int]:
    """Every child that has ended; orphans are ours where we are the first process of a container."""
    found: Dict[int, int] = {}
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            found[pid] = status
    return found


def end_as(status: int) -> int:
    """End with the number that the program ended with, or by the signal that ended it."""
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    number = os.WTERMSIG(status)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    with contextlib.suppress(Exception):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with contextlib.suppress(OSError, ValueError):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
    return 128 + number  # the first process of a container is not ended by its own signal
