"""The metrics: named by the catalogue, bounded, safe to show, and never in anybody's way."""

import math
import subprocess
import sys
import threading
import time

import pytest
from parts import program

import tfmemwatch
from tfmemwatch import catalog
from tfmemwatch.errors import ConfigError
from tfmemwatch.ledger.counts import Ledger
from tfmemwatch.memory.process import Memory
from tfmemwatch.model import OTHER, Finding, Key, Site, Tally
from tfmemwatch.monitor import exported_values
from tfmemwatch.outputs import series
from tfmemwatch.outputs.prometheus import Collector, page
from tfmemwatch.outputs.series import Names, Readings
from tfmemwatch.reports import Calls, LeftOfModel, LevelNow, LivingModel, OwnCost, RetraceCause, Sample

AT = Site("train.py", 41, "step")


def tally(kind, site=AT, born=1, died=0, note="", **more):
    numbers = dict({"live_bytes": 0, "bytes": 0, "seconds": 0.0}, **more)
    return Tally(Key(kind, site), born, died, order=0, note=note, stack=(), **numbers)


def finding(kind="variable", site=AT, **more):
    found = Finding(kind, site, 0.0, 40, 80.0, "hour", 4096, "leak", "it grows", "Make it once.", 0.9)
    return found._replace(**more)


def sample(*tallies, findings=(), filling=(), calls=(), ages=(), causes=(), failures=None):
    return Sample(
        tallies={one.key: one for one in tallies},
        memory=Memory(500, 300, 100, 7),
        findings=tuple(findings),
        filling=tuple(filling),
        session_ages=ages,
        calls=calls,
        causes=causes,
        probes={"traces": True, "tapes": False},
        versions={"tensorflow": "2.21.0", "keras": "3.15.1"},
        level=LevelNow("counts", "budget", "its hooks took too much", 1_700_000_000.0),
        own=OwnCost(0.5, 6000, 12, 1_700_000_000.0, 3, failures or {}),
        gauges={row.metric: {"x" if row.label else "": 100.0} for row in catalog.GAUGES},
        registered_functions=9,
        orphan_functions=2,
        operations=40,
    )


def shown(families, name):
    """The samples of one metric, by labels."""
    return next(dict(family.samples) for family in families if family.metric.name == name)


def text_of(families):
    return page(Collector(lambda: families))("")[0].decode()


@pytest.fixture
def readings():
    return Readings("0.1.0", most=3, allocator="glibc", task=("worker", "1"))


# -- the catalogue


def test_every_row_of_the_catalogue_is_a_metric():
    """What is counted is exported; what is neither counted nor read by name can't be listed."""
    assert {row.metric for row in catalog.ROWS} <= set(catalog.BY_NAME)
    assert {metric.name for metric in catalog.METRICS if not metric.kinds} == set(series.READERS)
    families = {name[:-6] if name.endswith("_total") else name for name in catalog.BY_NAME}  # as OpenMetrics names them
    assert len(families) == len(catalog.METRICS)


@pytest.mark.parametrize("metric", catalog.METRICS, ids=lambda metric: metric.name)
def test_names_say_what_a_metric_is(metric):
    """Counters end in _total and nothing else does; each has help, and says how it adds up over workers."""
    assert metric.name.endswith("_total") == (metric.type == "counter")
    assert metric.help and not metric.help.endswith(".")
    assert metric.adds == "sum" or metric.type == "gauge"
    assert metric.adds in ("sum", "max", "min", "worker")


def test_promtool_has_nothing_to_say(readings):
    """Names, units, help and escapes are as Prometheus itself wants them."""
    checking = [program("promtool"), "check", "metrics"]
    text = text_of(readings.families(full_sample()))
    checked = subprocess.run(checking, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert (checked.returncode, checked.stdout) == (0, b"")


def full_sample():
    """One with something in every metric, and names that are meant to hurt."""
    hostile = Site('a"b\n\\.py', 3, 'f\n"\\{}\x00')
    return sample(
        *[tally(row.kind, note='n"\n\udcff', seconds=0.5, bytes=9, live_bytes=9) for row in catalog.ROWS],
        tally("trace", hostile, note="x" * 10_000),
        findings=[finding(), finding("retrace", hostile, cause="\n" * 999)],
        filling=[finding("python_objects", hostile, verdict="cache still filling")],
        calls=[Calls("Sequential net", "predict", 3, 1, 100)],
        causes=[
            RetraceCause("score", "boost", "a new Python float", AT, 7),
            RetraceCause('f"', "\n", "\udcff", hostile, 1),
        ],
        ages=[(AT, 12.0)],
        failures={"traces": 2},
    )


def test_openmetrics_of_everything_is_valid(readings, needs):
    """The client library's own strict parser reads it back."""
    parser = needs("prometheus_client.openmetrics.parser")
    families = readings.families(full_sample())
    text, content_type = page(Collector(lambda: families))("application/openmetrics-text; version=1.0.0")
    names = {family.name for family in parser.text_string_to_metric_families(text.decode())}
    assert content_type.startswith("application/openmetrics-text")
    expected = {metric.name[:-6] if metric.type == "counter" else metric.name for metric in catalog.METRICS}
    assert expected - names == {"tfmemwatch_folded_labels"}


# -- what is counted, by line


def test_counts_are_by_line_and_function(readings):
    """A retrace is named by its function and the line that calls it."""
    families = readings.families(sample(tally("retrace", born=7, note="score"), tally("variable", born=5, died=3)))
    assert shown(families, "tfmemwatch_retraces_total")["score", "train.py:41 step()"] == 7
    assert shown(families, "tfmemwatch_live_variables")[("train.py:41 step()",)] == 2
    assert shown(families, "tfmemwatch_variables_made_total")[("train.py:41 step()",)] == 5


def test_causes_of_retraces_are_counted(readings):
    """Which argument it was, and what of it; a cause that is gone from the tables has not been undone."""
    readings.families(sample(causes=[RetraceCause("score", "boost", "a new Python float", AT, 7)]))
    families = readings.families(sample())
    labels = ("score", "boost", "a new Python float", "train.py:41 step()")
    assert shown(families, "tfmemwatch_retrace_causes_total")[labels] == 7


def test_tracing_time_is_that_of_first_traces_and_retraces(readings):
    """What a function cost is one number."""
    families = readings.families(
        sample(tally("trace", note="f", seconds=1.5), tally("retrace", note="f", seconds=2.5, bytes=10))
    )
    assert shown(families, "tfmemwatch_tracing_seconds_total")["f", "train.py:41 step()"] == 4.0


def test_a_line_whose_things_are_gone_has_no_series(readings):
    """Nothing stays in the exposition for what no longer is."""
    readings.families(sample(tally("variable", born=5)))
    families = readings.families(sample(tally("variable", born=5, died=5)))
    assert shown(families, "tfmemwatch_live_variables") == {("other",): 0}


def test_a_suspect_is_told_with_its_line_cause_and_cure(readings):
    """An alert can say what to do, and is over when the leak is."""
    families = readings.families(sample(findings=[finding()]))
    assert shown(families, "tfmemwatch_suspect_info") == {
        ("variable", "train.py:41 step()", "it grows", "Make it once."): 1
    }
    assert shown(families, "tfmemwatch_findings")[("variable",)] == 1
    families = readings.families(sample())
    assert shown(families, "tfmemwatch_suspect_info") == {}
    assert shown(families, "tfmemwatch_findings")[("variable",)] == 0
    assert shown(families, "tfmemwatch_leaks_found_total")[("variable",)] == 1


def test_what_may_still_be_filling_is_a_metric_and_no_leak(readings):
    """Who wants to see it early can; no alert comes of it."""
    families = readings.families(sample(filling=[finding(verdict="cache still filling")]))
    assert shown(families, "tfmemwatch_filling_bytes") == {("variable", "train.py:41 step()"): 4096}
    assert shown(families, "tfmemwatch_suspect_info") == {}
    assert shown(families, "tfmemwatch_leaks_found_total")[("variable",)] == 0


def told_of(readings, found):
    """RetraceCause and cure in the labels of one suspect."""
    ((_, _, cause, cure),) = shown(readings.families(sample(findings=[found])), "tfmemwatch_suspect_info")
    return cause, cure


def test_a_suspect_says_which_argument_it_was_and_the_code(readings):
    """As the log does: what differs, who holds it, and the cure for this very function."""
    found = finding(
        "retrace", differs="`boost` a new Python float each time", holder="cache (list, 4,312 items) → [0] → Variable",
        short="`tf.constant(boost)` (41 traces become 1)",
    )  # fmt: skip
    assert told_of(readings, found) == (
        "it grows: `boost` a new Python float each time; held by cache (list)",
        "`tf.constant(boost)`.",
    )


def test_a_suspect_is_one_series_while_its_numbers_change_and_another_when_its_words_do(readings):
    """An alert that waits for two minutes is not set back by each new trace."""
    found = finding("retrace", cause="it grows (300 of 1,024)", short="`tf.constant(boost)` (41 traces become 1)")
    first = told_of(readings, found)
    more = found._replace(cause="it grows (900 of 1,024)", short="`tf.constant(boost)` (the first 128 traces become 1)")
    assert told_of(readings, more) == first
    assert told_of(readings, found._replace(cause="it grows", short="")) == ("it grows", "Make it once.")


def test_keys_of_what_a_function_was_given_are_in_no_label(readings):
    """They may be the user's data: the cure is the general one then."""
    found = finding("retrace", short='`{"alice@example.org": tf.constant(rate)}` (9 traces become 1)')
    assert told_of(readings, found) == ("it grows", "Make it once.")


# -- bounds


def lines(count, **more):
    return [tally("retrace", Site("train.py", line, "step"), note="f%d" % line, **more) for line in range(1, count + 1)]


@pytest.mark.slow
def test_a_million_names_stay_within_the_bound():
    """However many functions there are, the exposition is as long as its bound says; the sum stays right."""
    ledger = Ledger(max_sites=1000)
    readings = Readings("0", most=10)
    for n in range(1_000_000):
        ledger.happened("retrace", Site("g.py", n, "f"), note="f%d" % n)
    families = readings.families(sample(*ledger.read().values()))
    counted = shown(families, "tfmemwatch_retraces_total")
    assert len(counted) == 11
    assert sum(counted.values()) == 1_000_000
    assert max(len(family.samples) for family in families) <= 20  # kinds of findings, of which there are more than 11
    assert len(text_of(families)) < 30_000


def test_what_grows_most_is_shown_by_name():
    """A line that begins to grow late gets its name all the same."""
    readings = Readings("0", most=3)
    rows = lines(9)
    readings.families(sample(*rows))
    for times in range(2, 6):
        families = readings.families(sample(*rows[:8], rows[8]._replace(born=100 * times)))
    assert ("f9", "train.py:9 step()") in shown(families, "tfmemwatch_retraces_total")


def test_a_suspect_is_always_shown_by_name():
    """Whatever grows faster: what was found to leak is not hidden among the others."""
    readings = Readings("0", most=2)
    slow = lines(9)[8]
    families = readings.families(sample(*lines(8, born=50), slow, findings=[finding(site=slow.key.site)]))
    assert ("f9", "train.py:9 step()") in shown(families, "tfmemwatch_retraces_total")


def test_counters_never_fall_when_names_come_and_go():
    """Prometheus takes a counter that falls for a restart, and adds all of it anew."""
    readings = Readings("0", most=2)
    born = [0] * 6
    before = {}
    for turn in range(60):
        born[turn // 10] += 5
        born[(turn * 7) % 6] += 1
        rows = [row._replace(born=many) for row, many in zip(lines(6), born)]
        now = shown(readings.families(sample(*rows)), "tfmemwatch_retraces_total")
        assert all(now[labels] >= before[labels] for labels in now if labels in before)
        assert len(now) <= 3
        before = now
    assert sum(now.values()) <= sum(born)


def test_models_are_told_within_their_bound(readings):
    """What models of one name have adds up; beyond the bound they are `other`; what is left of the dead has its own."""
    loaded = [LivingModel("net", 4, 100, 2, 0), LivingModel("net", 4, 100, 2, 0), LivingModel("b", 1, 7, 0, 0)]
    more = [LivingModel("m%d" % number, 1, 1, 0, 0) for number in range(20)]
    gone = [LeftOfModel("old", AT, 50, 48, 4800, "")]
    families = readings.families(sample()._replace(models=loaded + more, left_of_models=gone))
    weights = shown(families, "tfmemwatch_model_weight_bytes")
    assert weights["net",] == 200 and sum(weights.values()) == 227 and len(weights) <= 4
    assert shown(families, "tfmemwatch_model_variables")["net",] == 8
    assert shown(families, "tfmemwatch_unloaded_variables")["old",] == 48


def test_calls_of_a_model_that_has_gone_are_not_taken_back(readings):
    """A counter by name goes on when the next model of that name comes."""
    labels = ("net", "predict")
    readings.families(sample(calls=[Calls("net", "predict", 10, 0, 0)]))
    readings.families(sample())
    families = readings.families(sample(calls=[Calls("net", "predict", 4, 0, 0)]))
    assert shown(families, "tfmemwatch_model_calls_total")[labels] == 14


# -- what may be shown


def test_labels_show_no_path_outside_the_project(tmp_path):
    """Where somebody's home is stays on their machine."""
    names = Names(str(tmp_path))
    inside = str(tmp_path / "app" / "train.py")
    assert names(Site(inside, 3, "step")) == "app/train.py:3 step()"
    assert names(Site("/srv/somebody/secret/train.py", 3, "step")) == "train.py:3 step()"
    assert names(Site("/opt/lib/site-packages/rl/agent.py", 3, "<module>")) == "rl/agent.py:3 <module>"
    assert names(OTHER) == "other"


def test_lines_that_have_one_name_are_added_up(readings):
    """Two files of one name outside the project are one series, not two that break the scrape."""
    families = readings.families(
        sample(tally("variable", Site("/a/x.py", 1, "f"), born=2), tally("variable", Site("/b/x.py", 1, "f"), born=3))
    )
    assert shown(families, "tfmemwatch_live_variables")[("x.py:1 f()",)] == 5


@pytest.mark.parametrize(
    "name, label",
    [
        ("naïve_λ", "naïve_λ"),
        ("a\nb\x00c", "a\\nb\\x00c"),
        ("bad\udcff", "bad\\udcff"),
        ("x" * 10_000, "x" * 199 + "…"),
    ],
)
def test_a_hostile_name_becomes_a_plain_label(name, label):
    """On one line, valid UTF-8, and of bounded length."""
    assert series.plain(name) == label
    assert series.plain(name).encode()


# -- in the program's own registry


@pytest.fixture
def client(needs):
    return needs("prometheus_client")


def names_in(client, registry):
    text = client.generate_latest(registry).decode()
    return {line.split("{")[0].split(" ")[0] for line in text.splitlines() if line[0] != "#"}


def test_what_is_resident_is_shared_out():
    """Owners are disjoint: stacked, they are what the process holds, and never more than their own sum."""
    gauges = tfmemwatch.install(sample_seconds=3600).answers.gauges()
    assert sum(gauges["tfmemwatch_memory_bytes"].values()) == gauges["tfmemwatch_resident_bytes"][""]
    assert set(gauges) <= {row.metric for row in catalog.GAUGES}


def test_the_metrics_are_in_the_registry_of_the_program_and_leave_it(client):
    """The program's own /metrics shows them with nothing to configure, until uninstall()."""
    tfmemwatch.install(sample_seconds=3600)
    assert "tfmemwatch_looks_total" in names_in(client, client.REGISTRY)
    tfmemwatch.uninstall()
    assert "tfmemwatch_looks_total" not in names_in(client, client.REGISTRY)


def test_another_registry_can_be_asked_for(client):
    """`install(registry=…)`; the default one has nothing then."""
    registry = client.CollectorRegistry()
    tfmemwatch.install(sample_seconds=3600, registry=registry)
    assert "tfmemwatch_looks_total" in names_in(client, registry)
    assert "tfmemwatch_looks_total" not in names_in(client, client.REGISTRY)


def test_a_program_without_prometheus_gets_none():
    """Installing imports no prometheus_client; it is there for who imports it, also later."""
    asks = (
        "import sys, tfmemwatch; tfmemwatch.install(sample_seconds=3600); before = 'prometheus_client' in sys.modules;"
        "import prometheus_client; print(before, b'tfmemwatch_looks_total' in prometheus_client.generate_latest())"
    )
    assert subprocess.check_output([sys.executable, "-c", asks]).split() == [b"False", b"True"]


def test_an_exporter_that_fails_breaks_no_scrape(client, monkeypatch, failures):
    """The program's own metrics are still there."""
    watch = tfmemwatch.install(sample_seconds=3600)
    client.generate_latest()

    def broken(*args):
        raise ValueError("broken")

    monkeypatch.setattr(watch.answers, "sample", broken)
    monkeypatch.setattr(exported_values, "_FRESH_SECONDS", 0)
    names = names_in(client, client.REGISTRY)
    assert "python_info" in names
    assert "tfmemwatch_looks_total" not in names
    assert failures == {"metrics": 1}


def test_a_scrape_does_not_wait_for_a_look(client):
    """While a look takes its time, a scrape gets what was known before, at once."""
    watch = tfmemwatch.install(sample_seconds=3600)
    client.generate_latest()
    with watch.state.probes.reading:
        values, names = tfmemwatch.api._installations[0].export.values, []
        values._clock = lambda: math.inf
        thread = threading.Thread(target=lambda: names.extend(names_in(client, client.REGISTRY)))
        thread.start()
        thread.join(timeout=10)
        assert not thread.is_alive()
    assert "tfmemwatch_looks_total" in names


def test_a_registry_with_such_names_already_is_an_error_and_nothing_is_installed(client):
    """What can't be as it was wished is said, not left out."""
    registry = client.CollectorRegistry()
    client.Counter("tfmemwatch_looks", "Mine", registry=registry)
    with pytest.raises(ConfigError, match="registry"):
        tfmemwatch.install(registry=registry)
    assert tfmemwatch.current() is None


@pytest.mark.slow
@pytest.mark.parametrize("accept", ["", "application/openmetrics-text; version=1.0.0"], ids=["text", "openmetrics"])
@pytest.mark.parametrize("most, wanted, limit_seconds", [(60, 2000, 0.020), (310, 10_000, 0.100)])
def test_a_scrape_is_quick(most, wanted, limit_seconds, accept):
    """At 2,000 and 10,000 series, from the ledger's tallies to the text: more of it is prometheus_client's writing."""
    readings = Readings("0", most=most)
    rows = [tally(row.kind, Site("train.py", n, "step"), note="f") for row in catalog.ROWS for n in range(most)]
    everything = sample(*rows)
    collector = Collector(lambda: readings.families(everything))
    ready = list(collector.collect())
    write, write_ready = page(collector), page(Ready(ready))
    text, _ = write(accept)
    count = sum(1 for line in text.splitlines() if line[:1] != b"#")
    assert count >= wanted
    whole, writing = zip(*((seconds_of(write, accept), seconds_of(write_ready, accept)) for _ in range(5)))
    print("%d series in %.1f ms, of them writing %.1f" % (count, 1000 * min(whole), 1000 * min(writing)))
    assert min(whole) - min(writing) < 0.5 * limit_seconds
    # OpenMetrics, which Prometheus asks for, takes prometheus_client alone about as long as the limit.
    assert accept or min(whole) < limit_seconds


class Ready:
    """Families of metrics that only need to be written."""

    def __init__(self, families):
        self.collect = lambda: families


def seconds_of(write, accept):
    """Of the processor, for writing a page once."""
    began = time.process_time()
    write(accept)
    return time.process_time() - began
