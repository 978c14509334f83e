"""eventlet and gevent put green threads in the place of Python's: before install() or after it, the program goes on."""

import importlib.util

import own_process
import pytest

LATER = """
    import threading
    import tfmemwatch
    tfmemwatch.install(sample_seconds=0.05, port=0)
    number = threading.get_ident
    threading.get_ident = lambda: number() + 7  # as they do it; the main thread they note under its new number
    threading._active[threading.get_ident()] = threading._active.pop(number())
    threading.main_thread()._ident = threading.get_ident()
    tfmemwatch.uninstall()
    print([thread.name for thread in threading.enumerate()])
"""


def test_threads_that_are_numbered_anew_end_without_an_error():
    """A thread of ours that was started before ends in silence, and is listed no more."""
    done = own_process.run(LATER, seconds=20)
    assert (done.stdout.split("\n")[0], done.stderr) == ("['MainThread']", "")


PROGRAM = """
    import importlib, sys, threading, time
    import tfmemwatch

    def take_the_place():
        if sys.argv[1] == "eventlet":
            importlib.import_module("eventlet").monkey_patch()
        else:
            importlib.import_module("gevent.monkey").patch_all()

    if sys.argv[2] == "before":
        take_the_place()
    watch = tfmemwatch.install(sample_seconds=0.05, port=0, metrics=False)
    if sys.argv[2] == "after":
        take_the_place()
    done = []
    threads = [threading.Thread(target=lambda: (time.sleep(0.01), done.append(1))) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    while watch.state.looks < 3:
        time.sleep(0.01)
    print(len(done), len(str(tfmemwatch.report())) > 50, tfmemwatch.snapshot().memory.resident_bytes > 0)
    tfmemwatch.uninstall()
    print([thread.name for thread in threading.enumerate()])
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("library", ["eventlet", "gevent"])
def test_a_program_with_green_threads_goes_on(library, when):
    """Its threads run, the watch looks, report() and uninstall() return."""
    if importlib.util.find_spec(library) is None:
        pytest.skip("%s is not here; what it did to us is tried above" % library)
    done = own_process.run(PROGRAM, library, when, seconds=30)
    assert done.stdout.split("\n")[:2] == ["3 True True", "['MainThread']"], done.stderr
    assert "Traceback" not in done.stderr
