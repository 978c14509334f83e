"""Jobs that end, many hosts, and OpenTelemetry: the same metrics, by other ways."""

import http.server
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from parts import installed, program
from servers import LISTENS, LONGEST_SECONDS, PROMETHEUS_IS_READY, free_port, listening, read, running

import tfmemwatch
from tfmemwatch import catalog
from tfmemwatch.errors import ConfigError
from tfmemwatch.outputs.rules import rules
from tfmemwatch.outputs.series import taskname

TREE = Path(__file__).resolve().parents[2]


def run(source, **environ):
    subprocess.run([sys.executable, "-c", source], env={**os.environ, "PYTHONPATH": str(TREE), **environ}, check=True)


def test_a_job_leaves_its_last_values_in_a_file(tmp_path):
    """When it ends by itself; in the format that node_exporter's textfile collector reads."""
    file = tmp_path / "job.prom"
    run("import tfmemwatch; tfmemwatch.install()", TFMEMWATCH_TEXTFILE=str(file))
    text = file.read_bytes()
    assert b"tfmemwatch_build_info{" in text
    assert os.listdir(str(tmp_path)) == ["job.prom"]
    subprocess.run([program("promtool"), "check", "metrics"], input=text, check=True)


def test_uninstall_leaves_the_last_values_once(tmp_path):
    """And what the program does later is not the watch's."""
    file = tmp_path / "job.prom"
    run(
        "import os, tfmemwatch; tfmemwatch.install(textfile=%r); tfmemwatch.uninstall(); os.remove(%r)"
        % (str(file), str(file))
    )
    assert not file.exists()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_does_not_speak_for_the_job(tmp_path):
    """A fork that ends first writes nothing."""
    file = tmp_path / "job.prom"
    run(
        "import os, sys, tfmemwatch; tfmemwatch.install(textfile=%r); pid = os.fork()\n"
        "if not pid: sys.exit()\n"
        "os.waitpid(pid, 0); assert not os.path.exists(%r)" % (str(file), str(file))
    )
    assert file.exists()


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"textfile": "/nowhere/job.prom"}, "textfile is '/nowhere/job.prom'; it must be a file in a folder"),
        ({"textfile": "/proc/job.prom"}, "textfile is '/proc/job.prom'; it must be a file"),  # to root, too
        ({"textfile": "job.txt"}, "textfile is 'job.txt'; it must end in .prom"),
        ({"pushgateway": "localhost:9091"}, "pushgateway is 'localhost:9091'; it must be an address"),
        ({"meter_provider": 3}, "meter_provider is 3; it must be an OpenTelemetry MeterProvider"),
        ({"port": 0, "textfile": "/nowhere/job.prom"}, "textfile"),
    ],
)
def test_where_nothing_can_be_left_is_an_error_and_nothing_is_installed(settings, message):
    """It is said when the job begins, not when it ends."""
    threads = threading.active_count()
    with pytest.raises(ConfigError, match=message):
        tfmemwatch.install(**settings)
    assert tfmemwatch.current() is None
    assert threading.active_count() == threads


@pytest.mark.slow
def test_a_job_pushes_its_last_values(tmp_path):
    """To a real Pushgateway, under its job and host; what is replaced is what it pushed before."""
    gateway, port = program("prometheus-pushgateway", "pushgateway"), free_port()
    with running([gateway, "--web.listen-address=127.0.0.1:%d" % port], LISTENS):
        for _ in range(2):
            run("import tfmemwatch; tfmemwatch.install(pushgateway='http://127.0.0.1:%d', job='night/ly')" % port)
        shown = [line for line in read(port).splitlines() if line.startswith("tfmemwatch_build_info{")]
    assert len(shown) == 1
    assert 'job="night/ly"' in shown[0]


def test_a_gateway_that_is_not_there_is_said_and_harms_nobody(caplog):
    """The job has done its work, whoever counts it."""
    tfmemwatch.install(sample_seconds=3600, pushgateway="http://127.0.0.1:%d" % free_port())
    tfmemwatch.uninstall()
    assert "could not be sent" in caplog.text


# -- many hosts


@pytest.mark.parametrize(
    "setting, expected",
    [
        ('{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}', ("worker", "1")),
        ("", None),
        ("{", None),
        ("[]", None),
        ('{"task": 3}', None),
    ],
)
def test_a_task_of_a_cluster_has_its_type_and_index(setting, expected):
    """From TF_CONFIG, whatever is in it."""
    assert taskname(setting) == expected


TRAINING = """
import sys
import tfmemwatch
watch = tfmemwatch.install(port=int(sys.argv[1]), sample_seconds=3600)
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
index = strategy.cluster_resolver.task_id
with strategy.scope():
    total = tf.Variable(0.0)
@tf.function
def step():
    strategy.run(lambda: total.assign_add(1.0, read_value=False))
kept = []
for _ in range(200):
    step()
    if index == 1:
        kept.append(tf.Variable(1.0))
    watch.look()
print("all steps are done", flush=True)
sys.stdin.read()
"""
LEAKING = """
groups:
  - name: who
    rules:
      - alert: Leaking
        expr: >
          job:tfmemwatch_leaking_instance:topk1 * on (job, instance) group_left (task_type, task_index)
          tfmemwatch_task_info
"""


@pytest.mark.slow
def test_of_two_hosts_the_one_that_leaks_is_named(tmp_path):
    """Two workers of a MultiWorkerMirroredStrategy, one real Prometheus, and a rule that says who it is."""
    installed("tensorflow")
    prometheus = program("prometheus")
    (tmp_path / "train.py").write_text(TRAINING)
    ports, metrics = [free_port(), free_port()], [free_port(), free_port()]
    (tmp_path / "rules.yml").write_text(rules(), encoding="utf-8")
    (tmp_path / "leaking.yml").write_text(LEAKING)

    def worker(index):
        cluster = {"cluster": {"worker": ["127.0.0.1:%d" % port for port in ports]},
                   "task": {"type": "worker", "index": index}}  # fmt: skip
        return running(
            [sys.executable, "train.py", str(metrics[index])], at_once=True, cwd=str(tmp_path),
            env={**os.environ, "PYTHONPATH": str(TREE), "TF_CONFIG": json.dumps(cluster)},
        )  # fmt: skip

    command = [prometheus, "--config.file=prometheus.yml", "--storage.tsdb.path=data",
               "--web.listen-address=127.0.0.1:%d" % free_port()]  # fmt: skip
    with listening() as (pager_port, heard):
        (tmp_path / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yml", "leaking.yml"],
            "scrape_configs": [{"job_name": "training", "static_configs": [
                {"targets": ["127.0.0.1:%d" % port for port in metrics]}]}],
            "alerting": {"alertmanagers": [{"static_configs": [{"targets": ["127.0.0.1:%d" % pager_port]}]}]},
        }))  # fmt: skip
        with worker(0) as innocent, worker(1) as leaky, running(command, PROMETHEUS_IS_READY, cwd=str(tmp_path)):
            innocent.hears("all steps are done")
            leaky.hears("all steps are done")
            names = {}
            while names.get("alertname") != "Leaking":
                (alert, *_) = heard.get(timeout=LONGEST_SECONDS)
                names = alert["labels"]
    assert (names["task_type"], names["task_index"]) == ("worker", "1")
    assert names["instance"] == "127.0.0.1:%d" % metrics[1]
    assert names["site"].startswith("train.py:")


# -- OpenTelemetry


@pytest.fixture
def sdk(needs):
    return needs("opentelemetry.sdk.metrics")


def points_of(data):
    return {
        metric.name: metric
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }


def test_opentelemetry_gets_the_same_metrics(sdk, needs):
    """On the program's own MeterProvider: counters add up, levels are as they are, labels are attributes."""
    export = needs("opentelemetry.sdk.metrics.export")
    reader = export.InMemoryMetricReader()
    provider = sdk.MeterProvider([reader])
    tfmemwatch.install(sample_seconds=3600, meter_provider=provider)
    metrics = points_of(reader.get_metrics_data())
    assert metrics["tfmemwatch.looks"].data.is_monotonic
    assert metrics["tfmemwatch.resident_bytes"].unit == "By"
    (build,) = metrics["tfmemwatch.build_info"].data.data_points
    assert build.attributes["version"] == tfmemwatch.__version__
    always = {"tfmemwatch." + metric.name[11:].replace("_total", "") for metric in catalog.METRICS if metric.kinds}
    assert always <= set(metrics)
    tfmemwatch.uninstall()
    assert reader.get_metrics_data() is None or not points_of(reader.get_metrics_data())
    provider.shutdown()


def test_where_the_registry_can_not_be_had_opentelemetry_hears_nothing(sdk, needs):
    """Nothing is half installed: what came before the error is taken back."""
    client = needs("prometheus_client")
    reader = needs("opentelemetry.sdk.metrics.export").InMemoryMetricReader()
    provider, registry = sdk.MeterProvider([reader]), client.CollectorRegistry()
    client.Counter("tfmemwatch_looks", "Mine", registry=registry)
    with pytest.raises(ConfigError, match="registry"):
        tfmemwatch.install(sample_seconds=3600, meter_provider=provider, registry=registry)
    data = reader.get_metrics_data()
    assert data is None or not points_of(data)
    provider.shutdown()


def test_opentelemetry_sends_them_out(sdk, needs):
    """Through the real OTLP exporter, over HTTP."""
    export = needs("opentelemetry.sdk.metrics.export")
    otlp = needs("opentelemetry.exporter.otlp.proto.http.metric_exporter")
    request = needs("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
    heard = []

    class Collector(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            heard.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        exporter = otlp.OTLPMetricExporter("http://127.0.0.1:%d/v1/metrics" % server.server_port)
        provider = sdk.MeterProvider([export.PeriodicExportingMetricReader(exporter, 3_600_000)])
        tfmemwatch.install(sample_seconds=3600, meter_provider=provider)
        assert provider.force_flush()
        tfmemwatch.uninstall()
        provider.shutdown()
    finally:
        server.shutdown()
        server.server_close()
    sent = request.ExportMetricsServiceRequest.FromString(heard[0])
    names = {metric.name for metric in sent.resource_metrics[0].scope_metrics[0].metrics}
    assert {"tfmemwatch.build_info", "tfmemwatch.retraces"} <= names
