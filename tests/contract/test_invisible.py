"""With the watch installed, a program behaves, prints and fails exactly as without it."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tfmemwatch
from tfmemwatch.seams import places

HERE = Path(__file__).resolve().parent
SECTIONS = (
    "autograph saved_model pickling signatures subclasses models mixed_precision distributed compiled "
    "errors warned graphs identity ending"
).split()

# What differs from run to run, watched or not.
NOISE = [
    (r"0x[0-9a-f]{6,}", "0x"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*", "TIME"),
    (r"\b([IWEF])\d{4} \d\d:\d\d:\d\d[.\d]*\s+\d+ ", r"\1 "),
    (r"/tmp/\w+", "TMP"),
    (r"\btmp\w{8}\b", "TMP"),
    (r"\d+(\.\d+)?(s|ms|us)(/\w+)?\b", "SOON"),
    (r"(__(?:inference|forward|backward)_[\w<>]+?)_\d+", r"\1"),
    (r"config_proto=\d+", "config_proto"),
    (r"(Dataset|Iterator\w*):\d+", r"\1"),
    (r"__autograph_generated_file\w+", "__autograph_generated_file"),
    (r"=+ *\] - ETA.*", ""),
    # On 3.13 gast warns, off by default, of each kind of syntax in what AutoGraph parses; a seam has its own.
    (r"(?m)^.*/gast/astn\.py:\d+: DeprecationWarning: .*\n.*\n", ""),
    (r"(?m) +\*\*$", ""),  # AutoGraph marks the first frame of what it left alone
]
# A frame of ours in a list of frames, with its line of source, and carets where Python draws them.
OURS = re.compile(
    r'^ *(?:File ")?[^"\n]*/tfmemwatch/(?:probes|seams|evidence)[^\n]*\.py"?[:,][^\n]*\n[^\n]*\n(?: *[~^]+ *\n)?',
    re.M,
)


def normal(text):
    text = OURS.sub("", text)
    for pattern, instead in NOISE:
        text = re.sub(pattern, instead, text)
    return text


def sections(text):
    parts = re.split(r"^==== (\w+)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]), imports=parts[0])


class Run:
    """One run of the ordinary program."""

    def __init__(self, side, ending):
        env = dict(os.environ, PYTHONPATH=str(HERE.parent.parent), PYTHONHASHSEED="0")
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", str(HERE / "ordinary_program.py"), side, ending], env=env,
            cwd=str(HERE), capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert done.returncode >= 0, "%s: killed by signal %d\n%s" % (side, -done.returncode, done.stderr[-6000:])
        self.code = done.returncode
        self.out = sections(normal(done.stdout))
        self.err = sections(normal(done.stderr))


@pytest.fixture(scope="module")
def bare():
    return Run("bare", "uncaught")


@pytest.fixture(scope="module", params=["before", "after"])
def watched(request):
    return Run(request.param, "uncaught")


@pytest.mark.parametrize("section", [*SECTIONS, "imports"])
def test_a_program_prints_the_same(bare, watched, section):
    """Standard output is the same, line for line: AutoGraph, SavedModel, pickling, signatures, errors, and the rest."""
    assert watched.out.get(section, "").splitlines() == bare.out.get(section, "").splitlines()


@pytest.mark.parametrize("section", [*SECTIONS, "imports"])
def test_a_program_complains_the_same(bare, watched, section):
    """Not one line more, less or other on stderr: warnings, deprecations with file and line, uncaught errors."""
    assert watched.err.get(section, "").splitlines() == bare.err.get(section, "").splitlines()


def test_a_program_ends_the_same(bare, watched):
    """An uncaught error ends it with the same code."""
    assert (bare.code, watched.code) == (1, 1)
    assert "uncaught" in watched.err["ending"]


def attributes():
    """Everything that stands in the modules and classes of TensorFlow and Keras, by where it stands."""
    found = {}
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] not in ("tensorflow", "tensorflow_core", "keras", "tf_keras") or module is None:
            continue
        for attribute, value in list(getattr(module, "__dict__", {}).items()):
            found[name, attribute] = value
            if isinstance(value, type):
                for member, held in list(vars(value).items()):
                    found[value, member] = held
    return found


def differing(before):
    """What is not what it was."""
    after = attributes()
    lost = [key for key in before if key not in after]
    new = [key for key in after if key not in before and not str(key[1]).startswith("__")]
    return lost + new + [key for key in before if key in after and after[key] is not before[key]]


def test_uninstall_leaves_every_attribute_as_it_was(tf):
    """After uninstall() everything that was wrapped `is` the original again, and nothing was added."""
    tf.function(lambda x: x)(1.0)  # TensorFlow itself adds some at first use
    before = attributes()
    tfmemwatch.install(sample_seconds=3600)
    wrapped = differing(before)
    tf.function(lambda x: x)(1.0)
    tfmemwatch.uninstall()
    assert len(wrapped) > 20
    assert differing(before) == []


def test_uninstall_and_install_again(tf):
    """It can be done many times over; nothing piles up."""
    before = attributes()
    for _ in range(3):
        tfmemwatch.install(sample_seconds=3600)
        tfmemwatch.uninstall()
    assert differing(before) == []


def test_a_wrapper_of_another_library_stays(tf):
    """Who wrapped on top of ours keeps their wrapper; ours below passes through and counts no more."""
    place = places.find("session_run")
    original = vars(place.holder)[place.attribute]
    watch = tfmemwatch.install(sample_seconds=3600)
    ours = vars(place.holder)[place.attribute]
    seen = []

    def theirs(self, *args, **kwargs):
        seen.append(args)
        return ours(self, *args, **kwargs)

    setattr(place.holder, place.attribute, theirs)
    try:
        tfmemwatch.uninstall()
        assert vars(place.holder)[place.attribute] is theirs
        before = watch.state.read()
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            for _ in range(3):
                session.run(tf.constant(1.0))
        assert len(seen) == 3
        assert watch.state.read() == before
    finally:
        setattr(place.holder, place.attribute, original)


def descriptors():
    return sorted(os.readlink("/proc/self/fd/" + fd) for fd in os.listdir("/proc/self/fd") if exists(fd))


def exists(fd):
    return os.path.lexists("/proc/self/fd/" + fd)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc here")
def test_uninstall_leaves_no_thread_and_no_file(tf):
    """The thread has ended and the file descriptor is given back when uninstall() returns."""
    before = threading.active_count(), descriptors()
    tfmemwatch.install(sample_seconds=0.01)
    tf.Variable(1.0)
    tfmemwatch.uninstall()
    assert (threading.active_count(), descriptors()) == before


def test_an_exit_code_is_kept(run_program):
    """sys.exit(3) stays 3, with the watch at work and things still open."""
    program = """
        import sys, tfmemwatch
        tfmemwatch.install(sample_seconds=0.001)
        import tensorflow as tf
        kept = [tf.compat.v1.Session(graph=tf.Graph()), tf.compat.v1.InteractiveSession(graph=tf.Graph())]
        v = tf.compat.v1.get_variable("v", [1], use_resource=True)
        sys.exit(3)
    """
    out, err, code = run_program("-c", program)
    assert (out, code) == ("", 3)
    assert "Exception ignored" not in err
    assert "tfmemwatch itself failed" not in err
