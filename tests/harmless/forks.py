"""Forks under constant looks and reports: does each child run, with its collector as it was?

    python tests/harmless/forks.py [TIMES] [SECONDS A CHILD MAY TAKE]

Threads look, ask for reports and install anew without a pause; the collector is on at one fork and off at the next.
Each child says whether its collector is as it was, installs, asks for a report, and ends.
"""

import gc
import logging
import os
import select
import signal
import sys
import threading
import time

import tfmemwatch

NO_ANSWER = b"hangs"


def child(was_enabled, writing):
    answer = b"collector" if gc.isenabled() != was_enabled else b""
    try:
        watch = tfmemwatch.install(sample_seconds=0.01, metrics=False, log=False)
        tfmemwatch.findings()
        watch.state.read()
        if os.getpid() % 8 == 0:  # it looks through the whole heap
            tfmemwatch.report()
        tfmemwatch.uninstall()
        if tfmemwatch.current() is not None:
            answer += b" is still installed"
    except BaseException as error:
        answer += repr(error).encode()
    os.write(writing, answer or b"well")
    os._exit(0)


def fork(was_enabled, seconds):
    """What one child answers."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        child(was_enabled, writing)
    os.close(writing)
    try:
        ready, _, _ = select.select([reading], [], [], seconds)
        answer = os.read(reading, 4096) if ready else NO_ANSWER
    finally:
        os.close(reading)
    if answer == NO_ANSWER:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return answer or b"died"


def run(times, seconds, objects=100_000):
    """How the children ended, counted; and in how many the parent's collector was not as it was."""
    heap = [[number] for number in range(objects)]
    is_over = threading.Event()
    settings = {"sample_seconds": 0.005, "metrics": False, "log": False}

    def reports():
        while not is_over.is_set():
            try:
                tfmemwatch.report()
            except RuntimeError:  # taken back just now
                time.sleep(0.001)

    def installs():
        while not is_over.is_set():
            tfmemwatch.install(**settings)
            is_over.wait(0.02)
            tfmemwatch.uninstall()

    tfmemwatch.install(**settings)
    threads = [threading.Thread(target=work, daemon=True) for work in (reports, installs)]
    for thread in threads:
        thread.start()
    answers, changed = {}, 0
    for number in range(times):
        is_on = number % 2 == 0
        (gc.enable if is_on else gc.disable)()
        time.sleep(0.001)
        answer = fork(is_on, seconds).decode()
        answers[answer] = answers.get(answer, 0) + 1
        changed += gc.isenabled() != is_on
    is_over.set()
    for thread in threads:
        thread.join(30)
    gc.enable()
    tfmemwatch.uninstall()
    assert len(heap) == objects
    return answers, changed


if __name__ == "__main__":
    logging.getLogger("tfmemwatch").setLevel(logging.CRITICAL)
    numbers = [float(one) for one in sys.argv[1:]]
    print(*run(int(numbers[0]) if numbers else 100, numbers[1] if len(numbers) > 1 else 30), flush=True)
