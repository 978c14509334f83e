"""The rules: an alert comes when it should, not otherwise, says what to do, and goes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from parts import installed, program
from servers import LISTENS, LONGEST_SECONDS, PROMETHEUS_IS_READY, free_port, listening, running

from tfmemwatch.cli.main import main
from tfmemwatch.outputs.rules import ALERTS, kept, prometheus_rule, rules, runbook_of

TREE = Path(__file__).resolve().parents[2]
COMMITTED = TREE / "examples" / "serving" / "rules.yml"
OF = 'job="j",instance="i"'
SITE = OF + ',site="train.py:41 step()"'


def test_the_rules_in_the_examples_are_those_that_are_printed():
    """`tfmemwatch rules --output examples/serving/rules.yml` brings them up to date."""
    assert COMMITTED.read_text(encoding="utf-8") == rules()


def test_the_command_prints_what_it_writes(capsys, tmp_path):
    """Both are the same file."""
    assert main(["rules"]) == 0
    assert main(["rules", "--output", str(tmp_path / "rules.yml")]) == 0
    assert capsys.readouterr().out == (tmp_path / "rules.yml").read_text(encoding="utf-8")


def test_a_file_that_can_not_be_written_is_said(capsys, tmp_path):
    """And nothing is printed in its stead."""
    assert main(["rules", "--output", str(tmp_path / "no" / "rules.yml")]) == 4
    assert "no/rules.yml" in capsys.readouterr().err


def test_promtool_finds_no_fault():
    """Nor does its linter."""
    checking = [program("promtool"), "check", "rules", "--lint=all", "--lint-fatal", str(COMMITTED)]
    subprocess.run(checking, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_every_alert_waits_keeps_on_and_says_what_to_do(alert):
    """for, keep_firing_for, a severity, a summary, and a description."""
    assert alert["for"] and alert["keep_firing_for"]
    assert alert["labels"]["severity"] in ("warning", "critical")
    assert "instance" in alert["annotations"]["summary"] + alert["annotations"]["description"]
    assert alert["annotations"]["description"].endswith((".", "}}"))


# Of each alert: series, the minutes at which it fires, and those at which it is silent.
CASES = {
    "TfmemwatchLeakFound": (
        {"tfmemwatch_suspect_info{%s,kind=\"variable\",cause=\"c\",cure=\"d\"}" % SITE: "1x30 _x60"}, (5, 45), (1, 60),
    ),
    "TfmemwatchRetraceStorm": (
        {"tfmemwatch_retraces_total{%s,function=\"f\"}" % SITE: "0+30x60 1800x60"}, (20,), (5, 100),
    ),
    "TfmemwatchSessionsLeftOpen": (
        {"tfmemwatch_open_sessions{%s}" % SITE: "9x60 0x60",
         "tfmemwatch_oldest_session_seconds{%s}" % SITE: "3601x60 0x60"}, (15,), (5, 80),
    ),
    "TfmemwatchOrphanFunctions": (
        {"tfmemwatch_orphan_functions{%s}" % OF: "0+10x120 1200x180"}, (90,), (20, 250),
    ),
    "TfmemwatchLimitWithinSixHours": (
        {"tfmemwatch_limit_seconds{%s,limit=\"container\"}" % OF: "30000-60x240 _x60"}, (200,), (130, 280),
    ),
    "TfmemwatchLimitWithinAnHour": (
        {"tfmemwatch_limit_seconds{%s,limit=\"container\"}" % OF: "9000-60x140 _x60"}, (130,), (80, 175),
    ),
    "TfmemwatchDown": (
        {"tfmemwatch_last_look_timestamp_seconds{%s,pid=\"tfmemwatch0\"}" % OF: "0+60x120",  # one of two workers
         "tfmemwatch_last_look_timestamp_seconds{%s,pid=\"tfmemwatch1\"}" % OF: "0+60x30 1800x30 3600+60x60"},
        (45,), (20, 90),
    ),
    "TfmemwatchOverBudget": (
        {"tfmemwatch_own_seconds_total{%s}" % OF: "0+3x60 180x60",
         "tfmemwatch_last_look_timestamp_seconds{%s}" % OF: "0+60x120"}, (40,), (5, 110),
    ),
}  # fmt: skip
HEALTHY = {
    "tfmemwatch_retraces_total{%s,function=\"f\"}" % SITE: "0+1x240",
    "tfmemwatch_open_sessions{%s}" % SITE: "9x240",
    "tfmemwatch_oldest_session_seconds{%s}" % SITE: "10x240",
    "tfmemwatch_registered_functions{%s}" % OF: "0+10x240",
    "tfmemwatch_orphan_functions{%s}" % OF: "40x240",
    "tfmemwatch_live_traces{%s,function=\"f\"}" % SITE: "0+5x240",
    "tfmemwatch_resident_bytes{%s}" % OF: "300000000+200000000x10 2300000000+1000x230",  # a start-up is no growth
    "tfmemwatch_limit_left_bytes{%s,limit=\"container\"}" % OF: "3000000000-200000000x10 1000000000-1000x230",
    "tfmemwatch_last_look_timestamp_seconds{%s}" % OF: "0+60x240",
    "tfmemwatch_own_seconds_total{%s}" % OF: "0+0.05x240",
    "tfmemwatch_looks_total{%s}" % OF: "0+12x240",
}  # fmt: skip


def promtool_says(folder, series, questions, alerts=(), of=""):
    """What `promtool test rules` says of series, and of questions with their answers at some minutes."""
    (folder / "rules.yml").write_text(of or rules(), encoding="utf-8")
    test = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": "1m",
        "tests": [{
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "promql_expr_test": [
                {"expr": expr, "eval_time": "%dm" % minute, "exp_samples": [{"labels": "{}", "value": value}]}
                for expr, minute, value in questions
            ],
            "alert_rule_test": list(alerts),
        }],
    }  # fmt: skip
    (folder / "test.yml").write_text(json.dumps(test))
    testing = [program("promtool"), "test", "rules", "test.yml"]
    ran = subprocess.run(testing, cwd=str(folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return ran.returncode, ran.stdout.decode()


@pytest.mark.parametrize("alert", [alert["alert"] for alert in ALERTS])
def test_an_alert_fires_and_resolves(tmp_path, alert):
    """After its wait, and no longer than the trouble and its own patience."""
    series, firing, silent = CASES[alert]
    asked = 'count(ALERTS{alertname="%s",alertstate="firing"}) or vector(0)' % alert
    questions = [(asked, minute, 1) for minute in firing] + [(asked, minute, 0) for minute in silent]
    status, said = promtool_says(tmp_path, series, questions)
    assert status == 0, said


@pytest.mark.parametrize(
    "series, minutes, is_down",
    [
        # Off by budget: looks stand still, the last one is fresh, and probes are up.
        ({"tfmemwatch_looks_total{%s}": "579x120", "tfmemwatch_last_look_timestamp_seconds{%s}": "0+60x120"}, 90, 1),
        ({'tfmemwatch_level{%s,because="budget"}': "0x60", "tfmemwatch_looks_total{%s}": "0+12x60"}, 20, 1),
        ({'tfmemwatch_level{%s,because="budget"}': "1x60", "tfmemwatch_looks_total{%s}": "0+12x60"}, 20, 0),
        # Whoever turned it off knows.
        ({'tfmemwatch_level{%s,because="set"}': "0x60", "tfmemwatch_looks_total{%s}": "579x60"}, 50, 0),
    ],
    ids=["looks stand still", "off by budget", "lowered", "off as set"],
)
def test_a_watch_that_is_off_by_budget_is_an_alarm(tmp_path, series, minutes, is_down):
    """Nothing watches there any more; off as it was set is none."""
    series = {name % OF: values for name, values in series.items()}
    asked = 'count(ALERTS{alertname="TfmemwatchDown",alertstate="firing"}) or vector(0)'
    status, said = promtool_says(tmp_path, {**series, "up{%s}" % OF: "1x120"}, [(asked, minutes, is_down)])
    assert status == 0, said


def test_a_healthy_program_alarms_nobody(tmp_path):
    """Some retraces, some sessions, functions that grow with their traces: hours of it."""
    asked = 'count(ALERTS{alertstate="firing"}) or vector(0)'
    status, said = promtool_says(tmp_path, HEALTHY, [(asked, minute, 0) for minute in (60, 120, 200)])
    assert status == 0, said


def suspect(kind="variable", site="train.py:41 step()", bytes="41943040x200", cause="it grows", cure="Make it once."):
    """The series of one leak that is open."""
    labels = '%s,kind="%s",site=%s' % (OF, kind, json.dumps(site))
    told = "%s,cause=%s,cure=%s" % (labels, json.dumps(cause), json.dumps(cure))
    return {"tfmemwatch_suspect_info{%s}" % told: "1x200", "tfmemwatch_suspect_bytes{%s}" % labels: bytes}


CAUSES = 'tfmemwatch_retrace_causes_total{%s,function="score",argument="%s",cause="%s"}'
STORM = {
    'tfmemwatch_retraces_total{%s,function="score"}' % SITE: "0+30x200",
    CAUSES % (SITE, "boost", "a new Python float"): "0+25x200",
    CAUSES % (SITE, "x", "a new batch size"): "0+5x200",
}
SOON = {'tfmemwatch_limit_seconds{%s,limit="container"}' % OF: "3000x200"}
LATER = {'tfmemwatch_limit_seconds{%s,limit="container"}' % OF: "9000x200"}
LOST = {"tfmemwatch_orphan_functions{%s}" % OF: "0+10x200"}
LEAKS = "train.py:41 step(): it grows; at least 40MiB kept. Cure: Make it once. "
NEXT = "train.py:9 f(): b; at least 8.583MiB kept. Cure: c. "
RETRACED = (
    "train.py:41 step(): the tf.function score is traced again and again, most often for boost: a new Python "
    "float. Cure: "
)
HOSTILE = 'a"b`\\\\n{{.}}.py'
MORE_LABELS = {
    "LeakFound": {"kind": "variable", "site": "train.py:41 step()"},
    "RetraceStorm": {"function": "score", "site": "train.py:41 step()"},
}
# What is there, and the page that comes: summary and description.
PAGES = {
    "LeakFound": (suspect(), "A leak (variable) at train.py:41 step() on i", LEAKS),
    "LeakFound of unknown size": (
        suspect(bytes="0x200"), "A leak (variable) at train.py:41 step() on i",
        "train.py:41 step(): it grows. Cure: Make it once. ",
    ),
    "LeakFound with a hostile name": (
        suspect(site=HOSTILE), "A leak (variable) at %s on i" % HOSTILE, LEAKS.replace("train.py:41 step()", HOSTILE),
    ),
    "RetraceStorm": (
        STORM, "score is traced 0.5 times a second at train.py:41 step() on i",
        RETRACED + "Pass tensors instead of Python values, give it an input_signature with None where shapes vary, or "
        "reduce_retracing=True.",
    ),
    "LimitWithinSixHours": (
        {**LATER, **suspect()}, "i reaches its memory limit in 2h 30m 0s",
        "Memory grows steadily; the time is for its present rate. " + LEAKS,
    ),
    "LimitWithinAnHour": (
        {**SOON, **suspect("tape", "train.py:9 f()", "9000000x200", "b", "c."), **suspect()},
        "i reaches its memory limit in 50m 0s",
        "Memory grows steadily; the time is for its present rate. Restart the process before then. " + LEAKS + NEXT,
    ),
    "LimitWithinAnHour by nobody known": (
        SOON, "i reaches its memory limit in 50m 0s",
        "Memory grows steadily; the time is for its present rate. Restart the process before then. No line is known to "
        "leak yet. tfmemwatch.report() in that process, or `tfmemwatch owners --door FOLDER`, says whose memory it is.",
    ),
    "OrphanFunctions": (
        {**LOST, **suspect()}, "600 functions without an owner have come in an hour on i",
        "TensorFlow's runtime holds more and more functions that no living trace owns. Often the cause is a SavedModel "
        "that is loaded again and again. Cure: Load it once, or in a process of its own. " + LEAKS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_who_is_paged_reads_the_line_and_the_cure(tmp_path, name):
    """In the page itself: what leaks there, the largest first, and what to write instead."""
    series, summary, description = PAGES[name]
    alert = next(one for one in ALERTS if one["alert"] == "Tfmemwatch" + name.split()[0])
    labels = dict(MORE_LABELS.get(name.split()[0], {}), job="j", instance="i", severity=alert["labels"]["severity"])
    if "hostile" in name:
        labels["site"] = HOSTILE
    told = {"summary": summary, "description": description, "runbook_url": runbook_of(alert["alert"])}
    expected = {
        "eval_time": "100m", "alertname": alert["alert"],
        "exp_alerts": [{
            "exp_labels": labels, "exp_annotations": told}],
    }  # fmt: skip
    status, said = promtool_says(tmp_path, series, [], [expected])
    assert status == 0, said


UNKNOWN = OF + ',site="unknown"'
STORMS = {
    'tfmemwatch_retraces_total{%s,function="score"}' % SITE: "0+30x200",
    'tfmemwatch_retraces_total{%s,function="unknown"}' % UNKNOWN: "0+30x200",
}
SESSIONS = {
    "tfmemwatch_open_sessions{%s}" % SITE: "9x200", "tfmemwatch_oldest_session_seconds{%s}" % SITE: "3601+60x200",
}  # fmt: skip
# What workers of one address show, and the one alert that comes of it.
ONES = {
    "found by one worker, and without a line by another": (
        {**suspect("retrace"), **suspect("retrace", site="unknown"), **STORMS}, "TfmemwatchLeakFound",
    ),
    "found without a line": ({**suspect("retrace", site="unknown"), **STORMS}, "TfmemwatchLeakFound"),
    "not yet found": (STORMS, "TfmemwatchRetraceStorm"),
    "sessions": ({**suspect("session_unclosed"), **SESSIONS}, "TfmemwatchLeakFound"),
    "a limit in an hour": (SOON, "TfmemwatchLimitWithinAnHour"),
    "models that are loaded again and again": ({**LOST, **suspect("model_rebuild")}, "TfmemwatchLeakFound"),
}  # fmt: skip


@pytest.mark.parametrize("name", ONES)
def test_one_leak_is_one_alert(tmp_path, name):
    """Whoever else has seen it, with or without a line: what explains another alert stands for it."""
    series, alert = ONES[name]
    asked = [
        ('count(ALERTS{alertstate="firing"})', 100, 1),
        ('count(ALERTS{alertname="%s",alertstate="firing"})' % alert, 100, 1),
    ]
    status, said = promtool_says(tmp_path, series, asked)
    assert status == 0, said


def test_two_leaks_are_two_alerts(tmp_path):
    """Of one kind at two lines; and a storm elsewhere."""
    elsewhere = {'tfmemwatch_retraces_total{%s,function="f",site="b.py:2 g()"}' % OF: "0+30x200"}
    series = {**suspect("retrace"), **suspect("retrace", site="b.py:1 f()"), **elsewhere}
    status, said = promtool_says(tmp_path, series, [('count(ALERTS{alertstate="firing"})', 100, 3)])
    assert status == 0, said


@pytest.mark.parametrize(
    "labels, keep, left",
    [
        ({"namespace": "team-a", "pod": "web-1"}, "namespace,pod", {"namespace": "team-a", "pod": "web-1"}),
        ({"namespace": "team-a", "pod": "web-1", "cluster": "eu"}, "cluster", {"cluster": "eu"}),
        ({}, "namespace,pod", {}),
    ],
)
def test_alerts_keep_the_labels_that_a_platform_needs(tmp_path, labels, keep, left):
    """Of Kubernetes unless others are named; who is paged finds the pod by its name."""
    more = "".join(',%s="%s"' % row for row in labels.items())
    series = {name.replace(OF, OF + more): values for name, values in suspect().items()}
    own = rules(kept(keep), "https://wiki/{alert}.html")
    expected = {
        "eval_time": "10m", "alertname": "TfmemwatchLeakFound",
        "exp_alerts": [{
            "exp_labels": {"job": "j", "instance": "i", "kind": "variable", "site": "train.py:41 step()",
                           "severity": "warning", **left},
            "exp_annotations": {
                "summary": "A leak (variable) at train.py:41 step() on " + left.get("pod", "i"), "description": LEAKS,
                "runbook_url": "https://wiki/TfmemwatchLeakFound.html"}}],
    }  # fmt: skip
    status, said = promtool_says(tmp_path, series, [], [expected], own)
    assert status == 0, said


def test_every_alert_has_its_page_in_the_runbook():
    """Under the address that the alert gives."""
    page = (TREE / "docs" / "pages" / "alerts.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\w+)$", page, re.M) == [alert["alert"] for alert in ALERTS]
    assert runbook_of("TfmemwatchDown").endswith("docs/pages/alerts.md#tfmemwatchdown")
    assert runbook_of("A", "https://wiki/runbooks") == "https://wiki/runbooks/A"


def test_what_explains_an_alert_silences_it_at_the_pager():
    """The example's Alertmanager knows every alert that it names, and what silences what."""
    yaml = pytest.importorskip("yaml")
    rows = yaml.safe_load((TREE / "examples" / "serving" / "alertmanager.yml").read_text())["inhibit_rules"]
    named = re.findall(r"Tfmemwatch\w+", json.dumps(rows))
    assert set(named) <= {alert["alert"] for alert in ALERTS} and len(rows) >= 3
    assert all({"job", "instance"} <= set(row["equal"]) for row in rows)


def test_kubernetes_gets_the_same_rules(capsys):
    """A PrometheusRule whose groups are those of the file, with the labels by which an operator selects it."""
    yaml = pytest.importorskip("yaml")
    asked = ["rules", "--kubernetes", "--keep", "pod", "--label", "release=prometheus", "--namespace", "monitoring"]
    assert main(asked) == 0
    told = yaml.safe_load(capsys.readouterr().out)
    assert (told["apiVersion"], told["kind"]) == ("monitoring.coreos.com/v1", "PrometheusRule")
    assert told["metadata"] == {"name": "tfmemwatch", "namespace": "monitoring", "labels": {"release": "prometheus"}}
    assert told["spec"] == yaml.safe_load(rules(kept("pod"))) == yaml.safe_load(prometheus_rule(kept("pod")))["spec"]
    known = {"alert", "record", "expr", "for", "keep_firing_for", "labels", "annotations"}  # to the operator
    assert all(set(rule) <= known for group in told["spec"]["groups"] for rule in group["rules"])


@pytest.mark.parametrize(
    "command", [["rules"], ["rules", "--kubernetes"], ["dashboard"], ["dashboard", "--kubernetes"]]
)
def test_the_same_as_json(capsys, command):
    """For jq and kubectl, which read it as they read YAML; a dashboard is JSON in any case."""
    yaml = pytest.importorskip("yaml")
    assert main(command) == 0
    said = capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == yaml.safe_load(said)


@pytest.mark.parametrize("wrong", [["--keep", "a-b"], ["--label", "x", "--kubernetes"]])
def test_a_wrong_label_is_a_sentence(capsys, wrong):
    """And no rules."""
    assert main(["rules", *wrong]) == 2
    said = capsys.readouterr()
    assert said.out == "" and wrong[0] in said.err


def test_two_workers_reach_the_limit_of_their_machine_together(tmp_path):
    """Each alone says ten hours; a container's limit is the same for all who are in it."""
    asked = [("sum(instance:tfmemwatch_limit_seconds:min)", 5, 18000)]
    for limit, seconds in (("machine", 36000), ("container", 18000)):
        of = '%s,limit="%s",pid="tfmemwatch%%d"' % (OF, limit)
        series = {"tfmemwatch_limit_seconds{%s}" % (of % worker): "%dx10" % seconds for worker in range(2)}
        status, said = promtool_says(tmp_path, series, asked)
        assert status == 0, said


def test_the_worker_that_leaks_is_named_by_a_rule(tmp_path):
    """Of many processes of a job, the one whose leak grows fastest."""
    grows = 'tfmemwatch_suspect_growth_per_hour{job="j",instance="%s",kind="variable",site="a.py:1 f()"}'
    asked = 'count(job:tfmemwatch_leaking_instance:topk1{instance="w2"})'
    status, said = promtool_says(tmp_path, {grows % "w1": "3x10", grows % "w2": "90x10"}, [(asked, 5, 1)])
    assert status == 0, said


# -- the whole way

SERVES = """
import tfmemwatch, tensorflow as tf, sys
watch = tfmemwatch.install(port=int(sys.argv[1]), sample_seconds=3600)
kept = []
while not tfmemwatch.findings():
    kept.append(tf.Variable(tf.zeros(1000)))  # <- here
    watch.look()
sys.stdin.read()
"""


@pytest.mark.slow
def test_a_real_leak_reaches_a_real_pager(tmp_path):
    """From a process that leaks, over Prometheus and Alertmanager, to a webhook: with line and cure."""
    installed("tensorflow")
    prometheus, alertmanager = program("prometheus"), program("prometheus-alertmanager", "alertmanager")
    leak_port, prometheus_port, manager_port = free_port(), free_port(), free_port()
    (tmp_path / "serve.py").write_text(SERVES)
    quick = rules().replace('for: "2m"', 'for: "1s"').replace("rules:", "interval: 1s\n    rules:")
    (tmp_path / "rules.yml").write_text(quick, encoding="utf-8")
    (tmp_path / "prometheus.yml").write_text(json.dumps({
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": ["rules.yml"],
        "scrape_configs": [{"job_name": "serving", "static_configs": [{"targets": ["127.0.0.1:%d" % leak_port]}]}],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": ["127.0.0.1:%d" % manager_port]}]}]},
    }))  # fmt: skip
    leaking = [sys.executable, "serve.py", str(leak_port)]
    managing = [alertmanager, "--config.file=am.yml", "--storage.path=am", "--cluster.listen-address=",
                "--web.listen-address=127.0.0.1:%d" % manager_port]  # fmt: skip
    asking = [prometheus, "--config.file=prometheus.yml", "--storage.tsdb.path=data",
              "--web.listen-address=127.0.0.1:%d" % prometheus_port]  # fmt: skip
    here = {"cwd": str(tmp_path), "env": {**os.environ, "PYTHONPATH": str(TREE)}}
    with listening() as (pager_port, heard):
        (tmp_path / "am.yml").write_text(json.dumps({
            "route": {"receiver": "pager", "group_wait": "0s"},
            "receivers": [
                {"name": "pager", "webhook_configs": [{"url": "http://127.0.0.1:%d/" % pager_port}]}],
        }))  # fmt: skip
        with running(leaking, **here), running(managing, LISTENS, **here), running(asking, PROMETHEUS_IS_READY, **here):
            (alert,) = heard.get(timeout=LONGEST_SECONDS)["alerts"]
    print(json.dumps(alert, indent=1))
    assert alert["labels"]["alertname"] == "TfmemwatchLeakFound"
    assert alert["labels"]["site"] == "serve.py:6 <module>"
    assert re.match("serve.py:6 <module>: .* kept. Cure: Make it once", alert["annotations"]["description"])
