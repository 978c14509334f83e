"""Whatever interrupts starting and stopping, the process is watched or untouched, and nothing is left."""

import os
from pathlib import Path

import own_process

HERE = Path(__file__).parent
PREPARED = """
    import faulthandler, gc, logging, os, signal, sys, threading, time
    import tfmemwatch
    from tfmemwatch.safety import guard
    faulthandler.dump_traceback_later(50, exit=True)
"""


def said(program, *arguments, **options):
    return own_process.said(PREPARED + program, *arguments, **options)


def script(name, *arguments, seconds=60):
    """What one of the scripts beside this file prints."""
    program = (
        "import runpy, sys; sys.path.insert(0, %r); sys.argv[0] = %r; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    return own_process.said(program % (str(HERE), str(HERE / (name + ".py"))), *arguments, seconds=seconds)


def test_interrupts_leave_nothing():
    """Ctrl-C anywhere in install, uninstall, a block, a step or a report: one uninstall() puts everything back."""
    lines = script("interrupts", "1500", str(os.getpid()))
    assert lines[-1] == "0 left something; failures of our own: {}", lines


def test_interrupts_leave_nothing_of_tensorflow_wrapped():
    """The same in a program with TensorFlow, at every step of wrapping it and of putting it back."""
    program = """
    import tensorflow
    from tfmemwatch.seams import patch
    from tfmemwatch.seams import places
    class Interrupt(KeyboardInterrupt):
        pass
    places = [places.find(name) for name in places.PLACES if places.has(name)]
    def stands():
        return [vars(place.holder).get(place.attribute) for place in places]
    turn = [0, 0]
    def stopping(function):  # before a wrapping or an undoing is done, or after it
        def stepped(*given):
            turn[0] += 1
            if turn[0] == turn[1]:
                raise Interrupt
            result = function(*given)
            turn[0] += 1
            if turn[0] == turn[1]:
                raise Interrupt
            return result
        return stepped
    patch.setattr = stopping(setattr)
    patch.delattr = stopping(delattr)
    before, came, left = stands(), 0, 0
    for number in range(1, 200, 3):
        turn[:] = 0, number
        try:
            tfmemwatch.install(metrics=False, sample_seconds=3600)
            tfmemwatch.uninstall()
        except Interrupt:
            came += 1
        turn[:] = 0, 0
        tfmemwatch.uninstall()
        left += any(now is not then for now, then in zip(stands(), before))
    print(came > 30, left)
    """
    assert said(program) == ["True 0"]


def test_a_block_that_can_not_begin_leaves_no_watch():
    """What raises before the block has begun leaves neither a thread nor a wrapped TensorFlow."""
    program = """
    from tfmemwatch.monitor import answers, watch as monitor
    def broken(self):
        raise OSError("the file is closed")
    answers.Answers.account = broken
    for _ in range(3):
        try:
            with tfmemwatch.watch("x", owners=True, sample_seconds=0.01):
                print("never here")
        except OSError as error:
            print(error)
    print([one.name for one in threading.enumerate()], monitor.begun)
    """
    assert said(program) == ["the file is closed"] * 3 + ["['MainThread'] []"]


def test_refused_installs_leave_no_descriptor():
    """Who tries again until a port is free does not run out of descriptors."""
    program = """
    import socket
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    def refused():
        try:
            tfmemwatch.install(port=listener.getsockname()[1])
        except tfmemwatch.ConfigError:
            return
        raise AssertionError("it was not refused")
    refused()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(30):
        refused()
    print(len(os.listdir("/proc/self/fd")) - before)
    """
    assert said(program) == ["0"]


def test_a_daemon_s_own_file_is_neither_read_nor_closed():
    """A program that closes all descriptors, as a daemon does, keeps the file that gets the number of ours."""
    program = """
    watch = tfmemwatch.install(sample_seconds=3600, metrics=False)
    watch.process.read()
    ours = watch.process._statm
    os.close(ours)
    path = sys.argv[1]
    with open(path, "w") as file:
        file.write("7 8 9 10 11 12 13" * 20)
    precious = os.open(path, os.O_RDWR)
    print(precious == ours, 1 << 20 < watch.process.read().resident_bytes < 1 << 34)
    child = os.fork()
    if not child:
        os._exit(os.write(precious, b"child") != 5)
    print(os.waitpid(child, 0)[1])
    tfmemwatch.uninstall()
    print(os.write(precious, b"parent"), [link for link in os.listdir("/proc/self/fd") if "statm" in
          (os.readlink("/proc/self/fd/" + link) if os.path.exists("/proc/self/fd/" + link) else "")])
    """
    path = HERE / "precious.tmp"
    try:
        assert said(program, str(path)) == ["True True", "0", "6 []"]
    finally:
        path.unlink()


def test_a_child_forked_while_another_thread_installs_can_install():
    """gunicorn's post_fork and tfmemwatch.auto: install() in the child does not wait for a thread that is not there."""
    program = """
    import random
    tfmemwatch.install(metrics=False)  # what it imports is there: Python itself loses the lock of an import in a fork
    def loop():
        while True:
            tfmemwatch.install(metrics=False, sample_seconds=5)
            tfmemwatch.uninstall()
    threading.Thread(target=loop, daemon=True).start()
    draw, ended = random.Random(1), 0
    for _ in range(60):
        time.sleep(draw.random() * 0.005)
        child = os.fork()
        if not child:
            signal.alarm(20)  # which ends it, if it hangs
            tfmemwatch.uninstall()
            assert tfmemwatch.install(metrics=False).is_running
            tfmemwatch.uninstall()
            os._exit(len([one for one in threading.enumerate() if one.name == "tfmemwatch"]))
        ended += os.waitpid(child, 0)[1] == 0
    print(ended, flush=True)
    os._exit(0)
    """
    assert said(program) == ["60"]


def test_children_end_and_are_watched_whatever_the_parent_is_at():
    """Forks under constant looks, reports and installs: every child can install, ask for a report, and ends."""
    answers = script("forks", "40", seconds=90)[-1]
    assert "hangs" not in answers and "Error" not in answers and "died" not in answers, answers


PORT_TAKEN = """
    import multiprocessing, socket
    def work(number):
        return number * number
    if __name__ == "__main__":
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        os.environ["TFMEMWATCH_PORT"] = str(listener.getsockname()[1])
"""


def test_a_port_in_use_is_a_warning_in_auto():
    """Each spawned child imports tfmemwatch.auto with the port of its parent: it goes on, watched without the port."""
    program = (
        PORT_TAKEN
        + """
    logging.basicConfig(stream=sys.stdout, format="%(message)s")
    import tfmemwatch.auto
    print(tfmemwatch.current().is_running, tfmemwatch.port())
    tfmemwatch.uninstall()
    """
    )
    lines = said(program)
    assert lines[-1] == "True None"
    assert "port is" in lines[0] and "watched without port" in lines[0]


def test_settings_that_can_not_be_are_warnings_in_auto_and_errors_in_install():
    """A word that is no number, a folder that can't be written to: the program is watched without that."""
    program = """
    logging.basicConfig(stream=sys.stdout, format="%(message)s")
    try:
        tfmemwatch.install()
    except tfmemwatch.ConfigError as error:
        print("error")
    import tfmemwatch.auto
    watch = tfmemwatch.current()
    print(watch.config.sample_seconds, watch.config.level, repr(watch.config.textfile), watch.config.port)
    """
    lines = said(
        program, TFMEMWATCH_SAMPLE_SECONDS="often", TFMEMWATCH_LEVEL="counts", TFMEMWATCH_TEXTFILE="/nowhere/all.prom",
        TFMEMWATCH_TOKEN="two words", TFMEMWATCH_PORT="0",
    )  # fmt: skip
    assert (lines[0], lines[-1]) == ("error", "5.0 counts '' None")
    assert len([line for line in lines if "The program is watched without" in line]) == 3


def test_programs_end_as_they_would_alone():
    """However it was watched, a program ends without a traceback, a hang or a crash."""
    lines = script("ends", "12", "7", seconds=90)
    assert lines[-1] == "12 programs, 0 with TensorFlow: 0 did not end well", lines
