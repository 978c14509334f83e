"""Importing it costs nothing, and does nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

TREE = str(Path(__file__).resolve().parent.parent)
TIMES = 5
LOADING = """
import json, sys, time
began = time.perf_counter()
import tfmemwatch
seconds = time.perf_counter() - began
import threading
print(json.dumps([seconds, sorted(sys.modules), threading.active_count()]))
"""
NAMING = """
import json, sys, tfmemwatch
tfmemwatch.install, tfmemwatch.watch, tfmemwatch.Finding
print(json.dumps(sorted(sys.modules)))
"""


def answer_of(program):
    """What a fresh Python prints."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TFMEMWATCH_")}
    environ["PYTHONPATH"] = TREE
    printed = subprocess.run([sys.executable, "-c", program], env=environ, stdout=subprocess.PIPE, check=True)
    return json.loads(printed.stdout.decode())


def packages(modules):
    return {name.split(".")[0] for name in modules}


def test_importing_takes_less_than_thirty_milliseconds():
    """Over a bare Python, the best of five."""
    assert min(answer_of(LOADING)[0] for _ in range(TIMES)) < 0.030


def test_importing_loads_nothing_heavy_and_starts_nothing():
    """Neither TensorFlow, nor prometheus_client, nor wrapt, nor psutil; no thread."""
    _, modules, threads = answer_of(LOADING)
    assert packages(modules) & {"tensorflow", "keras", "prometheus_client", "wrapt", "psutil", "numpy"} == set()
    assert threads == 1


def test_naming_what_it_offers_loads_no_tensorflow():
    """`from tfmemwatch import install` works where there is no TensorFlow."""
    assert packages(answer_of(NAMING)) & {"tensorflow", "keras", "prometheus_client", "numpy"} == set()
