"""The dashboard: Grafana knows every key of it, and every question in it has an answer."""

import json
import re
import subprocess
import time
import urllib.parse
from pathlib import Path

import draw
import pytest
from parts import program
from servers import PROMETHEUS_IS_READY, free_port, read, running
from test_export import finding, sample, tally

from tfmemwatch import catalog
from tfmemwatch.model import Site
from tfmemwatch.outputs.dashboard import dashboard
from tfmemwatch.outputs.series import Readings
from tfmemwatch.reports import Calls, LevelNow, OwnCost, RetraceCause

COMMITTED = Path(__file__).resolve().parents[2] / "examples" / "serving" / "grafana" / "tfmemwatch.json"
BOARD = json.loads(dashboard())
ROWS = [one for one in BOARD["panels"] if one["type"] == "row"]
PLACED = [one for row in BOARD["panels"] for one in (row, *row.get("panels", ()))]
PANELS = [one for one in PLACED if one["type"] != "row"]
TARGETS = [(panel["title"], target) for panel in PANELS for target in panel["targets"]]


def test_the_dashboard_in_the_examples_is_the_one_that_is_printed():
    """`tfmemwatch dashboard --output examples/serving/grafana/tfmemwatch.json` brings it up to date."""
    assert COMMITTED.read_text(encoding="utf-8") == dashboard()


def test_every_metric_of_the_catalogue_is_on_it():
    """A row that is added later has a panel by itself."""
    asked = " ".join(target["expr"] for _, target in TARGETS)
    assert [name for name in catalog.BY_NAME if name + "{" not in asked] == []


# -- shape


def keys_of(value, path=""):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield path + "/" + name
            yield from keys_of(inner, path + "/" + name)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from keys_of(inner, "%s/%d" % (path, number))


def test_grafana_knows_every_key(needs):
    """Through Grafana's own SDK and back, nothing is lost: none is misspelt."""
    plugins = needs("grafana_foundation_sdk.cog.plugins")
    encoder = needs("grafana_foundation_sdk.cog.encoder")
    models = needs("grafana_foundation_sdk.models.dashboard")
    plugins.register_default_plugins()
    back = json.loads(encoder.JSONEncoder().encode(models.Dashboard.from_json(BOARD)))
    lost = set(keys_of(BOARD)) - set(keys_of(back))
    of_the_data_source = {"/annotations/list/0/" + name for name in ("titleFormat", "textFormat", "step")}
    assert lost == of_the_data_source  # Prometheus's own, of which the SDK's annotations know nothing


# -- queries


def history(now):
    """Some hours of real metrics, one minute apart, as OpenMetrics text with timestamps."""
    readings = Readings("0.1.0", most=2, allocator="glibc", task=("worker", "0"))
    families = {}
    for minute in range(150):
        counts = {"seconds": minute / 9, "bytes": 900 * minute, "live_bytes": 400 * minute}
        rows = [
            tally(row.kind, Site("train.py", line, "step"), born=line + minute, note="f%d" % line, **counts)
            for row in catalog.ROWS
            for line in range(1, 5)
        ]
        at = sample(*rows, findings=[finding()], filling=[finding("python_objects")],
                    calls=[Calls("net", "predict", minute, 1, 100 * minute)],
                    causes=[RetraceCause("f1", "boost", "a new float", Site("train.py", 1, "step"), minute)],
                    ages=[(Site("train.py", 1, "step"), 60.0 * minute)])  # fmt: skip
        seconds = now - 60 * (150 - minute)
        at = at._replace(
            gauges={**at.gauges, "tfmemwatch_proportional_bytes": {"": 10**9 + 10**6 * minute}},
            level=LevelNow("sites", "set", "", seconds),
            own=OwnCost(0.01 * minute, 6000, minute, seconds, minute, {"traces": minute}),
        )  # fmt: skip
        for metric, samples in readings.families(at):
            lines = families.setdefault(metric, [])
            for labels, value in samples:
                names = ",".join("%s=%s" % pair for pair in zip(metric.labels, map(json.dumps, labels)))
                names = 'namespace="a",pod="web-1",job="serving",instance="host:1"' + ("," + names if names else "")
                lines.append("%s{%s} %r %d" % (metric.name, names, value, seconds))
    text = []
    for metric, lines in families.items():
        family = metric.name[: -len("_total")] if metric.type == "counter" else metric.name
        text += ["# TYPE %s %s" % (family, metric.type), *lines]
    return "\n".join([*text, "# EOF", ""])


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Ask a real Prometheus that holds some hours of the real metrics."""
    promtool, prometheus = program("promtool"), program("prometheus")
    folder = tmp_path_factory.mktemp("prometheus")
    now = int(time.time())
    (folder / "history.om").write_text(history(now), encoding="utf-8")
    (folder / "prometheus.yml").write_text("{}")
    filling = [promtool, "tsdb", "create-blocks-from", "openmetrics", "history.om", "data"]
    subprocess.run(filling, cwd=str(folder), check=True, stdout=subprocess.DEVNULL)
    port = free_port()
    command = [prometheus, "--config.file=prometheus.yml", "--storage.tsdb.path=data",
               "--storage.tsdb.retention.time=30d", "--web.listen-address=127.0.0.1:%d" % port]  # fmt: skip

    def asked(path, **query):
        return json.loads(read(port, "/api/v1/%s?%s" % (path, urllib.parse.urlencode(query, doseq=True))))["data"]

    with running(command, PROMETHEUS_IS_READY, cwd=str(folder)):
        asked.now, asked.address = now - 120, "http://127.0.0.1:%d" % port
        yield asked


def filled_in(text):
    return re.sub(r"\$(namespace|pod|job|instance|one|model)\b", ".*", text).replace("$__rate_interval", "5m")


@pytest.mark.parametrize("title, target", TARGETS, ids=["%s %s" % (title, one["refId"]) for title, one in TARGETS])
def test_every_question_has_an_answer_with_a_legend(ask, title, target):
    """No panel stays empty, and each line in it is named by labels that are there."""
    answers = ask("query", query=filled_in(target["expr"]), time=ask.now)["result"]
    assert answers
    wanted = re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])
    assert [name for name in wanted if not all(answer["metric"].get(name) for answer in answers)] == []


def test_every_variable_and_annotation_has_values(ask):
    """Jobs, instances and models can be chosen; leaks show as annotations."""
    for variable in BOARD["templating"]["list"][1:]:
        selector, label = re.match(r"label_values\((.*), (\w+)\)$", filled_in(variable["query"])).groups()
        assert ask("label/%s/values" % label, **{"match[]": selector})
    for annotation in BOARD["annotations"]["list"]:
        assert ask("query", query=filled_in(annotation["expr"]), time=ask.now)["result"]


def test_the_drawing_has_every_panel_that_it_promises(ask):
    """tests/draw.py draws each of the first three rows from what Prometheus holds, and none is empty."""
    drawn, _ = draw.Picture(ask.address, 120, ".*").html()
    titles = re.findall(r"<h2>(.*?)</h2>", drawn)
    assert titles == [panel["title"] for panel in BOARD["panels"] if panel["type"] != "row"]
    assert "No data" not in drawn
    assert drawn.count("<polyline") >= sum(1 for panel in BOARD["panels"] if panel["type"] == "timeseries")


# -- the rules of dashboard-linter


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_says_what_it_is(panel):
    """Title, description, unit, the chosen data source, a legend, and selectors for job and instance."""
    assert panel["title"] and panel["description"] and panel["fieldConfig"]["defaults"]["unit"]
    assert panel["datasource"]["uid"] == "${datasource}"
    for target in panel["targets"]:
        assert target["datasource"]["uid"] == "${datasource}"
        assert target["legendFormat"]
        selectors = re.findall(r"tfmemwatch_\w+\{([^}]*)\}", target["expr"])
        assert selectors and all('job=~"$job"' in one and 'instance=~"$instance"' in one for one in selectors)
        assert "rate(" not in target["expr"] or "[$__rate_interval]" in target["expr"]


def test_owners_are_stacked_against_the_limit_of_the_same_process():
    """However many instances are chosen: what is shown of one asks for one."""
    (variable,) = [one for one in BOARD["templating"]["list"] if one["name"] == "one"]
    assert not variable["multi"] and not variable["includeAll"]
    (first, second) = [
        row["gridPos"]["y"] for row in ROWS if row["title"] in ("One instance: $one", "The watch itself")
    ]
    within = [panel for panel in BOARD["panels"] if first < panel["gridPos"]["y"] < second]
    assert "Memory by owner, and the limit" in [panel["title"] for panel in within]
    for panel in within:
        for target in panel["targets"]:
            selectors = re.findall(r"tfmemwatch_\w+\{([^}]*)\}", target["expr"])
            assert all('instance=~"$one"' in one for one in selectors)


def test_the_table_has_lines_and_cures():
    """In the order in which one reads them, what has kept most first."""
    (table,) = [panel for panel in PANELS if panel["title"] == "Where it leaks"]
    asked = table["transformations"][0]["options"]
    assert list(asked["indexByName"])[:4] == ["Value", "site", "cause", "cure"]
    assert table["options"]["sortBy"] == [{"displayName": asked["renameByName"]["Value"], "desc": True}]


def test_what_is_seldom_asked_for_costs_nothing_until_it_is():
    """The row of all other metrics is closed, and Grafana asks nothing for a closed row."""
    assert [(row["title"], row["collapsed"]) for row in ROWS][-1] == ("All other metrics", True)
    assert len(ROWS[-1]["panels"]) > 20


def test_the_board_is_one_that_works_anywhere():
    """A data source to choose, variables that fill themselves, no two panels alike or over each other."""
    variables = BOARD["templating"]["list"]
    assert [one["name"] for one in variables] == ["datasource", "namespace", "pod", "job", "instance", "one", "model"]
    assert all(one["refresh"] in (1, 2) for one in variables[1:])
    assert len({panel["title"] for panel in PANELS}) == len(PANELS)
    assert len({panel["id"] for panel in PLACED}) == len(PLACED)
    cells = [
        (place["x"] + x, place["y"] + y)
        for place in (panel["gridPos"] for panel in PLACED)
        for x in range(place["w"])
        for y in range(place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24
