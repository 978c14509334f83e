"""What is printed for Kubernetes, and the example for it, fit together."""

import json
from pathlib import Path

import pytest

from tfmemwatch.cli.main import main
from tfmemwatch.config import ENVIRONMENT
from tfmemwatch.outputs.dashboard import dashboard

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "kubernetes"


def test_grafanas_sidecar_gets_the_dashboard(capsys):
    """As a ConfigMap with the sidecar's label, small enough to be applied."""
    yaml = pytest.importorskip("yaml")
    assert main(["dashboard", "--kubernetes", "--namespace", "monitoring"]) == 0
    printed = capsys.readouterr().out
    told = yaml.safe_load(printed)
    assert told["metadata"]["labels"] == {"grafana_dashboard": "1"} and told["metadata"]["namespace"] == "monitoring"
    assert json.loads(told["data"]["tfmemwatch.json"]) == json.loads(dashboard())
    assert len(printed) < 200000  # `kubectl apply` keeps a copy in an annotation, which may have 256 KiB


def test_the_deployment_is_one_that_is_scraped_and_limited():
    """The PodMonitor selects its pods and names its port; settings are settings, and there is a memory limit."""
    yaml = pytest.importorskip("yaml")
    deployment = yaml.safe_load((FOLDER / "deployment.yaml").read_text(encoding="utf-8"))
    monitor = yaml.safe_load((FOLDER / "podmonitor.yaml").read_text(encoding="utf-8"))
    pod = deployment["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    given = {row["name"]: row["value"] for row in container["env"]}
    assert monitor["spec"]["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    assert [one["port"] for one in monitor["spec"]["podMetricsEndpoints"]] == ["metrics"]
    assert int(given["TFMEMWATCH_PORT"]) == ports["metrics"] and given["TFMEMWATCH_ADDRESS"] == "0.0.0.0"
    known = {"TFMEMWATCH_" + name.upper() for name in ENVIRONMENT}
    assert {name for name in given if name.startswith("TFMEMWATCH_")} <= known
    assert container["resources"]["limits"]["memory"] and container["livenessProbe"] and container["readinessProbe"]
