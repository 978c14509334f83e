"""Ctrl-C at each line in turn, and what it may not leave behind."""

import os
import sys
import threading


def sockets():
    """How many sockets this process has."""
    found = 0
    for number in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink("/proc/self/fd/" + number).startswith("socket:")
        except OSError:
            continue
    return found


class _Interrupting:
    """Ctrl-C at the n-th line that some files of ours run."""

    def __init__(self, line, files):
        self._left = line
        self._files = files
        self.is_done = False
        self.where = ""  # it came

    def __call__(self, frame, event, argument):
        return self._line if frame.f_code.co_filename.endswith(self._files) else None

    def _line(self, frame, event, argument):
        if event == "line" and not self.is_done:
            self._left -= 1
            if self._left < 0:
                self.is_done = True
                self.where = "%s:%d" % (frame.f_code.co_filename, frame.f_lineno)
                sys.settrace(None)
                raise KeyboardInterrupt
        return self._line


def interrupted_at(line, work, files):
    """Where that was; empty where there was no such line.

    In a thread of its own: a tracer that raises where an exception is handled has Python keep that one as the context
    of all that are raised in the thread later.
    """
    interrupting = _Interrupting(line, files)

    def run():
        sys.settrace(interrupting)
        try:
            work()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return interrupting.where
