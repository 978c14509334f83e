"""A terminal that is drawn on: keys come at once, the screen behind stays as it was. Plain ANSI and termios."""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import signal
import sys
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ..monitor.control_socket import shown
from ..outputs.screen import Line
from .printing import paint

_ENTER, _LEAVE = "\033[?1049h\033[?25l", "\033[?25h\033[?1049l"
_ARROWS: Dict[bytes, str] = {b"\033[A": "up", b"\033[B": "down", b"\033OA": "up", b"\033OB": "down",
                             b"\033[5~": "page up", b"\033[6~": "page down"}  # fmt: skip


class Terminal:
    """Lines in, keys out."""

    def __init__(self, has_colours: bool) -> None:
        self._has_colours = has_colours
        self._drawn = ""
        self._pressed: List[str] = []
        self._wake, self._bell = os.pipe()
        for end in (self._wake, self._bell):
            os.set_blocking(end, False)

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """The screen is ours until then, whatever comes."""
        import termios
        import tty

        keyboard = sys.stdin.fileno()
        before = termios.tcgetattr(keyboard)
        handlers: Dict[int, Any] = {}
        try:
            tty.setcbreak(keyboard)
            self._write(_ENTER)
            handlers[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, lambda *_: self.wake())
            handlers[signal.SIGTERM] = signal.signal(signal.SIGTERM, _interrupted)
            handlers[signal.SIGHUP] = signal.signal(signal.SIGHUP, _interrupted)
            handlers[signal.SIGCONT] = signal.signal(signal.SIGCONT, lambda *_: self._again(tty, keyboard))
            yield
        finally:
            with contextlib.suppress(OSError):
                self._write(_LEAVE)
            with contextlib.suppress(termios.error):
                termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _again(self, tty: Any, keyboard: int) -> None:
        """After `fg`: the shell has had the screen."""
        with contextlib.suppress(Exception):
            tty.setcbreak(keyboard)
            self._write(_ENTER)
        self._drawn = ""
        self.wake()

    def wake(self) -> None:
        """End the waiting: from a signal handler, or another thread."""
        with contextlib.suppress(OSError):
            os.write(self._bell, b"!")

    @staticmethod
    def size() -> Tuple[int, int]:
        """Columns and lines."""
        found = shutil.get_terminal_size()
        return found.columns, found.lines

    def draw(self, lines: List[Line]) -> None:
        """In one piece, each line over the old one, and only where something is new: nothing flickers."""
        wide = self.size()[0]
        text = "\r\n".join(self._line(line) + ("\033[K" if len(line.text) < wide else "") for line in lines)
        if text == self._drawn:
            return
        self._drawn = text
        self._write("\033[?2026h\033[H" + text + "\033[J\033[?2026l")

    def _line(self, line: Line) -> str:
        text = shown(line.text).replace("\t", " ").replace("\n", " ")
        return paint(text, line.colour) if line.colour and self._has_colours else text

    @staticmethod
    def _write(text: str) -> None:
        data = text.encode(sys.stdout.encoding or "utf-8", "replace")
        while data:
            data = data[os.write(sys.stdout.fileno(), data) :]

    def key(self, seconds: float) -> Optional[str]:
        """The next key; None where there is none in that time, or the screen has changed."""
        if self._pressed:
            return self._pressed.pop(0)
        try:
            ready, _, _ = select.select([sys.stdin, self._wake], [], [], seconds)
        except InterruptedError:
            return None
        if self._wake in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake, 4096)
        if sys.stdin not in ready:
            return None
        data = os.read(sys.stdin.fileno(), 32)
        if not data:
            return "q"  # the terminal has gone
        self._pressed += _keys_in(data)
        return self._pressed.pop(0) if self._pressed else None


def _keys_in(data: bytes) -> List[str]:
    """Several may have been pressed at once; an escape sequence is one key, and one that is not known is none."""
    found = re.findall(rb"\x1b[\[O][0-9;]*[A-Za-z~]|.", data, re.S)
    keys = [_ARROWS.get(one) or ("escape" if one == b"\033" else one.decode("ascii", "replace")) for one in found]
    return [key for key in keys if not key.startswith("\033")]


def _interrupted(*_: Any) -> None:
    raise KeyboardInterrupt
