"""Draws the dashboard's panels from what a Prometheus holds, where no Grafana is at hand: a PNG, by way of Chromium.

    python tests/draw.py http://127.0.0.1:9090 examples/serving/pictures/dashboard.png --minutes 30 --one HOST:PORT

Titles, questions, units, places, thresholds and columns are those of examples/serving/grafana/tfmemwatch.json.
The row «All other metrics» is closed there and left out here, as is a line «other» that is nought all along.
"""

import argparse
import html
import json
import math
import re
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

BOARD = Path(__file__).resolve().parent.parent / "examples" / "serving" / "grafana" / "tfmemwatch.json"
NAMED = {"red": "#f2495c", "orange": "#ff9830", "green": "#73bf69"}
COLOURS = "#73bf69 #f2cc0c #8ab8ff #ff780a #f2495c #5794f2 #b877d9 #37872d #fade2a #c4162a #ffa6b0 #96d98d".split()
WIDTH, CELL = 1600, 38  # of the picture; height of one cell of the grid
STEPS = 240  # points of a line
STYLE = """
body { margin: 0; background: #111217; color: #ccccdc; font: 12px 'DejaVu Sans', sans-serif; }
.panel, .row { position: absolute; box-sizing: border-box; overflow: hidden; }
.panel { background: #181b1f; border: 1px solid #2c3035; border-radius: 3px; padding: 6px 10px; }
.row { font-size: 15px; padding: 9px 4px; }
h2 { font-size: 13px; font-weight: bold; margin: 0 0 4px; white-space: nowrap; }
.legend { line-height: 17px; overflow: hidden; }
.legend span { display: inline-block; max-width: 100%; margin-right: 12px; overflow: hidden; text-overflow: ellipsis;
               white-space: nowrap; vertical-align: bottom; }
.legend b { display: inline-block; width: 14px; height: 3px; margin-right: 5px; vertical-align: middle; }
.none { text-align: center; padding-top: 20px; color: #8e8e9c; }
.stat { text-align: center; font-size: 40px; line-height: 90px; }
text { font: 11px 'DejaVu Sans', sans-serif; fill: #9a9aa8; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; color: #8ab8ff; }
th, td { padding: 4px 10px 4px 0; border-bottom: 1px solid #2c3035; vertical-align: top; line-height: 16px; }
"""


def said(value, unit):
    """A number as Grafana writes it in this unit."""
    if unit == "s":
        for name, seconds in (("days", 86400), ("hours", 3600), ("mins", 60)):
            if abs(value) >= seconds:
                return "%.3g %s" % (value / seconds, name)
        return "%.3g s" % value
    if unit == "percentunit":
        return "%.3g%%" % (100 * value)
    base, names, tail = (1024, ("B", "KiB", "MiB", "GiB", "TiB"), "") if unit in ("bytes", "Bps") else (
        1000, ("", " K", " Mil", " Bil", " Tri"), " c/s" if unit == "cps" else "")  # fmt: skip
    power = 0
    while abs(value) >= 0.9999 * base and power < 4:
        value, power = value / base, power + 1
    number = "%.4g" % value if abs(value) >= 1000 else "%.3g" % value
    return number + (" " if base == 1024 else "") + names[power] + ("/s" if unit == "Bps" else tail)


def ticks(least, most, unit):
    """Some four round numbers from the least to the most."""
    if unit in ("bytes", "Bps"):
        scale = 1024.0 ** max(0, int(math.log(max(most - least, 1), 1024)))
    elif unit == "s":
        scale = next((float(one) for one in (86400, 3600, 60) if most - least > 2 * one), 1.0)
    else:
        scale = 1.0
    rough = (most - least) / scale / 4 or 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = scale * power * next(one for one in (1, 2, 2.5, 5, 10) if one * power >= rough * 0.999)
    first = math.floor(least / step)
    return [step * n for n in range(first, math.ceil(most / step) + 1)]


def nothing(panel):
    """What stands there where there is nothing."""
    return '<div class="none">%s</div>' % panel["fieldConfig"]["defaults"].get("noValue", "No data")


def colour_of(panel, value):
    """That of the highest threshold below."""
    steps = panel["fieldConfig"]["defaults"].get("thresholds", {"steps": []})["steps"]
    return next((NAMED[one["color"]] for one in reversed(steps) if value >= (one["value"] or 0)), "#ccccdc")


class Picture:
    """The board, as HTML."""

    def __init__(self, prometheus, minutes, one):
        self.prometheus, self.one = prometheus, one
        self.until = int(time.time())
        self.since = self.until - 60 * minutes
        self.step = max(1, (self.until - self.since) // STEPS)
        self.board = json.loads(BOARD.read_text(encoding="utf-8"))
        self.found = [self._starts(one) for one in self.board["annotations"]["list"]]

    def ask(self, expr, instant=False):
        """What Prometheus answers, with the other variables at «All»."""
        expr = expr.replace("$one", self.one)
        expr = re.sub(r"\$(namespace|pod|job|instance|model)\b", ".*", expr)
        expr = expr.replace("$__rate_interval", "%ds" % max(4 * self.step, 60))
        query = {"query": expr, "time": self.until} if instant else {
            "query": expr, "start": self.since, "end": self.until, "step": self.step}  # fmt: skip
        address = "%s/api/v1/%s?%s" % (
            self.prometheus, "query" if instant else "query_range", urllib.parse.urlencode(query))  # fmt: skip
        with urllib.request.urlopen(address) as answer:
            return json.loads(answer.read().decode())["data"]["result"]

    def _starts(self, annotation):
        return [one["values"][0][0] for one in self.ask(annotation["expr"])]

    def lines(self, panel, instant=False):
        """Name and values of each line of a panel."""
        for target in panel["targets"]:
            for one in self.ask(target["expr"], instant):
                parts = re.split(r"\{\{(\w+)\}\}", target["legendFormat"])
                name = "".join(one["metric"].get(part, "") if n % 2 else part for n, part in enumerate(parts))
                pairs = [one["value"]] if instant else one["values"]
                values = [(float(at), float(value)) for at, value in pairs if value not in ("NaN", "+Inf")]
                if any(value for _, value in values) or not re.search(r"\bother\b", name):
                    yield name, values

    def html(self):
        """All of it, and its height."""
        parts, height = [], 0
        for panel in self.board["panels"]:
            if panel.get("collapsed"):
                break
            place = panel["gridPos"]
            box = [round(place["x"] * WIDTH / 24) + 4, place["y"] * CELL + 4,
                   round(place["w"] * WIDTH / 24) - 8, place["h"] * CELL - 8]  # fmt: skip
            draw = {"row": lambda *_: "", "table": self.table, "bargauge": self.bars, "stat": self.stat}.get(
                panel["type"], self.chart)  # fmt: skip
            title = html.escape(panel["title"].replace("$one", self.one))
            parts.append('<div class="%s" style="left:%dpx;top:%dpx;width:%dpx;height:%dpx">%s%s</div>' % (
                "row" if panel["type"] == "row" else "panel", *box,
                "▾ " + title if panel["type"] == "row" else "<h2>%s</h2>" % title,
                draw(panel, box[2] - 22, box[3] - 36)))  # fmt: skip
            height = max(height, box[1] + box[3] + 8)
        return "<!doctype html><meta charset=utf-8><style>%s</style>%s" % (STYLE, "".join(parts)), height

    def table(self, panel, width, height):
        """Labels as columns, in the order and with the names of the panel's transformation."""
        options = panel["transformations"][0]["options"]
        unit, names = panel["fieldConfig"]["defaults"]["unit"], list(options["indexByName"])
        answers = [one for target in panel["targets"] for one in self.ask(target["expr"], True)]
        answers.sort(key=lambda one: -float(one["value"][1]))
        head = "".join("<th>%s</th>" % options["renameByName"].get(name, name) for name in names)
        rows = [dict(one["metric"], Value=said(float(one["value"][1]), unit)) for one in answers]
        body = "".join(
            "<tr>%s</tr>" % "".join("<td>%s</td>" % html.escape(row.get(name, "")) for name in names) for row in rows
        )
        return "<table><tr>%s</tr>%s</table>" % (head, body) if rows else nothing(panel)

    def stat(self, panel, width, height):
        """One number."""
        values = [values[-1][1] for _, values in self.lines(panel, True)]
        unit = panel["fieldConfig"]["defaults"]["unit"]
        told = '<div class="stat" style="color:%s">%s</div>'
        return told % (colour_of(panel, values[0]), said(values[0], unit)) if values else nothing(panel)

    def bars(self, panel, width, height):
        """One bar for each answer of now, as long as the panel's largest value lets it be."""
        defaults, parts, lines = panel["fieldConfig"]["defaults"], [], list(self.lines(panel, True))
        most = defaults.get("max") or max([values[-1][1] for _, values in lines] or [1.0])
        for number, (name, values) in enumerate(lines):
            value, y = values[-1][1], 14 + 46 * number
            parts.append('<text x="0" y="%d">%s</text>' % (y, html.escape(name)))
            parts.append('<rect x="0" y="%d" width="%d" height="20" fill="#22252b"/>' % (y + 6, width - 90))
            long = max(2.0, (width - 90) * min(1.0, value / most))
            parts.append('<rect x="0" y="%d" width="%.1f" height="20" fill="%s"/>' % (
                y + 6, long, colour_of(panel, value)))  # fmt: skip
            parts.append('<text x="%d" y="%d">%s</text>' % (width - 82, y + 21, said(value, defaults["unit"])))
        return '<svg width="%d" height="%d">%s</svg>' % (width, height, "".join(parts)) if parts else nothing(panel)

    def chart(self, panel, width, height):
        """Lines over time, stacked where the panel says so, with a mark where a leak was found."""
        lines = [(name, values) for name, values in self.lines(panel) if values]
        if not lines:
            return nothing(panel)
        defaults = panel["fieldConfig"]["defaults"]
        alone = {one["matcher"]["options"] for one in panel["fieldConfig"]["overrides"]}
        is_stacked = defaults["custom"]["stacking"]["mode"] == "normal"
        colours = [NAMED["red"] if name in alone else COLOURS[n % len(COLOURS)] for n, (name, _) in enumerate(lines)]
        legend = "".join('<span><b style="background:%s"></b>%s</span>' % (
            colour, html.escape(name)) for colour, (name, _) in zip(colours, lines))  # fmt: skip
        rows, room = 1, width
        for name, _ in lines:
            wide = min(width, 33 + 7.3 * len(name))
            rows, room = (rows, room - wide) if wide <= room else (rows + 1, width - wide)
        tall = height - 17 * min(rows, 6) - 3
        drawn, below = [], {}
        for name, values in lines:
            if is_stacked and name not in alone:
                low = [(at, below.get(at, 0.0)) for at, _ in values]
                values = [(at, below.get(at, 0.0) + value) for at, value in values]
                below.update(values)
                drawn.append((values, low))
            else:
                drawn.append((values, None))
        every = [value for values, _ in drawn for _, value in values]
        least, most = min(every), max(every)
        least = min(least, defaults["custom"]["axisSoftMin"])
        marks = ticks(least, most if most > least else least + max(abs(least) * 0.1, 1.0), defaults["unit"])
        left, right, top, bottom = 66, width - 8, 8, tall - 20

        def x_of(at):
            return left + (right - left) * (at - self.since) / (self.until - self.since)

        def y_of(value):
            return bottom - (bottom - top) * (value - marks[0]) / (marks[-1] - marks[0])

        parts = []
        for mark in marks:
            parts.append('<path d="M%d %.1fH%d" stroke="#2c3035"/>' % (left, y_of(mark), right))
            parts.append('<text x="%d" y="%.1f" text-anchor="end">%s</text>' % (
                left - 6, y_of(mark) + 4, said(mark, defaults["unit"])))  # fmt: skip
        every_seconds = next(one for one in (30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400)
                             if (self.until - self.since) / one <= (right - left) / 90)  # fmt: skip
        for at in range(self.since - self.since % every_seconds + every_seconds, self.until, every_seconds):
            parts.append('<path d="M%.1f %dV%d" stroke="#22252b"/>' % (x_of(at), top, bottom))
            form = "%H:%M:%S" if every_seconds < 60 else "%H:%M"
            parts.append('<text x="%.1f" y="%d" text-anchor="middle">%s</text>' % (
                min(x_of(at), right - 18), tall - 4, time.strftime(form, time.localtime(at))))  # fmt: skip
        for colour, (values, low) in reversed(list(zip(colours, drawn))):
            runs = [[values[0]]]
            for before, now in zip(values, values[1:]):
                if now[0] - before[0] > 1.5 * self.step:
                    runs.append([])  # a gap is a gap
                runs[-1].append(now)
            if low is not None:
                edge = values + low[::-1]
                parts.append('<polygon points="%s" fill="%s" fill-opacity="0.35"/>' % (
                    " ".join("%.1f,%.1f" % (x_of(at), y_of(value)) for at, value in edge), colour))  # fmt: skip
            for run in runs:
                parts.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>' % (
                    " ".join("%.1f,%.1f" % (x_of(at), y_of(value)) for at, value in run), colour))  # fmt: skip
        for at in (at for starts in self.found for at in starts if at > self.since):
            parts.append('<path d="M%.1f %dV%d" stroke="#f2495c" stroke-dasharray="3 3"/>' % (x_of(at), top, bottom))
        chart = '<svg width="%d" height="%d">%s</svg>' % (width, tall, "".join(parts))
        return '%s<div class="legend">%s</div>' % (chart, legend)


def shoot(address, picture, width, height, chromium="chromium"):
    """A page as a PNG."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
             "--user-data-dir=" + folder, "--window-size=%d,%d" % (width, height),
             "--screenshot=" + str(Path(picture).resolve()), address],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip


def main():
    """Draw the board, or any page as it is: of /metrics the part that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prometheus", help="its address, or with --page that of a page to be shown as it is")
    parser.add_argument("picture", help="the file to write")
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--one", default=".*", help="the instance of which the second row tells")
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    if asked.page:
        return shoot(asked.prometheus, asked.picture, 1000, 1300)
    with tempfile.TemporaryDirectory() as folder:
        text, height = Picture(asked.prometheus, asked.minutes, asked.one).html()
        page = Path(folder) / "board.html"
        page.write_text(text, encoding="utf-8")
        return shoot(page.as_uri(), asked.picture, WIDTH, height)


if __name__ == "__main__":
    main()
