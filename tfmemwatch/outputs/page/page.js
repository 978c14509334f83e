"use strict";
(() => {
  // -- what the page is given

  const WORDS = JSON.parse(document.getElementById("words").textContent);
  const LIVE = document.documentElement.dataset.mode === "live";
  const POLL_SECONDS = 5, HIDDEN_SECONDS = 60, MOST_WAIT_SECONDS = 30, ASK_SECONDS = 12;
  const MOST_POINTS = 1500; // of the history; then all of it is asked for again, thinned
  const MOST_WORKERS = 32, SILENT_SECONDS = 180; // after which a worker is taken for gone
  const MOST_CHARACTERS = 400, MOST_OF_A_NAME = 120;
  let shown = JSON.parse(document.getElementById("report").textContent);

  // -- words for numbers, as in units.py and forecast.py

  const three = (number) => String(Number(number.toPrecision(3)));
  const sizeOf = (number) => {
    for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]])
      if (Math.abs(number) >= size) return (Math.abs(number) < 999.5 * size ? three(number / size) : Math.round(number / size)) + " " + unit;
    return Math.trunc(number) + " B";
  };
  const countOf = (number) => number >= 1000 ? Math.round(number).toLocaleString("en-US") : three(number);
  const changeOf = (number) => (number < 0 ? "−" : "+") + sizeOf(Math.abs(number));
  const aOrAn = (per) => (per === "hour" ? "an " : "a ") + per;
  const paceOf = (rate, per) => {
    if (per === "hour" && rate >= 7200) [rate, per] = [rate / 3600, "second"];
    else if (per === "hour" && rate >= 120) [rate, per] = [rate / 60, "minute"];
    return rate ? countOf(rate) + " " + aOrAn(per) : "";
  };
  const bytesPaceOf = (rate, per) => {
    if (per === "hour" && rate >= 3.6e9) [rate, per] = [rate / 3600, "second"];
    return sizeOf(rate) + " " + aOrAn(per);
  };
  const spanOf = (seconds) => {
    const minutes = seconds / 60;
    if (seconds < 90) return Math.round(seconds) + " s";
    if (minutes < 10) {
      const tens = Math.round(seconds / 10) * 10, rest = tens % 60;
      return (tens - rest) / 60 + " min" + (rest ? " " + rest + " s" : "");
    }
    if (minutes < 90) return Math.round(minutes) + " min";
    if (minutes < 48 * 60) {
      const whole = minutes >= 120 ? Math.round(minutes / 10) * 10 : Math.round(minutes);
      return Math.floor(whole / 60) + " h" + (whole % 60 ? " " + whole % 60 + " min" : "");
    }
    return three(minutes / 60 / 24) + " days";
  };
  const two = (number) => String(number).padStart(2, "0");
  const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
  const clock = (seconds, withSeconds) => {
    const at = new Date(seconds * 1000);
    return two(at.getHours()) + ":" + two(at.getMinutes()) + (withSeconds ? ":" + two(at.getSeconds()) : "");
  };
  const day = (seconds) => new Date(seconds * 1000).getDate() + " " + MONTHS[new Date(seconds * 1000).getMonth()];
  const many = (count, one, more) => countOf(count) + " " + (count === 1 ? one : more || one + "s");

  // What could turn the text around it, or can't be seen, is shown as its number.
  const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\u200b]/g;
  const seen = (text) => String(text).replace(HIDDEN, (one) => "⟨U+" + one.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩");
  const clipped = (text, most = MOST_CHARACTERS) => text.length > most ? text.slice(0, most) + " …" : text;

  // -- elements; texts are always set as texts

  const SVG = "http://www.w3.org/2000/svg";
  const fill = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value === true ? "" : seen(value));
    }
    element.append(...children.flat(3).filter((one) => one !== null && one !== undefined && one !== "" && one !== false).map((one) => typeof one === "string" ? seen(one) : one));
    return element;
  };
  const h = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
  const s = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);
  const said = (text) => h("bdi", null, clipped(text));
  const brief = (text) => h("bdi", null, clipped(text, 60));
  const prose = (text) => h("bdi", null, clipped(text).split("`").map((part, number) => number % 2 ? h("code", null, part) : part));
  const lineOf = (site) => {
    if (!site.line) return site.function;
    const name = site.file.replace(/\\/g, "/").split("/").pop();
    return name + ":" + site.line + " " + (site.function.startsWith("<") ? site.function : site.function + "()");
  };
  const at = (site) => h("bdi", { class: "mono", title: clipped(site.file) }, clipped(lineOf(site), MOST_OF_A_NAME));
  const ISSUES = { tf: "https://github.com/tensorflow/tensorflow/issues/", keras: "https://github.com/keras-team/keras/issues/" };
  const linked = (text) => text.split(/\b((?:tf|keras)#\d+)\b/).map((part, number) => {
    if (number % 2 === 0) return prose(part);
    const [project, issue] = part.split("#");
    return h("a", { href: ISSUES[project] + issue, rel: "noreferrer noopener", target: "_blank" }, part);
  });

  // A part of the page is made again only when what it shows has changed: what was opened stays open.
  const drawn = new Map();
  const draw = (element, key, make) => {
    const text = JSON.stringify(key);
    if (drawn.get(element) === text) return;
    drawn.set(element, text);
    const open = new Set([...element.querySelectorAll("details[open]")].map((one) => one.dataset.name));
    const focused = element.contains(document.activeElement) ? document.activeElement.dataset.name : null;
    element.replaceChildren(...[make()].flat(3).filter(Boolean));
    for (const one of element.querySelectorAll("details")) one.open = open.has(one.dataset.name);
    if (focused) for (const one of element.querySelectorAll("[data-name]")) if (one.dataset.name === focused) one.focus();
  };

  // -- the headline: does it leak, which line, what to do, when does it end

  const isOver = (finding) => finding.state === "over";
  const isSure = (finding) => !finding.verdict.startsWith("cache still");
  const isOff = (report) => report.level === "off";
  const TONES = { "LEAK": "bad", "GROWING": "warn", "MEMORY RISES": "warn", "CLEAN": "good", "NOT WATCHED": "calm" };
  const foundIn = (report) => { // the finding that the headline is about
    const { word, why } = report.headline;
    return word === "LEAK" || word === "GROWING" ? report.findings.find((one) => !isOver(one) && why.includes(one.cause)) : undefined;
  };
  const rateOf = (finding) => finding.leaves || (finding.grown ? finding.bytes * finding.rate / finding.grown : 0);
  const gainedOf = (finding) => countOf(finding.grown) + (finding.counted ? " " + finding.counted : "");
  const sinceOf = (finding) => {
    if (finding.per === "step") return "since step " + countOf(finding.since);
    if (finding.began) return "since " + clock(finding.began) + " (" + day(finding.began) + ")";
    return finding.since >= 60 ? "since " + spanOf(finding.since) + " after the start" : "since the start";
  };
  const watchedFor = (report) => {
    const last = report.history.length ? report.history[report.history.length - 1].at : 0;
    if (report.history_in === "steps") return many(last, "step");
    const seconds = report.program && report.program.began ? report.seconds - report.program.began : last;
    return seconds < 60 ? Math.max(0, Math.round(seconds)) + " seconds" : spanOf(seconds).replace(" min", " minutes").replace(/^1 minutes/, "1 minute");
  };
  const limitLeft = (limit) => Math.max(0, limit.bytes - limit.used_bytes);
  const endOf = (outlook) => {
    const [soonest, latest] = [spanOf(outlook.soonest_seconds), outlook.latest_seconds === null ? "…" : spanOf(outlook.latest_seconds)];
    const range = soonest === latest ? "" : " (" + soonest + " – " + latest + ")";
    return ["in " + spanOf(outlook.seconds), outlook.limit + " of " + sizeOf(outlook.limit_bytes) + range];
  };
  const fact = (name, value, more, tone) => h("div", null, h("dt", null, name), h("dd", { class: tone }, value), more ? h("dd", null, more) : null);

  const NO_END = { "CLEAN": "Not in sight", "NOT WATCHED": "Not known" };
  const when = (report, finding) => {
    if (report.outlook) return fact("When it runs out", ...endOf(report.outlook), report.outlook.seconds < 6 * 3600 ? "bad" : null);
    if (finding && finding.outlook) return fact("When it runs out", said(finding.outlook));
    const limit = report.limits[0], aStep = finding && finding.per === "step" ? rateOf(finding) : 0;
    if (!limit) return fact("When it runs out", "Not known", "no limit is near");
    if (aStep >= 1) return fact("When it runs out", "in about " + countOf(Number((limitLeft(limit) / aStep).toPrecision(2))) + " steps", sizeOf(limitLeft(limit)) + " left below the " + limit.name);
    return fact("When it runs out", NO_END[report.headline.word] || "Not to be told yet", sizeOf(limitLeft(limit)) + " left below the " + limit.name);
  };
  const growth = (finding) => {
    const kept = finding.bytes >= 1024 ? sizeOf(finding.bytes) + " kept" : "";
    const first = finding.grown ? "+" + gainedOf(finding) : rateOf(finding) >= 1 ? "+" + bytesPaceOf(rateOf(finding), finding.per) : "growing";
    return fact("How fast", said(first + (finding.grown ? " so far" : "")), [[finding.grown ? paceOf(finding.rate, finding.per) : "", kept, sinceOf(finding)].filter(Boolean).join(" · ")]);
  };
  const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const remedy = (finding) => finding.short || finding.cure.split(/\.\s/)[0].replace(/\.$/, "");

  const becameOf = (report) => report.verdict && report.verdict.word ? upper(report.verdict.why) : "";
  const resident = (report) => report.memory.resident_bytes === null ? "not known" : sizeOf(report.memory.resident_bytes);

  const calmHeadline = (report) => {
    const { word, sentence, why } = report.headline, rest = sentence.slice(word.length).replace(/^,? because /, "").trim();
    const isClean = word === "CLEAN";
    const words = isClean ? "Nothing grows." : upper(word === "NOT WATCHED" ? rest : word.toLowerCase() + rest) + ".";
    const more = isClean ? [upper(rest.replace(/^\(|\)$/g, "")), upper(why)].filter(Boolean).join(". ") + "."
      : why ? upper(why) + "." : isOff(report) ? "What leaks now would not be seen." : word === "NOT WATCHED" ? "Watching for " + watchedFor(report) + ". Nothing grows so far." : "";
    const alive = report.made.reduce((sum, row) => sum + Math.max(0, row.made - row.freed), 0);
    return [
      h("h1", null, prose(words)), more ? h("p", { class: "why" }, prose(more)) : null,
      h("dl", { class: "facts" },
        fact("Resident memory", resident(report), report.rise ? upper(report.rise) : becameOf(report)),
        when(report, null),
        fact("Counted and alive", many(alive, "thing"), "from " + many(report.made.length, "line"))),
    ];
  };
  const headline = (report) => {
    const finding = foundIn(report), { word, sentence } = report.headline, tone = TONES[word] || "calm";
    const others = report.findings.filter((one) => !isOver(one)).length - 1;
    document.getElementById("headline").className = tone;
    document.title = word + " · " + (report.program ? seen(report.program.name) + " · " : "") + "tfmemwatch";
    const chip = h("span", { class: "word " + tone }, word);
    if (!finding) return [chip, calmHeadline(report)];
    return [
      chip, h("h1", null, at(finding.site), word === "LEAK" ? " leaks" : " keeps growing"),
      h("p", { class: "why" }, prose(upper(finding.cause)), ". ", finding.why ? [prose(finding.why), ". "] : null, word === "GROWING" ? said(upper(sentence.slice(9).trim()) + ".") : null),
      h("dl", { class: "facts" },
        fact("What to do", prose(upper(remedy(finding))), h("a", { href: "#finding-" + (report.findings.indexOf(finding) + 1) }, others > 0 ? "This, and " + many(others, "more finding") + " ↓" : "The code, and who holds it ↓")),
        when(report, finding), growth(finding)),
    ];
  };

  // -- the chart of memory

  const LAYERS = ["variables", "malloc, in use", "Python objects (about)", "freed and kept by malloc", "code, files and the rest"];
  const layersOf = (point) => {
    let left = point.resident_bytes;
    const take = (bytes) => {
      const part = Math.max(0, Math.min(bytes || 0, left));
      left -= part;
      return part;
    };
    if (point.in_use_bytes === null) return [0, 0, 0, 0, left];
    const variables = take(Math.min(point.variables_bytes, point.in_use_bytes));
    const parts = [variables, take(point.in_use_bytes - variables), take(point.python_blocks * WORDS.python_block_bytes), take(point.kept_bytes)];
    return [...parts, left];
  };
  const NICE_SECONDS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 345600, 604800];
  const niceStep = (span, most) => {
    const power = 10 ** Math.floor(Math.log10(span / most || 1));
    return [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => span / one <= most) || power * 10;
  };
  const RANGES = [["10 min", 600], ["1 h", 3600], ["6 h", 21600], ["1 day", 86400], ["1 week", 604800]];

  const chart = {
    from: null, to: null, // the part that is looked at; null: all of it, and what comes
    last: null, // or the last so many seconds, and what comes
    fromZero: true,
    cursor: null, // which point is looked at
    drag: null,
    element: null,
  };
  const pointsOf = (report) => report.history.filter((one) => one.resident_bytes !== null);
  const timeOf = (report, x, withDay) => {
    if (report.history_in === "steps") return "step " + countOf(x);
    if (!report.program || !report.program.began) return spanOf(x);
    const seconds = report.program.began + x;
    return clock(seconds, chartSpan(report) < 900) + (withDay ? ", " + day(seconds) : "");
  };
  const chartRange = (report) => {
    const points = pointsOf(report), end = points[points.length - 1].at;
    if (chart.from !== null) return [chart.from, chart.to];
    const begin = chart.last === null ? points[0].at : Math.max(points[0].at, end - chart.last);
    return [begin, end > begin ? end : begin + 1];
  };
  const chartSpan = (report) => {
    const [from, to] = chartRange(report);
    return to - from;
  };
  const marksOf = (report) => report.findings.map((finding, number) => ({ number: number + 1, at: finding.since, finding }))
    .filter((mark) => (mark.finding.per === "step") === (report.history_in === "steps"));

  const drawChart = () => {
    const report = shown, points = pointsOf(report), element = chart.element;
    if (!element || points.length < 2) return;
    const wide = Math.max(280, Math.round(element.clientWidth || 900)), high = wide < 520 ? 220 : 290;
    const box = { left: 56, right: wide - 10, top: 22, bottom: high - 24 };
    let [from, to] = chartRange(report);
    const outlook = report.outlook, isFollowed = chart.from === null;
    const end = points[points.length - 1];
    const until = outlook && isFollowed ? to + Math.min(outlook.seconds, 0.22 * (to - from)) : to; // a look ahead
    const inside = points.filter((one, number) => one.at >= from && one.at <= to || (points[number + 1] && points[number + 1].at >= from && one.at < from) || (points[number - 1] && points[number - 1].at <= to && one.at > to));
    const values = inside.map((one) => one.resident_bytes);
    const most = Math.max(...values), least = Math.min(...values);
    const limit = report.limits[0] && !report.is_of_block ? report.memory.resident_bytes + limitLeft(report.limits[0]) : null;
    const ahead = outlook && isFollowed ? end.resident_bytes + outlook.bytes_a_second * (until - end.at) : 0;
    const isNear = limit !== null && limit < 2.2 * Math.max(most, ahead);
    const pad = Math.max((most - least) * 0.15, most * 0.002, 1);
    const floor = chart.fromZero ? 0 : Math.max(0, least - pad);
    const top = Math.max(chart.fromZero ? most * 1.06 : most + pad, ahead * 1.03, isNear && chart.fromZero ? limit * 1.04 : 0);
    const x = (value) => box.left + (value - from) / (until - from || 1) * (box.right - box.left);
    const y = (value) => box.bottom - (Math.min(top, Math.max(floor, value)) - floor) / (top - floor) * (box.bottom - box.top);
    Object.assign(chart, { points: inside, x, y, box, wide, high, spanFrom: from, spanUntil: until });

    const unit = [2 ** 30, 2 ** 20, 2 ** 10].find((size) => top - floor >= 1.2 * size) || 1;
    const grid = [], step = niceStep((top - floor) / unit, high / 52) * unit;
    for (let value = Math.ceil(floor / step) * step; value <= top; value += step)
      grid.push(s("line", { class: "grid", x1: box.left, x2: box.right, y1: y(value), y2: y(value) }), s("text", { x: box.left - 8, y: y(value) + 4, "text-anchor": "end" }, sizeOf(value)));
    const inSteps = report.history_in === "steps", span = until - from;
    const each = inSteps ? Math.max(1, niceStep(span, wide / 110)) : NICE_SECONDS.find((one) => span / one <= wide / 110) || 604800;
    const offset = inSteps || !report.program ? 0 : report.program.began - new Date(report.program.began * 1000).getTimezoneOffset() * 60;
    for (let value = Math.ceil((from + offset) / each) * each - offset; value <= until; value += each)
      if (x(value) > box.left + 24 && x(value) < box.right - 18) grid.push(s("text", { x: x(value), y: high - 6, "text-anchor": "middle" }, !inSteps && each >= 86400 && report.program ? day(report.program.began + value) : inSteps ? countOf(value) : timeOf(report, value)));

    const sums = inside.map(() => 0), layers = [], parts = inside.map(layersOf);
    for (let layer = 0; layer < LAYERS.length; layer++) {
      const below = sums.slice();
      parts.forEach((part, number) => { sums[number] += part[layer]; });
      if (!parts.some((part) => part[layer] > 0)) continue;
      const over = inside.map((one, number) => x(one.at).toFixed(1) + "," + y(sums[number]).toFixed(1));
      const under = inside.map((one, number) => x(one.at).toFixed(1) + "," + y(below[number]).toFixed(1)).reverse();
      layers.push(s("path", { class: "layer k" + layer, d: "M" + over.concat(under).join("L") + "Z" }));
    }
    layers.push(s("path", { class: "total", d: "M" + inside.map((one) => x(one.at).toFixed(1) + "," + y(one.resident_bytes).toFixed(1)).join("L") }));
    const clip = s("clipPath", { id: "inside" }, s("rect", { x: box.left, y: box.top - 14, width: box.right - box.left, height: box.bottom - box.top + 14 }));
    const over = [];
    if (ahead) over.push(s("path", { class: "ahead", d: "M" + x(end.at) + "," + y(end.resident_bytes) + "L" + x(until) + "," + y(ahead) }));
    if (isNear && limit <= top) over.push(s("line", { class: "limit", x1: box.left, x2: box.right, y1: y(limit), y2: y(limit) }), s("text", { class: "limit-name", x: box.left + 6, y: y(limit) + 15 }, report.limits[0].name + ": " + sizeOf(limitLeft(report.limits[0])) + " left"));
    const marks = marksOf(report).filter((mark) => mark.at >= from && mark.at <= to).slice(0, 20).map((mark) => [
      s("line", { class: "began", x1: x(mark.at), x2: x(mark.at), y1: box.top, y2: box.bottom }),
      s("circle", { class: "badge", cx: x(mark.at), cy: box.top - 9, r: 9 }),
      s("text", { class: "badge-number", x: x(mark.at), y: box.top - 5 }, String(mark.number)),
    ]);
    const svg = s("svg", { viewBox: "0 0 " + wide + " " + high, "aria-hidden": "true" }, s("defs", null, clip), grid, s("g", { "clip-path": "url(#inside)" }, layers, over), marks);
    chart.above = svg.appendChild(s("g", null));
    chart.tip = h("div", { class: "tip", hidden: true });
    element.replaceChildren(svg, chart.tip);
    element.setAttribute("aria-valuemin", "0");
    element.setAttribute("aria-valuemax", String(inside.length - 1));
    pointAt(chart.cursor === null ? null : Math.min(chart.cursor, inside.length - 1));
  };
  const pointAt = (number) => {
    chart.cursor = number;
    const element = chart.element, point = number === null ? null : chart.points[number];
    const spoken = chart.points[point ? number : chart.points.length - 1];
    element.setAttribute("aria-valuenow", String(point ? number : chart.points.length - 1));
    element.setAttribute("aria-valuetext", timeOf(shown, spoken.at, true) + ": " + sizeOf(spoken.resident_bytes) + " resident" + (spoken.in_use_bytes === null ? "" : ", " + sizeOf(spoken.in_use_bytes) + " in use"));
    chart.above.replaceChildren();
    chart.tip.hidden = !point;
    if (chart.drag && chart.drag.to !== undefined) {
      const [left, right] = [chart.drag.from, chart.drag.to].sort((one, other) => one - other);
      chart.above.append(s("rect", { class: "chosen", x: left, y: chart.box.top, width: right - left, height: chart.box.bottom - chart.box.top }));
    }
    if (!point) return;
    const left = chart.x(point.at);
    chart.above.append(s("line", { class: "cross", x1: left, x2: left, y1: chart.box.top, y2: chart.box.bottom }), s("circle", { cx: left, cy: chart.y(point.resident_bytes), r: 3.5, class: "badge" }));
    const parts = layersOf(point);
    chart.tip.replaceChildren(
      h("b", null, timeOf(shown, point.at, true)),
      h("div", null, h("span", null, "resident"), h("span", null, sizeOf(point.resident_bytes))),
      ...LAYERS.map((name, layer) => parts[layer] > 0 ? h("div", null, h("span", null, h("i", { class: "k" + layer }), name), h("span", null, sizeOf(parts[layer]))) : null).filter(Boolean),
      ...aliveOf(point).sort((one, other) => other[1] - one[1]).slice(0, 3).map(([kind, count]) => h("div", { class: "quiet" }, h("span", null, kindOf(kind)), h("span", null, countOf(count)))));
    const scale = (element.clientWidth || chart.wide) / chart.wide, room = element.clientWidth - chart.tip.offsetWidth;
    chart.tip.style.left = Math.max(0, Math.min(room, left * scale < room / 2 ? left * scale + 14 : left * scale - chart.tip.offsetWidth - 14)) + "px";
  };
  const aliveOf = (point) => Object.entries(point.alive).filter(([kind]) => WORDS.alive.includes(kind)); // the rest are events
  const kindOf = (kind) => WORDS.kinds[kind] || kind;
  const nearest = (event) => {
    const bounds = chart.element.getBoundingClientRect(), left = (event.clientX - bounds.left) * chart.wide / bounds.width;
    let best = 0;
    chart.points.forEach((point, number) => { if (Math.abs(chart.x(point.at) - left) < Math.abs(chart.x(chart.points[best].at) - left)) best = number; });
    return { number: best, left };
  };
  const zoomTo = (from, to, last) => {
    Object.assign(chart, { from, to, last, cursor: null });
    showMemory(true);
  };
  const zoomBy = (factor) => {
    const points = pointsOf(shown), [from, to] = chartRange(shown);
    const middle = chart.cursor === null ? (from + to) / 2 : chart.points[chart.cursor].at;
    const begin = Math.max(points[0].at, middle - (middle - from) * factor), end = Math.min(points[points.length - 1].at, middle + (to - middle) * factor);
    const isAll = begin <= points[0].at && end >= points[points.length - 1].at;
    if (points.filter((one) => one.at >= begin && one.at <= end).length >= 2) zoomTo(isAll ? null : begin, isAll ? null : end, null);
  };
  const listen = (element) => {
    element.addEventListener("pointermove", (event) => {
      const { number, left } = nearest(event);
      if (chart.drag && Math.abs(left - chart.drag.from) > 6) chart.drag.to = left;
      pointAt(number);
    });
    element.addEventListener("pointerleave", () => { chart.drag = null; pointAt(null); });
    element.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse" && event.button === 0) chart.drag = { from: nearest(event).left }; });
    element.addEventListener("pointerup", () => {
      const drag = chart.drag;
      chart.drag = null;
      if (!drag || drag.to === undefined) return;
      const when = (left) => chart.spanFrom + (left - chart.box.left) / (chart.box.right - chart.box.left) * (chart.spanUntil - chart.spanFrom);
      const [from, to] = [when(drag.from), when(drag.to)].sort((one, other) => one - other);
      if (chart.points.filter((one) => one.at >= from && one.at <= to).length >= 2) zoomTo(from, to, null);
      else pointAt(null);
    });
    element.addEventListener("dblclick", () => zoomTo(null, null, null));
    element.addEventListener("blur", () => pointAt(null));
    element.addEventListener("keydown", (event) => {
      const last = chart.points.length - 1, now = chart.cursor === null ? last : chart.cursor, page = Math.max(1, Math.round(last / 10));
      const moves = { ArrowLeft: now - 1, ArrowRight: now + 1, ArrowDown: now - 1, ArrowUp: now + 1, PageDown: now - page, PageUp: now + page, Home: 0, End: last };
      if (event.key in moves) pointAt(Math.max(0, Math.min(last, moves[event.key])));
      else if (event.key === "+" || event.key === "=") zoomBy(0.5);
      else if (event.key === "-") zoomBy(2);
      else if (event.key === "Escape" || event.key === "0") zoomTo(null, null, null);
      else return;
      event.preventDefault();
    });
  };
  const tools = (report) => {
    const points = pointsOf(report), whole = points[points.length - 1].at - points[0].at;
    const is = (last) => String(chart.from === null && chart.last === last);
    const buttons = report.history_in === "steps" ? [] : RANGES.filter(([, seconds]) => seconds < whole * 0.95).map(([name, seconds]) => h("button", { "data-name": "range-" + name, "aria-pressed": is(seconds), onclick: () => zoomTo(null, null, seconds) }, name));
    const used = LAYERS.map((name, layer) => points.some((point) => layersOf(point)[layer] > 0) ? h("li", { class: "k" + layer }, name) : null);
    return h("div", { class: "tools" }, h("ul", { class: "legend" }, used),
      buttons.length || chart.from !== null ? [buttons, h("button", { "data-name": "range-all", "aria-pressed": is(null), onclick: () => zoomTo(null, null, null) }, "All")] : null,
      h("button", { "data-name": "zero", "aria-pressed": String(!chart.fromZero), onclick: () => { chart.fromZero = !chart.fromZero; showMemory(true); } }, "Only the change"));
  };
  const COLOURS = { variables: 0, malloc: 1, python: 2, malloc_kept: 3, files: 4, python_kept: 5, numpy: 6, tensors: 7, constants: 8 };
  const ownersNow = (report) => {
    if (!report.account) return null;
    const parts = WORDS.owners.map(([name, title, help]) => ({ colour: "k" + (COLOURS[name] === undefined ? 9 : COLOURS[name]), title, help, bytes: report.account.parts[name] || 0 })).filter((one) => one.bytes >= 50000).sort((one, other) => other.bytes - one.bytes);
    const sum = parts.reduce((all, one) => all + one.bytes, 0);
    if (!sum) return null;
    const before = report.account_before;
    const bar = h("div", { class: "owners", "aria-hidden": "true" }, parts.map((one) => {
      const part = h("div", { class: one.colour, title: one.title + ": " + sizeOf(one.bytes) });
      part.style.flexGrow = String(one.bytes / sum);
      return part;
    }));
    const list = h("ul", { class: "legend weights" }, parts.map((one) => h("li", { class: one.colour, title: one.help }, one.title, h("b", null, sizeOf(one.bytes)))));
    const back = report.account.returnable_bytes >= 4e6 ? h("p", { class: "quiet small" }, report.account.allocator + " would give back about " + sizeOf(report.account.returnable_bytes) + " if it were trimmed.") : null;
    const change = before ? " (" + changeOf(report.account.resident_bytes - before.resident_bytes) + " since it began)" : "";
    return h("div", { class: "panel" }, h("p", null, "Whose memory it is now: ", h("b", null, sizeOf(report.account.resident_bytes)), " resident" + change), bar, list, back);
  };
  const asTable = (report) => {
    const points = pointsOf(report), rows = evenly(points.map((one) => one.at), 40).map((number) => points[number]);
    return h("details", { "data-name": "history" }, h("summary", null, "The same as a table"), table("Memory over time", ["when", "resident*", "in use*", "kept by malloc*", "variables*"],
      rows.map((one) => [timeOf(report, one.at, true), ...[one.resident_bytes, one.in_use_bytes, one.kept_bytes, one.variables_bytes].map((bytes) => bytes === null ? "–" : sizeOf(bytes))])));
  };
  const showMemory = (again) => {
    const report = shown, section = document.getElementById("memory"), points = pointsOf(report);
    if (points.length < 2) {
      draw(section, ["none", report.account, resident(report)], () => [h("h2", { id: "memory-title" }, "Memory"),
        h("div", { class: "panel empty" }, h("b", null, resident(report) + " resident"), isOff(report) ? "Nothing is remembered while nobody watches." : "The first points of the chart come with the next looks."), ownersNow(report)]);
      return;
    }
    if (again) drawn.delete(section);
    const isOpen = section.querySelector("details[open]") !== null;
    draw(section, [report.history.length, points[points.length - 1], report.account, report.limits, report.findings.map((one) => one.since), isOpen], () => {
      const old = chart.element;
      chart.element = old || h("div", { class: "chart", role: "slider", tabindex: "0", "data-name": "chart", "aria-label": "Memory over time. Arrow keys move, plus and minus zoom, Escape shows all" });
      if (!old) listen(chart.element);
      return [h("h2", { id: "memory-title" }, report.history_in === "steps" ? "Memory over the steps" : "Memory over time"), h("div", { class: "panel" }, tools(report), chart.element, asTable(report)), ownersNow(report)];
    });
    drawChart();
  };

  // -- findings

  const spark = (values, name, times) => {
    if (values.length < 2) return null;
    const low = Math.min(...values), high = Math.max(...values), wide = 132, tall = 34;
    const when = (number) => times ? (times[number] - times[0]) / (times[times.length - 1] - times[0] || 1) : number / (values.length - 1);
    const place = (value, number) => (2 + when(number) * (wide - 4)).toFixed(1) + "," + (tall - 4 - (value - low) / (high - low || 1) * (tall - 8)).toFixed(1);
    const line = values.map(place).join("L");
    const about = name ? { role: "img", "aria-label": name + ": from " + countOf(values[0]) + " to " + countOf(values[values.length - 1]) } : { "aria-hidden": "true" };
    return s("svg", { class: "spark", viewBox: "0 0 " + wide + " " + tall, preserveAspectRatio: "none", ...about },
      s("path", { class: "under", d: "M" + line + "L" + (wide - 2) + "," + tall + "L2," + tall + "Z" }), s("path", { d: "M" + line, "vector-effect": "non-scaling-stroke" }));
  };
  const copy = (text, button) => {
    const done = (word) => { button.textContent = word; setTimeout(() => { button.textContent = "Copy"; }, 1600); };
    const select = () => {
      const range = document.createRange();
      range.selectNodeContents(button.parentElement.querySelector("pre"));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      done(document.execCommand("copy") ? "Copied" : "Selected");
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => done("Copied"), select);
    else select();
  };
  const codeWithCopy = (code, name) => h("div", { class: "code with-copy" },
    h("pre", { tabindex: "0", role: "region", "aria-label": name }, h("code", null, h("bdi", null, code))),
    h("button", { "data-name": "copy " + code.slice(0, 60), "aria-label": "Copy: " + name, onclick: (event) => copy(code, event.currentTarget) }, "Copy"));
  const sourceOf = (report, finding) => {
    const found = report.sources.find((one) => one.file === finding.site.file && one.line === finding.site.line);
    if (!found) return null;
    const lines = found.lines.map((line, number) => h("span", { class: found.first + number === found.line ? "at" : null },
      h("i", { "aria-hidden": "true" }, String(found.first + number)), found.first + number === found.line ? h("span", { class: "unseen" }, "this line: ") : null, h("bdi", null, line || " ")));
    return h("div", { class: "part" }, h("b", null, h("bdi", null, clipped(found.file))), found.is_newer ? h("p", { class: "quiet small" }, "This file has changed since the program began: the lines may be others than those that run.") : null,
      h("div", { class: "code source" }, h("pre", { tabindex: "0", role: "region", "aria-label": "Source around line " + found.line }, h("code", null, lines))));
  };
  const card = (report, finding, number) => {
    const tone = isOver(finding) ? "" : isSure(finding) ? "bad" : "warn";
    const word = isOver(finding) ? "over" : isSure(finding) ? finding.verdict : "may be a " + finding.verdict;
    const pairs = [];
    if (finding.grown) pairs.push(["grown", "+" + gainedOf(finding)], ["pace", paceOf(finding.rate, finding.per)]);
    if (finding.bytes) pairs.push(["kept", sizeOf(finding.bytes)]);
    if (rateOf(finding) >= 1) pairs.push(["bytes", bytesPaceOf(rateOf(finding), finding.per)]);
    pairs.push(["began", sinceOf(finding).replace(/^since /, "")]);
    const went = spark(finding.trail, "How the count went");
    return h("article", { class: "card", id: "finding-" + number, "aria-labelledby": "finding-title-" + number },
      h("header", null, h("span", { class: "number", "aria-hidden": "true" }, String(number)), h("h3", { id: "finding-title-" + number }, at(finding.site)), h("span", { class: "chip " + tone }, finding.kind.replace(/_/g, " ") + " · " + word), h("p", { class: "cause" }, prose(upper(finding.cause)))),
      h("div", { class: "body" },
        h("dl", { class: "numbers" }, went ? h("div", null, h("dt", null, "how it went"), h("dd", null, went)) : null, pairs.filter(([, value]) => value).map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, said(value))))),
        finding.why ? h("div", { class: "part" }, h("b", null, "Why"), prose(finding.why), finding.examples.length ? h("ul", { class: "plain" }, finding.examples.map((one) => h("li", { class: "mono small" }, said(one)))) : null) : null,
        sourceOf(report, finding),
        h("div", { class: "part cure" }, h("b", null, "What to do"), linked(finding.cure)),
        finding.suggestion ? h("div", { class: "part" }, h("b", null, "Write instead"), codeWithCopy(finding.suggestion, "the code to write instead")) : null,
        finding.holder ? h("div", { class: "part way" }, h("b", null, "Held by"), finding.holder.split(" → ").map((one, step) => [step ? " → " : "", h("bdi", { class: "mono" }, clipped(one))])) : null,
        finding.stack.length > 1 ? h("div", { class: "part way" }, h("b", null, "Called by"), finding.stack.slice(1).map((one, step) => [step ? " ← " : "", at(one)])) : null,
        finding.outlook ? h("p", null, said(upper(finding.outlook)), ".") : null,
        finding.known ? h("p", { class: "quiet" }, linked(finding.known)) : null,
        finding.more ? h("p", { class: "quiet small" }, said(finding.more)) : null));
  };
  const showFindings = (report) => draw(document.getElementById("findings"), [report.findings, report.sources, isOff(report), report.headline.word], () => {
    const title = h("h2", { id: "findings-title" }, report.findings.length ? many(report.findings.length, "finding") : "Findings");
    if (report.findings.length) return [title, report.findings.map((finding, number) => card(report, finding, number + 1))];
    const words = isOff(report) ? ["Nothing is watched at this level.", "What leaks now would not be seen."]
      : [report.headline.word === "CLEAN" ? "No leak was found in what was watched." : "No line is named so far.", "A line is named when its count keeps climbing, and a collection does not bring it down."];
    return [title, h("div", { class: "panel empty" }, h("b", null, words[0]), words[1])];
  });

  // -- tables

  const table = (caption, columns, rows) => h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", null, h("caption", { class: "unseen" }, caption),
      h("thead", null, h("tr", null, columns.map((name) => h("th", { scope: "col", class: name.endsWith("*") ? "n" : null }, name.replace("*", ""))))),
      h("tbody", null, rows.map((row) => h("tr", null, row.map((cell, number) => h("td", { class: columns[number].endsWith("*") ? "n" : null }, cell)))))));
  const MOST_ROWS = 12;
  const long = (name, columns, rows) => [table(name, columns, rows.slice(0, MOST_ROWS)),
    rows.length > MOST_ROWS ? h("details", { "data-name": name }, h("summary", null, many(rows.length - MOST_ROWS, "more row")), table(name + ", the rest", columns, rows.slice(MOST_ROWS, 500))) : null];
  const signed = (number) => (number < 0 ? "−" : "+") + countOf(Math.abs(number));

  const evenly = (times, most) => { // the places of so many, evenly spread over the time: the last ones lie closer together
    const places = [], each = (times[times.length - 1] - times[0]) / most;
    times.forEach((time, number) => { if (!places.length || time - times[places[places.length - 1]] >= each || number === times.length - 1) places.push(number); });
    return places;
  };
  const living = (report) => {
    const kinds = new Map();
    report.history.forEach((point, number) => aliveOf(point).forEach(([kind, count]) => {
      if (!kinds.has(kind)) kinds.set(kind, new Array(report.history.length).fill(0));
      kinds.get(kind)[number] = count;
    }));
    const rows = [...kinds].map(([kind, values]) => ({ kind, values, now: values[values.length - 1], change: values[values.length - 1] - values[0] })).sort((one, other) => Math.abs(other.change) - Math.abs(one.change) || other.now - one.now);
    if (!rows.length) return null;
    const places = evenly(report.history.map((one) => one.at), 66), times = places.map((number) => report.history[number].at);
    const thinned = (values) => places.map((number) => values[number]);
    return [h("h2", null, "What is alive"), h("div", { class: "panel" }, long("What is alive", ["", "how it went", "now*", "change*"], rows.map((row) => [kindOf(row.kind), spark(thinned(row.values), kindOf(row.kind), times), countOf(row.now), row.change ? signed(row.change) : "0"])))];
  };
  const retraces = (report) => {
    const again = report.traces.filter((row) => row.is_retrace), first = report.traces.filter((row) => !row.is_retrace);
    if (!report.traces.length) return null;
    const reasons = (row) => report.retrace_causes.filter((one) => one.function === row.function && lineOf(one.site) === lineOf(row.site)).concat(report.retrace_causes.filter((one) => one.function === row.function && lineOf(one.site) !== lineOf(row.site)));
    const causes = (row) => h("ul", { class: "plain" }, reasons(row).slice(0, 5).map((one) => h("li", null, one.argument ? [h("bdi", { class: "mono" }, clipped(one.argument, MOST_OF_A_NAME)), " "] : null, prose(one.cause), " (" + countOf(one.times) + ")")));
    const rows = again.map((row) => [h("bdi", { class: "mono" }, clipped(row.function, MOST_OF_A_NAME)), at(row.site), countOf(row.times), causes(row), three(row.seconds) + " s", sizeOf(row.bytes)]);
    const once = first.reduce((sum, row) => sum + row.times, 0), seconds = first.reduce((sum, row) => sum + row.seconds, 0);
    return [h("h2", null, "Retraces by function"), h("div", { class: "panel" },
      rows.length ? long("Retraces by function", ["function", "line", "times*", "why", "took*", "memory*"], rows) : h("p", null, "No function was traced a second time."),
      once ? h("p", { class: "quiet small" }, many(once, "first trace") + " of " + many(first.length, "function") + ", " + three(seconds) + " s.") : null)];
  };
  const simple = (title, columns, rows, note) => rows.length ? [h("h2", null, title), h("div", { class: "panel" }, note ? h("p", { class: "quiet small" }, note) : null, long(title, columns, rows))] : null;
  const leaves = (row) => {
    if (row.measured < 100 || row.error_bytes === null) return "not known yet";
    const each = row.grown_bytes / row.measured;
    return (Math.abs(each) > 3 * row.error_bytes ? sizeOf(1000 * each) : "0 B") + " ± " + sizeOf(1000 * row.error_bytes);
  };
  const name = (text) => h("bdi", { class: "mono" }, clipped(text, MOST_OF_A_NAME));
  const SECTIONS = {
    living: [["history"], living],
    retraces: [["traces", "retrace_causes"], retraces],
    made: [["made"], (report) => simple("Made, freed and still alive", ["what", "line", "made*", "freed*", "alive*", "weigh*"], report.made.map((row) => [kindOf(row.kind), at(row.site), countOf(row.made), countOf(row.freed), signed(row.made - row.freed), row.bytes > 0 ? sizeOf(row.bytes) : ""]))],
    sessions: [["sessions"], (report) => simple("Sessions open", ["line", "open*", "the oldest for*"], report.sessions.map((row) => [at(row.site), countOf(row.open), spanOf(row.oldest_seconds)]))],
    models: [["models"], (report) => simple("Models alive", ["model", "variables*", "weigh*", "traces*", "grown by calls*"], report.models.map((row) => [name(row.model), countOf(row.variables), sizeOf(row.weight_bytes), countOf(row.traces), sizeOf(row.grown_bytes)]))],
    left: [["left_of_models"], (report) => simple("Left behind by models that are gone", ["model", "made at", "still alive*", "weigh*", "held by"], report.left_of_models.map((row) => [name(row.model), at(row.site), countOf(row.alive) + " of " + countOf(row.variables), sizeOf(row.bytes), said(row.holder || "not known")]))],
    calls: [["calls"], (report) => simple("Model calls", ["model", "calls*", "left by 1,000 calls*"], report.calls.filter((row) => row.calls).sort((one, other) => other.calls - one.calls).map((row) => [name(row.model + "." + row.method), countOf(row.calls), leaves(row)]))],
    builds: [["builds"], (report) => simple("Builds by XLA", ["function", "line", "builds*", "for traces*", "took*", "memory*"], report.builds.map((row) => [name(row.function), at(row.site), countOf(row.builds), countOf(row.traces), three(row.seconds) + " s", sizeOf(row.bytes)]))],
    baked: [["baked_in"], (report) => simple("Baked into traces", ["line", "what", "in each trace*"], report.baked_in.map((row) => [at(row.site), prose(row.what), row.bytes ? sizeOf(row.bytes) : ""]))],
    watch: [["own", "level", "level_since", "level_why", "off", "versions", "functions", "orphan_functions", "program"], (report) => watchItself(report)],
  };
  const watchItself = (report) => {
    const own = report.own, rows = [], add = (key, ...value) => rows.push(h("dt", null, key), h("dd", null, value));
    if (report.program) add("process", brief(report.program.name || "python"), " · " + report.program.pid + " on ", brief(report.program.host), report.program.note ? ", " + clipped(report.program.note) : "");
    add("level", report.level || "not known", report.level_since ? " since " + clock(report.level_since) + " (" + day(report.level_since) + ")" : "", report.level_why ? [", because ", said(report.level_why)] : null);
    if (own) {
      add("cost so far", three(own.seconds) + " s of processor in " + many(own.looks, "look") + ", " + sizeOf(own.bytes) + " of tables");
      if (own.folded) add("folded", many(own.folded, "event") + " counted under other lines, because a table was full");
      const failed = Object.entries(own.failures);
      if (failed.length) add("failed", failed.map(([part, times]) => part + " " + countOf(times) + "×").join(", "));
    }
    if (report.functions) add("in the runtime", many(report.functions, "function") + (report.orphan_functions ? "; " + countOf(report.orphan_functions) + " of them have no owner" : ""));
    const versions = Object.entries(report.versions).filter(([, version]) => version);
    if (versions.length) add("versions", versions.map(([part, version]) => part + " " + version).join(" · "));
    const off = Object.entries(report.off);
    return [h("h2", null, "The watch itself"), h("div", { class: "panel" }, h("dl", { class: "pair" }, rows),
      off.length ? h("details", { "data-name": "off" }, h("summary", null, "Not watched here: " + countOf(off.length)), h("ul", { class: "plain small" }, off.map(([part, why]) => h("li", null, h("b", null, part), ": ", said(why))))) : null)];
  };

  // -- the whole page

  const bar = () => {
    const program = shown.program, states = { live: ["on", "live"], lost: ["lost", "connection lost"], frozen: ["", ""] };
    const [tone, word] = states[link.state];
    const when = link.state === "frozen" ? "as of " + clock(shown.seconds, true) + ", " + day(shown.seconds) : word + " · as of " + clock(shown.seconds, true);
    draw(document.getElementById("bar"), [program, when, tone], () => [h("span", { class: "brand" }, "tfmemwatch"),
      h("span", { class: "who" }, shown.is_of_block ? [said(shown.title), program ? " · " : ""] : null, program ? [brief(program.name || "python"), " · process " + program.pid + " on ", brief(program.host), program.note ? ", " + clipped(program.note) : ""] : null), h("span", { class: "pulse " + tone }, when)]);
  };
  const foot = () => draw(document.getElementById("foot"), [LIVE, shown.versions], () => [
    LIVE ? [h("a", { href: "report.txt" }, "Report as text"), h("a", { href: "report.json" }, "as JSON")] : null, "tfmemwatch " + (shown.versions.tfmemwatch || "")]);
  const show = () => {
    const report = shown;
    bar();
    draw(document.getElementById("headline"), [report.findings, report.outlook, report.rise, report.verdict, report.level, report.level_why, report.memory, report.limits, report.made.length, report.findings.length ? 0 : watchedFor(report), report.headline], () => headline(report));
    showMemory(false);
    showFindings(report);
    const tables = document.getElementById("tables");
    for (const [id, [fields, make]] of Object.entries(SECTIONS)) {
      let section = document.getElementById("of-" + id);
      if (!section) section = tables.appendChild(h("section", { id: "of-" + id }));
      draw(section, fields.map((field) => field === "history" ? [report.history.length, report.history[report.history.length - 1]] : report[field]), () => make(report) || []);
      section.hidden = !section.childElementCount;
      const title = section.querySelector("h2");
      if (title) { title.id = "title-" + id; section.setAttribute("aria-labelledby", title.id); }
    }
    foot();
  };

  // -- news of the process: it answers again and again, until it does not

  const link = { state: LIVE ? "live" : "frozen", fails: 0, mark: "", lost: 0, heard: Date.now() / 1000, workers: new Map(), turns: 0, timer: 0 };
  const identity = (report) => report.program ? report.program.host + " " + report.program.pid + " " + report.program.began : "";
  const news = (tone, ...words) => draw(document.getElementById("news"), [tone, words.map((one) => one.textContent || one)], () => words.length ? [h("div", { class: "news " + tone }, words)] : []);
  const workersNews = () => {
    const others = [...link.workers.values()].map((one) => one.report).filter((one) => identity(one) !== identity(shown));
    if (!others.length) return false;
    const choose = (report) => () => { shown = report; link.mark = ""; workersNews(); show(); };
    news("calm", "Several workers answer here. This is process " + shown.program.pid + ". See:", ...others.slice(0, 8).map((one) => h("button", { "data-name": "worker-" + one.program.pid, onclick: choose(one) }, "process " + one.program.pid + (one.findings.length ? ", " + many(one.findings.length, "finding") : ""))));
    return true;
  };
  const restarted = (report) => {
    const before = shown.program, now = report.program;
    Object.assign(chart, { from: null, to: null, last: null, cursor: null });
    news("calm", before.pid === now.pid ? "The process is watched anew since " + clock(now.began || report.seconds, true) + "." : "The process was started again at " + clock(now.began || report.seconds, true) + ": it was " + before.pid + ", and is " + now.pid + " now.");
    link.workers.clear();
    shown = report;
  };
  const merged = (old, report, since) => {
    if (since === null) return report;
    return { ...report, history: old.history.filter((point) => point.at <= since).concat(report.history) };
  };
  const heard = (report, asked) => {
    const isSame = identity(report) === asked.identity;
    if (!isSame && asked.since !== null) return false; // another one answers, with a part of its history: ask for all
    const now = Date.now() / 1000, isShown = identity(report) === identity(shown);
    if (!isShown && (report.program.began || report.seconds) > (shown.program.began || 0) && (shown.program.pid === report.program.pid || report.program.began > shown.seconds - 1)) restarted(report);
    else if (isShown) shown = merged(shown, report, asked.since);
    else if (now - link.workers.get(identity(shown)).at > SILENT_SECONDS) { link.workers.delete(identity(shown)); shown = report; }
    if (link.workers.size < MOST_WORKERS || link.workers.has(identity(report))) link.workers.set(identity(report), { report: isShown ? shown : report, at: now });
    for (const [key, one] of link.workers) if (now - one.at > SILENT_SECONDS && key !== identity(shown)) link.workers.delete(key);
    if (link.state === "lost") { link.state = "live"; if (!workersNews()) news("calm", "Connected again."); }
    else if (link.workers.size > 1) workersNews();
    show();
    return true;
  };
  const ask = async (isWhole) => {
    const last = shown.history.length ? shown.history[shown.history.length - 1].at : null;
    const since = isWhole || shown.history.length > MOST_POINTS ? null : last, asked = { since, identity: identity(shown) };
    const patience = new AbortController(), end = setTimeout(() => patience.abort(), ASK_SECONDS * 1000);
    try {
      const answer = await fetch("report.json" + (since === null ? "" : "?since=" + encodeURIComponent(since)), { signal: patience.signal, cache: "no-store", credentials: "same-origin", headers: link.mark && since !== null ? { "If-None-Match": link.mark } : {} });
      if (answer.status !== 304 && !answer.ok) throw new Error(answer.status);
      if (answer.status === 304) {
        if (link.state === "lost") { link.state = "live"; news("calm", "Connected again."); bar(); }
      } else {
        const report = await answer.json();
        if (!heard(report, asked)) return isWhole ? null : await ask(true);
        link.mark = answer.headers.get("ETag") || "";
      }
      link.fails = 0;
    } catch (error) {
      lost();
    } finally {
      clearTimeout(end);
    }
    return null;
  };
  const lost = () => {
    link.fails += 1;
    if (link.fails < 2) return;
    if (link.state !== "lost") link.lost = Date.now() / 1000;
    link.state = "lost";
    news("bad", "The connection is lost since " + clock(link.lost, true) + ": the process has ended, or can't be reached. What is shown is as of " + clock(shown.seconds, true) + ". It is tried again.");
    bar();
  };
  const wait = () => {
    const seconds = document.hidden ? HIDDEN_SECONDS : link.fails ? Math.min(MOST_WAIT_SECONDS, 2 ** link.fails) : POLL_SECONDS;
    clearTimeout(link.timer);
    link.timer = setTimeout(turn, seconds * 1000);
  };
  const turn = async () => {
    await ask(false);
    document.documentElement.dataset.turn = String(link.turns += 1); // for who waits for it
    wait();
  };

  show();
  addEventListener("resize", () => drawChart());
  if (LIVE) {
    link.workers.set(identity(shown), { report: shown, at: link.heard });
    document.addEventListener("visibilitychange", () => { if (!document.hidden) { clearTimeout(link.timer); turn(); } });
    wait();
  }
})();
