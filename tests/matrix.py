"""Every TensorFlow that tfmemwatch is run on: make the environments, run the tests in each, print one table.

    python3 tests/matrix.py [ENV ...]         the contract and leak tests, in all environments but the newest, which
                                              `make test` runs them in, or in those named; in "replicas-py3.11",
                                              when it is named, those of Ray Serve and BentoML
    python3 tests/matrix.py --in ENV ARG ...  python ARG ... in one environment, or in "newest", "docs", "lint"
                                              or "quick"

Needs nothing but Python 3.9 or newer. The environments are kept outside the tree, in $TFMEMWATCH_CACHE.
"""

import configparser
import fcntl
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Dict, List, NoReturn, Optional
from xml.etree import ElementTree

TREE = Path(__file__).resolve().parent.parent
CACHE = Path(
    os.environ.get("TFMEMWATCH_CACHE")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tfmemwatch"
)
PYENV = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")

OLDEST, NEWEST_PYTHON = "tf1.15-py3.7", "tf2.21-py3.13"
ENVS = (  # what takes longest first
    OLDEST,
    NEWEST_PYTHON,
    "tf2.12-py3.9",
    "tf2.15-py3.10",
    "tf2.16-py3.11",
    "tf2.18-py3.12",
    "tf2.21-py3.11",
    "replicas-py3.11",
)
TENSORFLOW = {
    "tf1.15": ["tensorflow==1.15.5", "protobuf<3.21", "numpy<1.19", "h5py<3"],
    "tf2.12": ["tensorflow-cpu==2.12.1"],
    "tf2.15": ["tensorflow-cpu==2.15.1"],
    "tf2.16": ["tensorflow-cpu==2.16.2", "tf_keras==2.16.0"],
    "tf2.18": ["tensorflow-cpu==2.18.1"],
    "tf2.21": ["tensorflow-cpu==2.21.0"],
    "replicas": ["tensorflow-cpu==2.21.0", "ray[serve]==2.60.0", "bentoml==1.4.39"],
}
# Not what goes by the clock, tests/leaks/test_left_on.py, nor tests/memory: `make test` has those.
TESTS = ["tests/contract", "tests/leaks/test_leaks.py"]
# Leaks that Python's objects hold depend on Python, not on TensorFlow: all of them on the oldest, most on the newest
# Python, and all on Python 3.11 in `make test`. What TensorFlow holds is tested everywhere.
HELD_BY_PYTHON = ("bounded", "held", "python_objects", "innocent")  # files of tests/leaks
LEFT_OUT = {OLDEST: (), NEWEST_PYTHON: HELD_BY_PYTHON[:1]}
# Nothing runs beside these. They are run when they are asked for: 2 GB to install, and Ray alone takes some minutes.
TESTS_IN = {"replicas-py3.11": ["tests/outputs/test_serving.py", "-k", "replica"]}
# The newest TensorFlow of the table above that has a wheel for a Python.
NEWEST = {"3.13": "tf2.21", "3.12": "tf2.21", "3.11": "tf2.21", "3.10": "tf2.21", "3.9": "tf2.18"}
OWN_PYTHON = "%d.%d" % sys.version_info[:2]
WITHOUT_TENSORFLOW = ("docs", "lint", "quick")  # each with the packages of the extra of its name

ABOUT = """
import importlib, json, platform, tensorflow as tf, tfmemwatch
watch = tfmemwatch.install()
others = [importlib.import_module(name) for name in ("keras", "tf_keras") if importlib.util.find_spec(name)]
print(json.dumps({
    "TF": tf.__version__,
    "Python": platform.python_version(),
    "Keras": ", ".join(sorted({getattr(keras, "__version__", "") for keras in [tf.keras] + others} - {""})),
    "probes": "%d up, %d off" % (len(watch.probes), len(watch.off)),
}))
"""
COLUMNS = ("env", "TF", "Python", "Keras", "probes", "passed", "failed", "skipped", "seconds")
Row = Dict[str, Any]


class Absent(Exception):
    """This machine has no such Python."""


class Unmade(Exception):
    """An environment could not be made."""


def main(arguments: List[str]) -> int:
    if arguments[:1] == ["--in"]:
        run_in(arguments[1], arguments[2:])
    unknown = set(arguments) - set(ENVS)
    if unknown:
        sys.exit("no environment %s; there are: %s" % (", ".join(sorted(unknown)), ", ".join(ENVS)))
    envs = arguments or [env for env in ENVS if env not in TESTS_IN and env != newest()]
    with ThreadPoolExecutor(max_workers=2) as pool:
        rows = list(pool.map(row_of, [env for env in envs if env not in TESTS_IN]))
    rows += [row_of(env) for env in envs if env in TESTS_IN]  # Ray gives up on a machine that is busy
    print(table(rows))
    print("%d passed, %d failed, %d skipped" % tuple(total(rows, name) for name in COLUMNS[5:8]))
    return 1 if total(rows, "failed") else 0


def run_in(env: str, arguments: List[str]) -> NoReturn:
    try:
        python = str(made(newest() if env == "newest" else env))
    except (Absent, Unmade) as problem:
        sys.exit(str(problem))
    os.execve(python, [python, *arguments], environment())


def newest() -> str:
    """The environment of the newest TensorFlow for this python3; where it has none, for another Python."""
    for python in [OWN_PYTHON, *NEWEST]:
        if python not in NEWEST or interpreter(python) is None:
            continue
        if python != OWN_PYTHON:
            say("python3 is %s and has no TensorFlow or no venv: using Python %s" % (OWN_PYTHON, python))
        return "%s-py%s" % (NEWEST[python], python)
    raise Absent("no Python, with its venv module, that TensorFlow runs on: one of %s" % ", ".join(NEWEST))


def made(env: str) -> Path:
    """The python of an environment, made if it is missing, half made, or made for other requirements."""
    wanted = requirements(env)
    home = CACHE / env
    python, stamp = home / "bin" / "python", home / "requirements"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / (env + ".lock")).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        usable = stamp.exists() and python.exists()
        if usable and stamp.read_text().splitlines() == wanted:
            return python
        commands = [[str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *wanted]]
        if not usable:
            commands.insert(0, [str(base(env)), "-m", "venv", "--clear", str(home)])
        say("making %s in %s (once, some minutes)" % (env, CACHE))
        stamp.unlink(missing_ok=True)
        for command in commands:
            ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if ran.returncode:
                raise Unmade("%s could not be made:\n%s" % (env, ran.stdout))
        stamp.write_text("\n".join(wanted))  # last: an environment without it is only half made
    return python


def requirements(env: str) -> List[str]:
    setup = configparser.ConfigParser()
    setup.read(TREE / "setup.cfg", encoding="utf-8")
    extras = setup["options.extras_require"]
    own = setup["options"]["install_requires"]
    if env in WITHOUT_TENSORFLOW:
        return (own + extras[env]).strip().splitlines()
    own += extras["test"] + (extras["servers"] if env == newest() else "")
    return TENSORFLOW.get(env.split("-")[0], []) + own.strip().splitlines()


def base(env: str) -> Path:
    wanted = OWN_PYTHON if env in WITHOUT_TENSORFLOW else env.split("-py")[1]
    found = interpreter(wanted)
    if found is None:
        raise Absent("no Python %s, with its venv module, on PATH or in %s" % (wanted, PYENV))
    return found


@functools.lru_cache(maxsize=None)
def interpreter(version: str) -> Optional[Path]:
    """A Python of this version that works and can make environments."""
    kept = (PYENV / "versions").glob(version + ".*/bin/python")
    candidates = [sys.executable] if version == OWN_PYTHON else []
    candidates += [shutil.which("python" + version) or "", *map(str, sorted(kept, reverse=True))]
    for candidate in filter(None, candidates):
        tried = subprocess.run([candidate, "-c", "import ensurepip, venv"], capture_output=True)
        if tried.returncode == 0:  # pyenv puts a name on PATH that may not run
            return Path(candidate)
    return None


def row_of(env: str) -> Row:
    """One environment's line of the table."""
    started = time.monotonic()
    try:
        python = str(made(env))
    except Absent as absent:
        say("%s: %s" % (env, absent))
        return {"env": env, "TF": "absent", "failed": 1 if os.environ.get("CI") else 0}
    except Unmade as unmade:
        say(str(unmade))
        return {"env": env, "TF": "unmade", "failed": 1}
    result = {"env": env, **about(python), **tested(env, python)}
    result["seconds"] = round(time.monotonic() - started)
    return result


def about(python: str) -> Row:
    ran = ran_in_tree([python, "-c", ABOUT])
    if ran.returncode:
        say(ran.stderr)
        return {"TF": "?"}
    described: Row = json.loads(ran.stdout.splitlines()[-1])
    return described


def tested(env: str, python: str) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml", str(results)]
        left_out = " and ".join("not %s." % file for file in LEFT_OUT.get(env, HELD_BY_PYTHON))
        chosen = TESTS_IN.get(env, [*(["-k", left_out] if left_out else []), *TESTS])
        ran = ran_in_tree([*command, *chosen])
        suite = ElementTree.parse(results).find("testsuite") if results.exists() else None
    counts = {} if suite is None else {name: int(count) for name, count in suite.items() if count.isdigit()}
    skipped, failed = counts.get("skipped", 0), counts.get("failures", 0) + counts.get("errors", 0)
    if ran.returncode:
        failed = failed or 1  # it ended before it could count
        say("== %s\n%s" % (env, textwrap.indent(ran.stdout + ran.stderr, "    ")))
    return {"passed": counts.get("tests", 0) - skipped - failed, "failed": failed, "skipped": skipped}


def ran_in_tree(command: List[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, env=environment(), cwd=str(TREE), capture_output=True, text=True)


def environment() -> Dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(TREE)}


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def total(rows: List[Row], column: str) -> int:
    return sum(row.get(column, 0) for row in rows)


def table(rows: List[Row]) -> str:
    lines = [COLUMNS, *([str(row.get(column, "")) for column in COLUMNS] for row in rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
