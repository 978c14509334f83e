"""What the contract tests share: one TensorFlow in this process, and a watch for each test."""

import gc
import inspect
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tfmemwatch

TREE = Path(__file__).resolve().parent.parent.parent
NEVER = 3600.0  # seconds between two looks of the watch's own thread: no test waits for one


@pytest.fixture(scope="session")
def tf():
    """TensorFlow as of version 2, on TensorFlow 1.15 too; with two CPUs for distribution."""
    import tensorflow as tf

    tf.compat.v1.enable_v2_behavior()
    tf = tf if hasattr(tf.random, "set_seed") else tf.compat.v2
    cpu = tf.config.experimental.list_physical_devices("CPU")[0]
    two = [tf.config.experimental.VirtualDeviceConfiguration()] * 2
    tf.config.experimental.set_virtual_device_configuration(cpu, two)
    assert tf.keras.Model is not None  # Keras is loaded when first asked for
    return tf


@pytest.fixture
def watch(tf):
    """The watch of this process, for one test."""
    gc.collect()
    yield tfmemwatch.install(sample_seconds=NEVER, log=False, evidence=False)
    tfmemwatch.uninstall()


class Counts:
    """What the watch has counted, of this test's own file."""

    def __init__(self, file):
        self._file = file
        self._source = Path(file).read_text(encoding="utf-8").splitlines()

    def line(self, mark):
        """The one line that ends in this mark."""
        (found,) = [number for number, line in enumerate(self._source, 1) if line.endswith("# " + mark)]
        return found

    def _tallies(self, kind, mark):
        tallies = tfmemwatch.snapshot().tallies
        line = self.line(mark) if mark else None
        return [
            tally
            for key, tally in tallies.items()
            if key.kind == kind and (line is None or key.site[:2] == (self._file, line))
        ]

    def made(self, kind, mark=""):
        """How many there have been, at one line or anywhere."""
        return sum(tally.born for tally in self._tallies(kind, mark))

    def alive(self, kind, mark=""):
        """How many there are after a collection."""
        gc.collect()
        return sum(tally.alive for tally in self._tallies(kind, mark))

    def bytes(self, kind, mark=""):
        """What those that are alive weigh."""
        return sum(tally.live_bytes for tally in self._tallies(kind, mark))

    def notes(self, kind, mark=""):
        """What they are called."""
        return [tally.note for tally in self._tallies(kind, mark)]

    def lines(self, kind):
        """Where they were made."""
        sites = [key.site for key in tfmemwatch.snapshot().tallies if key.kind == kind]
        return sorted((os.path.basename(site.file), site.line) for site in sites)


@pytest.fixture
def counts(watch, request):
    return Counts(str(request.node.path if hasattr(request.node, "path") else request.node.fspath))


@pytest.fixture
def in_threads():
    """Run a function in many threads at once, to its end; the first error is raised here."""

    def run(times, function):
        errors = []
        start = threading.Barrier(times)

        def work(number):
            try:
                start.wait(60)
                function(number)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(times)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert not any(thread.is_alive() for thread in threads)
        if errors:
            raise errors[0]

    return run


@pytest.fixture(scope="session")
def run_program():
    """Run Python in a process of its own, within a time limit: (stdout, stderr, exit code)."""

    def run(*arguments, **options):
        env = dict(os.environ, PYTHONPATH=str(TREE), PYTHONHASHSEED="0", TF_CPP_MIN_LOG_LEVEL="3")
        done = subprocess.run(
            [sys.executable] + [inspect.cleandoc(one) for one in arguments],
            capture_output=True, env=env, cwd=str(TREE),
            timeout=options.get("seconds", 120), text=True,
        )  # fmt: skip
        return done.stdout, done.stderr, done.returncode

    return run
