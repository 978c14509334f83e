"""Thousands of requests and messages of every kind do not harm the program; `benchmarks/fuzz.py` throws a million."""

import os
import subprocess
import sys
from pathlib import Path

import own_process

FUZZ = Path(__file__).resolve().parents[2] / "benchmarks" / "fuzz.py"


def test_what_is_thrown_at_port_and_socket_does_no_harm():
    """It answers to the end, counts no failure of its own, and has no descriptor or thread more."""
    command = [sys.executable, str(FUZZ), "--requests", "5000", "--messages", "1500", "--seed", "11"]
    done = subprocess.run(
        command, env=dict(os.environ, PYTHONPATH=own_process.TREE), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == 0, done.stdout.decode()
