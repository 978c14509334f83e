"""The page and the report in one file: what it holds, what it may load, and that nothing of the program's is HTML."""

import asyncio
import base64
import dataclasses
import hashlib
import html
import itertools
import json
import re
import time

import page_states
import pytest
from page_states import NASTY, STATES

import tfmemwatch
from tfmemwatch.errors import ConfigError
from tfmemwatch.growth.history import Timeline
from tfmemwatch.model import Site
from tfmemwatch.monitor import rows
from tfmemwatch.monitor.moments import Moments
from tfmemwatch.outputs import formats, html_page, kept_json, live_page, markdown, mounted, text
from tfmemwatch.outputs.kept_json import KeptJson
from tfmemwatch.outputs.live_page import PATHS, LivePage

MOST_BYTES, MOST_OF_A_MONTH = 150_000, 1_000_000


def embedded(page, name="report"):
    """The JSON within a page, as a browser reads it."""
    return json.loads(re.search(r'<script type="application/json" id="%s">(.*?)</script>' % name, page, re.S).group(1))


@pytest.mark.parametrize("state", sorted(STATES))
def test_the_page_holds_the_report_and_nothing_else(state):
    """What it shows is `as_dict()`, whatever names are in it."""
    report = STATES[state]()
    page = html_page.page(report)
    assert embedded(page) == json.loads(json.dumps(report.as_dict()))
    assert page.count("</script>") == 3 and page.count("<script") == 3
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", page)


def test_a_page_without_history_is_small():
    """Style, script and words together: at most 150 kB; a month is at most 1 MB, and a few hundred points."""
    bare = dataclasses.replace(STATES["leak"](), history=())
    assert len(html_page.page(bare).encode()) < MOST_BYTES
    month = STATES["month"]()
    assert len(html_page.page(month).encode()) < MOST_OF_A_MONTH
    assert 400 < len(month.history) <= 720


def test_its_policy_allows_its_own_style_and_script_alone():
    """By their hashes: what somebody smuggles in does not run, and nothing is loaded from anywhere."""
    page = html_page.page(STATES["nasty"]())
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1))
    assert "unsafe" not in policy and policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        inside = re.findall(r"<%s>(.*?)</%s>" % (tag, tag), page, re.S)
        digests = ["'sha256-%s'" % base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in inside]
        assert len(digests) == 1 and "%s-src %s" % (tag, digests[0]) in policy
    assert not re.search(r"\son\w+=|style=", re.sub(r"<(script|style).*?</\1>", "", page, flags=re.S))


def test_a_fragment_is_the_page_in_a_frame_of_its_own():
    """For a notebook or a report of tests: it shares neither style nor script with what is around it."""
    fragment = html_page.html_fragment(STATES["nasty"]())
    inner = html.unescape(re.search(r'srcdoc="([^"]*)"', fragment).group(1))
    assert inner == html_page.page(STATES["nasty"]())
    assert 'sandbox="allow-scripts"' in fragment


# -- files


@pytest.fixture
def report():
    """A report of the process, as a user gets it."""
    tfmemwatch.install(sample_seconds=3600)
    yield tfmemwatch.report()
    tfmemwatch.uninstall()


@pytest.mark.parametrize(
    "name, beginning",
    [("a.html", "<!DOCTYPE html>"), ("a.json", "{"), ("a.txt", "NOT WATCHED"), ("a.md", "### tfmemwatch")],
)
def test_a_report_is_saved_in_the_form_that_its_ending_asks_for(report, tmp_path, name, beginning):
    """`Report.save("leak.html")`, and the same text from `report(format=…)`."""
    report.save(tmp_path / name)
    said = (tmp_path / name).read_text(encoding="utf-8")
    assert said.startswith(beginning) and said == formats.written(report, formats.format_of(name))
    assert tfmemwatch.report(format=formats.format_of(name)).startswith(beginning)


def test_another_form_is_an_error_that_names_those_there_are(report, tmp_path):
    """And no file is made."""
    with pytest.raises(ConfigError, match=r"'pdf'; it must be one of text, html, json, markdown"):
        tfmemwatch.report(format="pdf")
    with pytest.raises(ConfigError, match=r"leak.pdf'; its name must end in one of .txt .html"):
        report.save(tmp_path / "leak.pdf")
    assert list(tmp_path.iterdir()) == []


def test_markdown_has_the_facts_and_no_data_of_the_programs():
    """Kind, file and function, numbers, versions; no path, source, argument, value or code."""
    said = markdown.issue(STATES["leak"]())
    for part in ("retrace", "serve.py:42 handle()", "+817", "2.21.0", "412 MiB", "leak (97 %)", "tf#38561"):
        assert part in said.replace("\\", "")
    for part in ("/srv", "boost", "softmax", "input_signature", "_seen", "recommender"):
        assert part not in said


def test_markdown_is_text_whatever_the_names_are():
    """No HTML, no link, no mention, no new row of a table."""
    said = markdown.issue(STATES["nasty"]())
    assert "<script" not in said.replace("\\<", "") and "\u202e" not in said
    rows = [line for line in said.splitlines() if line.startswith("| retrace")]
    assert len(rows) == 1 and len(re.findall(r"(?<!\\)\|", rows[0])) == 8 and len(said) < 5000


# -- asked for by a browser


class Process:
    """A process that is looked at again and again."""

    def __init__(self, report):
        self.report, self.looks, self.made = report, 1, 0

    def shown(self):
        self.made += 1
        return self.report

    def page(self):
        return LivePage(self.shown, lambda: self.looks)


def body(answer):
    return answer.body.decode()


def test_text_and_json_are_those_of_the_report():
    """At `/report.txt` and `/report.json`, and in the page."""
    report = STATES["month"]()
    page = Process(report).page()
    assert body(page.answer("GET", "/report.txt")) == text.render(report)
    told = json.loads(json.dumps(report.as_dict()))
    assert json.loads(body(page.answer("GET", "/report.json"))) == told == embedded(body(page.answer("GET", "/")))


def test_of_the_history_one_may_ask_for_what_came_later():
    """`?since=`: so an update is small; what is no number asks for all."""
    report = STATES["month"]()
    page = Process(report).page()
    since = report.history[-3].at
    answer = page.answer("GET", "/report.json", "since=%r" % since)
    later = json.loads(body(answer))
    assert [one["at"] for one in later["history"]] == [one.at for one in report.history[-2:]]
    assert len(answer.body) < 20_000
    for query in ("since=", "since=x", "since=1&since=2", "a=1&b=2&c=3&d=4&e=5&f=6", "since=nan"):
        assert page.answer("GET", "/report.json", query).status == 200


@pytest.mark.parametrize(
    "method, path, status",
    [("GET", "/x", 404), ("GET", "//", 404), ("GET", "/report.json/", 404), ("GET", "/../report.txt", 404),
     ("POST", "/", 405), ("DELETE", "/report.json", 405), ("HEAD", "/", 200), ("GET", "", 404)],
)  # fmt: skip
def test_there_are_three_paths_and_two_ways_to_ask(method, path, status):
    """Nothing else is there."""
    assert Process(STATES["clean"]()).page().answer(method, path).status == status


def test_who_has_the_last_one_gets_nothing():
    """Until there is another look: by ETag."""
    process = Process(STATES["clean"]())
    page = process.page()
    mark = dict(page.answer("GET", "/report.json").headers)["ETag"]
    assert page.answer("GET", "/report.json", "", mark)[:2] == (304, b"")
    process.looks, page._due = 2, 0
    assert page.answer("GET", "/report.json", "", mark).status == 200


def test_however_many_ask_it_is_made_once_for_a_look():
    """Tabs, polls and unknown queries cost one report."""
    process = Process(STATES["leak"]())
    page = process.page()
    for number in range(50):
        for path in PATHS:
            page.answer("GET", path, "since=%d" % number)
    assert process.made == 1 and len(page._made.answers) <= 8
    process.looks, page._due = 2, 0
    page.answer("GET", "/")
    assert process.made == 2


class Clocks:
    """The clock and the processor's, as a page reads them."""

    def __init__(self):
        self.now = self.spent = 0.0

    def monotonic(self):
        return self.now

    def thread_time(self):
        return self.spent


def polled(clocks, page, process, polls):
    """Ask as the page does, every five seconds, with a look before each; when it was given another report."""
    given, mark = [], ""
    for _ in range(polls):
        clocks.now += 5
        process.looks += 1
        answer = page.answer("GET", "/report.json", "since=1", mark)
        if answer.status == 200:
            mark = dict(answer.headers)["ETag"]
            given.append(clocks.now)
    return given


@pytest.mark.parametrize("milliseconds, most_seconds", [(0.2, 5), (1, 15), (2, 30), (4, 55), (20, 60)])
def test_a_poll_costs_the_program_half_a_millisecond_however_dear_a_report_is(monkeypatch, milliseconds, most_seconds):
    """Besides its connection, on average at the page's own pace; and nothing is older than a minute."""
    clocks = Clocks()
    monkeypatch.setattr(live_page, "time", clocks)
    process = Process(STATES["clean"]())

    def shown():
        clocks.spent += milliseconds / 1000
        return process.shown()

    page = LivePage(shown, lambda: process.looks)
    page.answer("GET", "/")
    opened, polls = clocks.spent, 600
    given = polled(clocks, page, process, polls)
    bound = 0.0005 if most_seconds < 60 else 1.05 * milliseconds / 1000 * 5 / 60
    assert (clocks.spent - opened) / polls <= bound
    assert given[0] == 5 and max(after - before for before, after in zip(given, given[1:])) <= most_seconds


def test_what_leaks_is_shown_at_once(monkeypatch):
    """A page that waits, since its report takes long to make, does not wait with a finding."""
    clocks, told = Clocks(), []
    monkeypatch.setattr(live_page, "time", clocks)
    process = Process(STATES["clean"]())

    def shown():
        clocks.spent += 0.01
        return process.shown()

    page = LivePage(shown, lambda: process.looks, lambda: tuple(told))
    polled(clocks, page, process, 5)
    assert process.made == 2
    told.append("a leak")
    polled(clocks, page, process, 1)
    assert process.made == 3
    polled(clocks, page, process, 5)
    assert process.made == 3


@pytest.fixture
def busy():
    """A watch with 300 lines counted, and its page."""
    watch = tfmemwatch.install(sample_seconds=3600)
    kinds = ("variable", "function_graph", "trace", "retrace", "model", "iterator")
    for number in range(300):
        watch.ledger.happened(kinds[number % 6], Site("/srv/part_%d.py" % (number % 9), number + 1, "f%d" % number))
    looks = itertools.count()
    yield watch, LivePage(watch.answers.light_report, lambda: next(looks), watch.answers.news)
    tfmemwatch.uninstall()


def processor_time(work, times=20):
    """The least of some, as others on the machine disturb most of them."""
    taken = []
    for _ in range(times):
        began = time.thread_time()
        work()
        taken.append(time.thread_time() - began)
    return min(taken)


def test_a_report_for_the_page_costs_a_poll_or_two(busy):
    """Of a program with 300 lines: what a poll after a look takes is what two may, so it is made every ten seconds."""
    _, page = busy

    def poll():
        page._due = 0
        assert page.answer("GET", "/report.json", "since=0").status == 200

    page.answer("GET", "/")
    assert processor_time(poll) < 0.002


def test_a_poll_between_two_looks_costs_next_to_nothing(busy):
    """A tenth of the millisecond that a poll may cost: the rest is for the connection, and for the next report."""
    watch, _ = busy
    page = LivePage(watch.answers.light_report, lambda: 1, watch.answers.news)
    mark = dict(page.answer("GET", "/report.json").headers)["ETag"]
    statuses = set()
    poll = lambda: statuses.add(page.answer("GET", "/report.json", "since=0", mark).status)  # noqa: E731
    assert processor_time(poll) < 0.0001 and statuses == {304}


def test_rows_are_counted_again_when_a_count_has_changed(busy, monkeypatch):
    """And not else: a program in which nothing happens pays for nothing."""
    watch, _ = busy
    counted = []
    monkeypatch.setattr(rows, "made", lambda *given, real=rows.made: counted.append(1) or real(*given))
    first = watch.answers.light_report()
    assert watch.answers.light_report().made == first.made and len(counted) == 1
    watch.ledger.happened("variable", Site("/srv/new.py", 7, "step"), times=900)
    now = watch.answers.light_report()
    assert now.made[0][1:3] == (Site("/srv/new.py", 7, "step"), 900) and len(counted) == 2


def told_by(kept, report):
    return json.loads('%s, "history": %s}' % (kept.beginning(report), kept.history(report.history, None)))


def test_what_is_kept_as_json_is_what_the_next_report_says():
    """Whatever report follows whatever other one."""
    kept = KeptJson()
    for state in [*sorted(STATES), *sorted(STATES, reverse=True)]:
        report = STATES[state]()
        assert told_by(kept, report) == json.loads(json.dumps(report.as_dict()))


def test_only_what_has_changed_is_written_again(monkeypatch):
    """Of a table that is a row, of the report its new parts; rows that can't be compared are written each time."""
    kept, written = KeptJson(), []
    monkeypatch.setattr(kept_json, "_json", lambda value, real=kept_json._json: written.append(value) or real(value))
    report = STATES["leak"]()
    told_by(kept, report)
    del written[:]
    row = report.made[1]._replace(made=15)
    later = dataclasses.replace(report, seconds=report.seconds + 5, made=(row, *report.made[:1], *report.made[2:]))
    assert told_by(kept, later) == json.loads(json.dumps(later.as_dict()))
    assert written == [later.seconds, row]
    odd = dataclasses.replace(later, made=(row._replace(kind=["not", "hashable"]),))
    assert told_by(kept, odd)["made"] == [{**told_by(kept, later)["made"][0], "kind": ["not", "hashable"]}]


def test_a_page_that_is_asked_for_while_it_is_made_answers():
    """By a signal handler, say: nobody waits for his own thread."""
    answers = []

    def shown():
        answers.append(page.answer("GET", "/report.txt").status)
        return STATES["clean"]()

    page = LivePage(shown, lambda: 1)
    assert page.answer("GET", "/report.txt").status == 200
    assert answers == [404]


# -- in the program's own server


def asked(application, path, method="GET", root="", **scope):
    """The status, headers and body that an ASGI application answers with."""
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    whole = {
        "type": "http",
        "method": method,
        "path": path,
        "root_path": root,
        "query_string": b"",
        "headers": [],
        **scope,
    }
    asyncio.new_event_loop().run_until_complete(application(whole, receive, send))
    return sent[0]["status"], {key.decode(): value.decode() for key, value in sent[0]["headers"]}, sent[1]["body"]


@pytest.mark.parametrize(
    "path, root",
    [("/", ""), ("/memory/", "/memory"), ("/", "/memory"), ("/a/memory/", "/a/memory"), ("/a/memory/", "/a/memory/")],
)
def test_mounted_anywhere_it_finds_itself(path, root):
    """Whether the server leaves the mount point in the path, as newer ones do, or takes it out."""
    application = mounted.asgi(Process(STATES["clean"]()).page())
    status, headers, said = asked(application, path, root=root)
    assert status == 200 and said.startswith(b"<!DOCTYPE html>")
    assert "script-src 'sha256-" in headers["content-security-policy"]
    assert asked(application, path + "report.json", root=root)[1]["content-type"] == "application/json"


def test_without_its_slash_it_moves_there():
    """Links in it are relative; so is the way."""
    application = mounted.asgi(Process(STATES["clean"]()).page())
    status, headers, _ = asked(application, "/a/memory", root="/a/memory")
    assert (status, headers["location"]) == (301, "./memory/")


def test_asgi_answers_conditions_and_heads():
    """And says goodbye to a websocket."""
    application = mounted.asgi(Process(STATES["clean"]()).page())
    status, headers, said = asked(application, "/", "HEAD")
    assert (status, said) == (200, b"") and int(headers["content-length"]) > 10_000
    mark = asked(application, "/report.json")[1]["etag"].encode()
    assert asked(application, "/report.json", headers=[(b"if-none-match", mark)])[::2] == (304, b"")


def test_the_same_by_wsgi():
    """For Flask, Django and what else there is."""
    application = mounted.wsgi(Process(STATES["clean"]()).page())
    said = []

    def asked(**environ):
        whole = {"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/memory", "PATH_INFO": "/", "QUERY_STRING": "", **environ}
        return b"".join(application(whole, lambda status, headers: said.append((status, dict(headers)))))

    assert asked().startswith(b"<!DOCTYPE html>") and said[-1][0] == "200 OK"
    assert json.loads(asked(PATH_INFO="/report.json"))["schema"] == 1
    assert asked(PATH_INFO="/report.json", HTTP_IF_NONE_MATCH=said[-1][1]["ETag"]) == b"" and said[-1][0][:3] == "304"
    assert asked(REQUEST_METHOD="HEAD") == b"" and int(said[-1][1]["Content-Length"]) > 10_000
    asked(PATH_INFO="")
    assert said[-1] == ("301 Moved Permanently", {**said[-1][1], "Location": "./memory/"})


def test_a_report_that_fails_is_an_answer_and_no_error_of_the_programs_server(failures):
    """Its log has enough to say."""
    page = LivePage(lambda: 1 / 0, lambda: 1)
    assert asked(mounted.asgi(page), "/")[0] == 500
    said = []
    mounted.wsgi(page)({"PATH_INFO": "/"}, lambda status, headers: said.append(status))
    assert said == ["500 Internal Server Error"] and failures == {"live page": 2}


def test_the_applications_show_whatever_watches():
    """Made before `install()` or after, they show what there is: also that nobody watches."""
    application = tfmemwatch.asgi_app()
    before = json.loads(asked(application, "/report.json")[2])
    assert before["headline"]["word"] == "NOT WATCHED" and "install()" in before["headline"]["sentence"]
    tfmemwatch.install(sample_seconds=3600)
    after = json.loads(asked(application, "/report.json")[2])
    assert after["level"] == "sites" and after["program"]["pid"] == before["program"]["pid"]


# -- memory of a month


def test_a_month_of_history_is_bounded():
    """720 moments at most, whatever the length; the last ten minutes all of them, and the beginning."""
    kept = Timeline()
    moments = Moments(kept)
    memory = page_states.STATES["leak"]().memory
    for look in range(30 * 17280 // 16):
        moments.look(float(look), lambda: memory, dict)
    ats = [one.at for one in moments.kept]
    assert ats == sorted(ats) and ats[0] < 2000 and len(ats) <= 720
    assert ats[-120:] == [float(ats[-1] - back) for back in range(119, -1, -1)]


def test_what_is_nasty_is_in_the_fixture():
    """Else the tests above would show nothing."""
    assert "</script>" in NASTY and "\u202e" in NASTY and len(NASTY) > 10_000


# -- in real frameworks


@pytest.mark.slow
def test_fastapi_mounts_it(needs):
    """`app.mount("/memory", tfmemwatch.asgi_app())`: with and without the slash, behind a proxy's prefix too."""
    app = needs("fastapi").FastAPI()
    app.mount("/memory", tfmemwatch.asgi_app())
    for root in ("", "/behind"):
        assert asked(app, "/memory/", root=root)[0] == 200
        said = json.loads(asked(app, root + "/memory/report.json", root=root)[2])
        assert said["headline"]["word"] == "NOT WATCHED"
        status, headers, _ = asked(app, "/memory", root=root)
        assert status in (301, 307) and headers["location"].endswith("memory/")
        assert asked(app, "/memory/x", root=root)[0] == 404


@pytest.mark.slow
def test_flask_mounts_it(needs):
    """`DispatcherMiddleware(app, {"/memory": tfmemwatch.wsgi_app()})`."""
    app, dispatcher = needs("flask").Flask("app"), needs("werkzeug.middleware.dispatcher").DispatcherMiddleware
    app.wsgi_app = dispatcher(app.wsgi_app, {"/memory": tfmemwatch.wsgi_app()})
    client = app.test_client()
    assert client.get("/memory/").data.startswith(b"<!DOCTYPE html>")
    assert client.get("/memory/report.json").json["level"] == "off"
    assert client.get("/memory").headers["Location"] == "./memory/"
    assert client.head("/memory/").status_code == 200 and client.post("/memory/").status_code == 405
