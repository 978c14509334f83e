"""The examples run as they stand, and what they are configured with is valid."""

import collections
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import pytest
from parts import installed, program
from servers import LONGEST_SECONDS, eventually, free_port, read, running, scrape

TREE = Path(__file__).resolve().parents[2]
EXAMPLES = TREE / "examples" / "serving"
PATIENCE = 240  # seconds: that Ray takes on a busy machine; a scrape that fails in BentoML is told after 60


@pytest.mark.parametrize(
    "parts, command, ready",
    [
        (["fastapi", "uvicorn"], ["-m", "uvicorn", "fastapi_server:app", "--port", "{port}"], "running on"),
        (["flask", "gunicorn"], ["-m", "gunicorn", "-c", "gunicorn_conf.py", "flask_server:app"], "listening at"),
    ],
    ids=["fastapi", "flask"],
)
def test_the_example_servers_name_their_leak(tmp_path, parts, command, ready):
    """Started by one command and asked some hundred times, /metrics tells the line, in a form that promtool likes."""
    installed("tensorflow", *parts)
    promtool, port = program("promtool"), free_port()
    environ = {**os.environ, "PYTHONPATH": str(TREE), "LEAK": "1", "TFMEMWATCH_SAMPLE_SECONDS": "0.04",
               "BIND": "127.0.0.1:%d" % port, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}  # fmt: skip
    words = [sys.executable, *(word.format(port=port) for word in command)]
    asked = iter(range(10**6))

    def leak_found():
        for number in [next(asked) for _ in range(20)]:
            read(port, "/score/%d" % number)
        shown = scrape(port)
        return shown if shown.get('tfmemwatch_findings{kind="retrace"}', 0) >= 1 else None

    with running(words, ready, cwd=str(EXAMPLES), env=environ):
        shown = eventually(leak_found)
        text = "".join(line + "\n" for line in read(port).splitlines() if "tfmemwatch" in line)
    lines = (EXAMPLES / "model.py").read_text().splitlines()
    leak = "model.py:%d __call__()" % (1 + next(n for n, line in enumerate(lines) if "return self._score(" in line))
    assert [name for name in shown if name.startswith("tfmemwatch_suspect_info{") and leak in name]
    subprocess.run([promtool, "check", "metrics"], input=text.encode(), check=True)


def test_prometheus_takes_the_configuration():
    """With the rules that it names."""
    checking = [program("promtool"), "check", "config", "prometheus.yml"]
    subprocess.run(checking, cwd=str(EXAMPLES), check=True, stdout=subprocess.DEVNULL)


def test_alertmanager_takes_the_configuration():
    """As amtool reads it."""
    checking = [program("amtool"), "check-config", "alertmanager.yml"]
    subprocess.run(checking, cwd=str(EXAMPLES), check=True, stdout=subprocess.DEVNULL)


def test_the_provisioning_files_are_yaml(needs):
    """Grafana's own check needs Grafana; this much can be said without."""
    yaml = needs("yaml")
    files = sorted((EXAMPLES / "grafana" / "provisioning").rglob("*.yml"))
    assert [yaml.safe_load(file.read_text())["apiVersion"] for file in files] == [1, 1]


def ask_ray(port, number):
    return json.loads(read(port, "/score/%d" % number))["worker"]


def ask_bentoml(port, number):
    said = json.dumps({"number": number}).encode()
    asked = urllib.request.Request("http://127.0.0.1:%d/score" % port, said, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=LONGEST_SECONDS) as answer:
        return json.loads(answer.read().decode())["worker"]


@pytest.mark.parametrize(
    "part, ask, command",
    [
        ("ray", ask_ray, ["ray_server.py"]),
        ("bentoml", ask_bentoml, ["-m", "bentoml", "serve", "bento_server:Server", "--port", "{port}"]),
    ],
    ids=["ray", "bentoml"],
)
def test_a_killed_replica_leaves_its_counts_and_nothing_alive(tmp_path, part, ask, command):
    """Of two that leak, under Ray Serve and BentoML: one exposition has both, and names the line."""
    if importlib.util.find_spec(part) is None:
        pytest.skip("this one runs in an environment of its own: make replicas")
    installed("tensorflow")
    port, short = free_port(), tempfile.mkdtemp()  # Ray's sockets want a short name
    metrics_port = free_port() if part == "ray" else port
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TREE), str(EXAMPLES)]), "LEAK": "1",
               "TFMEMWATCH_SAMPLE_SECONDS": "0.04", "PORT": str(port), "METRICS_PORT": str(metrics_port),
               "HOME": str(tmp_path), "RAY_TMPDIR": short, "RAY_USAGE_STATS_ENABLED": "0",
               "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": str(PATIENCE), "RAY_worker_niceness": "0",
               "BENTOML_DO_NOT_TRACK": "True"}  # fmt: skip
    numbers, asked = iter(range(1, 10**6)), collections.Counter()

    def leak_found():
        for _ in range(20):
            asked[ask(port, next(numbers))] += 1
        shown = scrape(metrics_port)
        return len(asked) == 2 and [
            name for name in shown if name.startswith("tfmemwatch_suspect_info{") and "model.py:" in name
        ]

    def all_counted():
        """Each question was one trace, of the one replica or the other."""
        shown = shown_of(2)
        return shown if shown and counted(shown) == sum(asked.values()) else None

    def counted(shown):
        return shown.get("tfmemwatch_retraces_total", 0) + shown.get("tfmemwatch_traces_total", 0)

    def shown_of(replicas):
        shown = scrape(metrics_port)
        return shown if sum(name.startswith("tfmemwatch_resident_bytes{") for name in shown) == replicas else None

    words = [sys.executable, *(word.format(port=port) for word in command)]
    try:
        with running(words, cwd=str(EXAMPLES), env=environ):
            asked[eventually(lambda: ask(port, 0), PATIENCE)] += 1
            eventually(leak_found, PATIENCE)
            before = eventually(all_counted, PATIENCE)
            os.kill(min(asked, key=lambda pid: asked[pid]), signal.SIGKILL)
            after = eventually(lambda: shown_of(1), PATIENCE)
            assert counted(after) == counted(before)
            assert after["tfmemwatch_live_traces"] < before["tfmemwatch_live_traces"]
            again = eventually(lambda: shown_of(2), PATIENCE)
            assert counted(again) >= counted(before)
    finally:
        shutil.rmtree(short, ignore_errors=True)
