"""When the interpreter ends, no thread of ours is at work: what it had in hand would outlive what the program has."""

import own_process

AT_A_LOOK = """
    import sys, threading
    import tfmemwatch
    from tfmemwatch.monitor.installation import installations

    tfmemwatch.install(sample_seconds=0.01, log=False)
    looks = threading.Event()

    elsewhere = {"looks": looks}  # not in this module, which it would keep
    exec('''
    import sys, time
    def look():
        modules = dict(sys.modules)
        looks.set()
        time.sleep(0.3)
    ''', elsewhere)

    class Thing:
        def __del__(self):
            print("the names of its module stand" if sys is not None else "its module has been taken down")

    thing = Thing()
    installations[0].watch.on_wake.append(elsewhere["look"])
    looks.wait(20)
"""


def test_a_look_that_is_under_way_comes_to_its_end():
    """A finalizer of the program finds the names of its module, as it does without the watch."""
    assert own_process.said(AT_A_LOOK) == ["the names of its module stand"]


def test_a_look_that_is_stuck_keeps_no_program_from_ending():
    """The end waits a second, and not for a callback that takes a minute."""
    stuck = AT_A_LOOK.replace("time.sleep(0.3)", "time.sleep(60)")
    assert len(own_process.said(stuck, seconds=20)) == 1
