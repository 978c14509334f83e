"""The page in a real browser: what it shows is the report, it asks nobody else, and everybody can read it."""

import dataclasses
import json
from pathlib import Path

import browser as browsers
import pytest
from page_states import HANDLE, NASTY, NOW, STATES

from tfmemwatch.memory.forecast import span_of
from tfmemwatch.model import Site
from tfmemwatch.outputs import html_page
from tfmemwatch.outputs.live_page import LivePage
from tfmemwatch.outputs.server import Server
from tfmemwatch.reports import Made, OpenSessions
from tfmemwatch.units import count_of, size_of

pytestmark = pytest.mark.slow
RIGHT, HOME, ESCAPE = "\ue014", "\ue011", "\ue00c"
FIRST_PAINT_MS, UPDATE_MS = 300, 50


@pytest.fixture(scope="module")
def browser():
    """One for all of these tests."""
    with browsers.started() as one:
        yield one


@pytest.fixture
def shown(browser, tmp_path):
    """Open a frozen page of a report."""

    def opened(report, wide=1200, scheme="light"):
        path = tmp_path / "page.html"
        path.write_text(html_page.page(report), encoding="utf-8")
        browser.looks(wide, scheme)
        browser.go(path.as_uri())
        return browser

    return opened


def text(browser, selector="body"):
    return browser.run("return document.querySelector(arguments[0]).innerText", selector)


def column(browser, section, number):
    """The cells of a column of a table, those that are folded up too."""
    script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
    return browser.run(script, "#of-%s td:nth-child(%d)" % (section, number))


@pytest.mark.parametrize("wide, scheme", [(1200, "light"), (390, "dark")])
@pytest.mark.parametrize("state", sorted(STATES))
def test_every_state_shows_itself_and_asks_nobody(shown, state, wide, scheme):
    """No error, nothing that the policy refused, no request, and no line wider than a phone."""
    browser = shown(STATES[state](), wide, scheme)
    assert browser.complaints() == []
    assert browser.run("return performance.getEntriesByType('resource').length") == 0
    assert browser.run("return document.documentElement.scrollWidth") <= wide
    assert text(browser, "#headline").startswith(STATES[state]().headline.word)


def test_it_shows_all_that_the_report_knows(shown):
    """Each finding with its line, cause, cure, code, holder, source; a row for each row."""
    report = STATES["leak"]()
    browser = shown(report)
    said = text(browser).replace("\n", " ")
    for finding in report.findings:
        for part in (
            finding.site.short,
            finding.cause[1:],
            finding.cure,
            finding.holder,
            *finding.examples,
            finding.known,
        ):
            assert part.replace("`", "") in said
        assert all(line in text(browser) for line in finding.suggestion.splitlines())
        assert "+" + finding.gained in said and size_of(finding.bytes) in said
    assert report.sources[0].lines[7].strip() in said
    assert browser.run("return document.querySelector('.source .at').innerText").split()[0] == str(HANDLE.line)
    for section in ("made", "sessions", "models", "left_of_models", "calls", "builds"):
        name = {"left_of_models": "left"}.get(section, section)
        assert len(column(browser, name, 1)) == len(getattr(report, section)), section
    assert "in 3 h 10 min" in said and "level sites" in said


def test_numbers_are_said_as_everywhere_else(shown):
    """Sizes, counts and times are those of the text, digit by digit."""
    numbers = [0, 1, 999, 1000, 1023, 1024, 1536, 10_239, 999_499, 10**6, 41_200_000, 10**9, 1.5e9, 7e12]
    seconds = [0.0, 3.0, 89.0, 95.0, 599.0, 601.0, 5399.0, 5401.0, 11_400.0, 172_000.0, 173_000.0, 3e6]
    made = tuple(Made("model", Site("a.py", row, "f"), int(size), 0, int(size)) for row, size in enumerate(numbers, 1))
    sessions = tuple(OpenSessions(Site("a.py", row, "f"), row, one) for row, one in enumerate(seconds, 1))
    browser = shown(dataclasses.replace(STATES["clean"](), made=made, sessions=sessions))
    assert column(browser, "made", 3) == [count_of(int(one)) for one in numbers]
    assert column(browser, "made", 6) == [size_of(one) if one else "" for one in numbers]
    assert column(browser, "sessions", 3) == [span_of(one) for one in seconds]


def test_no_name_is_html_and_none_turns_the_text_around_it(shown):
    """Script, quotes, 10 kB and marks that turn the direction are shown, isolated and cut."""
    browser = shown(STATES["nasty"]())
    assert browser.run("return document.scripts.length") == 3
    assert "\u202e" not in text(browser) and "⟨U+202E⟩" in text(browser)
    assert "<script>alert(1)</script>" in text(browser, "#headline .why")
    assert len(text(browser, "#headline")) < 4000 < len(NASTY)


@pytest.mark.parametrize("wide, scheme", [(1200, "light"), (1200, "dark"), (390, "light")])
@pytest.mark.parametrize("state", ["leak", "growing", "clean", "empty", "not_watched"])
def test_axe_finds_nothing_serious(shown, needs, state, wide, scheme):
    """Contrast, names, roles and keys, by axe-core's rules."""
    rules = Path(needs("axe_core_python").__file__).with_name("axe.min.js").read_text(encoding="utf-8")
    browser = shown(STATES[state](), wide, scheme)
    browser.devtools("Runtime.evaluate", expression=rules)
    told = browser.run_async("const done = arguments[0]; axe.run(document).then((found) => done(found.violations))")
    serious = [one for one in told if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"], one["nodes"][0]["failureSummary"]) for one in serious] == []


def test_keys_reach_and_read_the_chart(shown):
    """Arrows move, plus zooms, Escape shows all; what it is at is said as a value."""
    browser = shown(STATES["month"]())
    browser.run("document.querySelector('.chart').focus()")
    value = "return document.activeElement.getAttribute('aria-valuetext')"
    browser.keys(HOME)
    first = browser.run(value)
    browser.keys(RIGHT)
    assert browser.run(value) != first and " resident, " in first
    assert browser.run("return document.querySelector('.tip').hidden") is False
    most = "return Number(document.querySelector('.chart').getAttribute('aria-valuemax'))"
    whole = browser.run(most)
    browser.keys("+")
    assert browser.run(most) < whole
    browser.keys(ESCAPE)
    assert browser.run(most) == whole


def test_a_range_is_chosen_and_kept(shown):
    """A button for each range that there is; pressed, it says so."""
    browser = shown(STATES["month"]())
    press = "[...document.querySelectorAll('.tools button')].find((one) => one.textContent === '1 day').click();"
    pressed = "return [...document.querySelectorAll('.tools button[aria-pressed=true]')].map((one) => one.textContent)"
    assert browser.run(press + pressed) == ["1 day"]


def test_a_block_says_after_how_many_steps_memory_runs_out(shown):
    """What is left below the nearest limit, by what each step leaves; its title stands alone where no process is."""
    report = dataclasses.replace(STATES["block"](), program=None)
    finding = report.findings[0]
    steps = report.limits[0].left_bytes * finding.grown / (finding.bytes * finding.rate)
    browser = shown(report)
    assert "in about %s steps" % count_of(float("%.2g" % steps)) in text(browser, "#headline")
    assert text(browser, ".who") == report.title


def test_the_code_to_write_instead_can_be_copied(shown):
    """With a button that says so; where the browser gives no clipboard, the code is selected."""
    browser = shown(STATES["leak"]())
    browser.run("document.querySelector('.code button').click()")
    browser.waits_for("return document.querySelector('.code button').textContent !== 'Copy'")
    assert text(browser, ".code button") in ("Copied", "Selected")
    assert browser.run("return getSelection().toString()").rstrip() in ("", STATES["leak"]().findings[0].suggestion)


def test_within_another_page_it_shows_itself_and_reaches_nothing_around_it(browser, tmp_path):
    """As in a notebook: its script runs, in an origin of its own."""
    path = tmp_path / "notebook.html"
    path.write_text("<p id=around>around</p>" + html_page.html_fragment(STATES["leak"]()), encoding="utf-8")
    browser.go(path.as_uri())
    browser.into_frame(0)
    try:
        browser.waits_for("return document.querySelector('.word')")
        assert text(browser, ".word") == "LEAK"
        assert browser.run("return self.origin") == "null"
    finally:
        browser.into_frame(None)
    assert browser.complaints() == []


# -- live


@pytest.fixture
def live(browser):
    """Serve a report as a process would; `say` puts another one in its place and has the page ask for it."""
    servers = []

    class Process:
        def __init__(self, report):
            self.report, self.looks = report, 1
            self.serve(0)

        def serve(self, port):
            page = self.page = LivePage(lambda: self.report, lambda: self.looks)
            self.server = Server(lambda accept: (b"", "text/plain"), port=port, live=page)
            servers.append(self.server)
            self.server.start()

        def open(self):
            browser.looks(1200, "light")
            browser.go("http://127.0.0.1:%d/" % self.server.port)

        def say(self, report=None, times=1):
            if report is not None:
                self.report, self.looks, self.page._due = report, self.looks + 1, 0
            for _ in range(times):
                turns = "return Number(document.documentElement.dataset.turn || 0)"
                before = browser.run(turns)
                browser.run("document.dispatchEvent(new Event('visibilitychange'))")
                browser.waits_for(turns + " > %d" % before)

    yield Process
    for server in servers:
        server.stop()


def later(report, seconds=5.0, **changes):
    """The same process at its next look."""
    point = report.history[-1]._replace(at=report.history[-1].at + seconds)
    return dataclasses.replace(report, seconds=report.seconds + seconds, history=(*report.history, point), **changes)


def test_a_live_page_follows_its_process(browser, live):
    """What is found while one looks is shown, without a reload; links are relative, and answered."""
    process = live(STATES["clean"]())
    process.open()
    assert text(browser, ".word") == "CLEAN"
    leak = STATES["leak"]()
    told = later(process.report, findings=leak.findings, headline=leak.headline, outlook=leak.outlook)
    process.say(told)
    assert text(browser, ".word") == "LEAK" and "2 findings" in text(browser)
    entries = browser.run("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert {name.split("?")[0] for name in entries} == {"http://127.0.0.1:%d/report.json" % process.server.port}
    got = browser.run_async("const done = arguments[0]; fetch('report.json').then((one) => one.json()).then(done)")
    assert got == json.loads(json.dumps(told.as_dict()))
    assert browser.complaints() == []


def test_a_lost_connection_is_said_and_found_again(browser, live):
    """With what is shown being as of when; then it goes on."""
    process = live(STATES["clean"]())
    process.open()
    process.server.stop()
    process.say(times=3)
    assert "connection is lost since" in text(browser, "#news") and "connection lost" in text(browser, "#bar")
    process.serve(process.server.port)
    process.say(later(process.report))
    assert "Connected again" in text(browser, "#news") and "live" in text(browser, "#bar")
    browser.complaints()


def test_a_restarted_process_is_said(browser, live):
    """Another number, begun after the last word of the old one: its history is its own."""
    process = live(STATES["leak"]())
    process.open()
    again = STATES["empty"]()
    again = dataclasses.replace(
        again, seconds=NOW + 60, program=again.program._replace(pid=4820, began=NOW + 50), history=()
    )
    process.say(again)
    assert "started again" in text(browser, "#news") and "4820" in text(browser, "#news")
    assert text(browser, ".word") == "NOT WATCHED" and "process 4820" in text(browser, "#bar")


def test_of_several_workers_it_says_which_one_answers(browser, live):
    """And shows another one to who asks for it."""
    process = live(STATES["leak"]())
    process.open()
    other = STATES["clean"]()
    process.say(dataclasses.replace(other, program=other.program._replace(pid=4712)))
    assert "This is process 4711" in text(browser, "#news") and text(browser, ".word") == "LEAK"
    browser.run("document.querySelector('#news button').click()")
    assert text(browser, ".word") == "CLEAN" and "process 4712" in text(browser, "#bar")


def test_it_is_there_at_once_and_an_update_is_short(browser, live, capsys):
    """First paint within 0.3 s, an update within 50 ms of the browser's main thread, with a month of history."""
    process = live(STATES["month"]())
    paints, updates = [], []
    for _ in range(3):
        process.open()
        script = "return performance.getEntriesByName('first-contentful-paint').map((one) => one.startTime)"
        browser.waits_for(script)
        paints += browser.run(script)
    browser.devtools("Performance.enable")
    for _ in range(6):
        before = busy(browser)
        process.say(later(process.report))
        updates.append(1000 * (busy(browser) - before))
    with capsys.disabled():
        print("first paint %s ms, update %s ms" % ([round(one) for one in paints], [round(one) for one in updates]))
    assert min(paints) <= FIRST_PAINT_MS and min(updates) <= UPDATE_MS


def busy(browser):
    """Seconds that its main thread has spent on scripts, styles and layout."""
    told = {one["name"]: one["value"] for one in browser.devtools("Performance.getMetrics")["metrics"]}
    return told["ScriptDuration"] + told["LayoutDuration"] + told["RecalcStyleDuration"]
