"""The examples run as they stand, and what they are configured with is valid."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from parts import program
from servers import eventually, free_port, read, running, scrape

TREE = Path(__file__).resolve().parent.parent
EXAMPLES = TREE / "examples" / "serving"


@pytest.mark.parametrize(
    "parts, command",
    [
        (["fastapi", "uvicorn"], ["-m", "uvicorn", "fastapi_server:app", "--port", "{port}", "--log-level", "warning"]),
        (["flask", "gunicorn"], ["-m", "gunicorn", "-c", "gunicorn_conf.py", "flask_server:app"]),
    ],
    ids=["fastapi", "flask"],
)
def test_the_example_servers_name_their_leak(tmp_path, needs, parts, command):
    """Started by one command and asked some hundred times, /metrics tells the line, in a form that promtool likes."""
    for part in ["tensorflow", *parts]:
        needs(part)
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

    with running(words, tmp_path / "log", cwd=str(EXAMPLES), env=environ):
        eventually(lambda: read(port, "/score/0"))
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
