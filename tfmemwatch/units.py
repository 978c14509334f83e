"""How numbers are said: sizes, counts, rates, times. Values in, words out."""

from __future__ import annotations

import time


def since_of(since: float, per: str, began: float = 0.0) -> str:
    """When it began, as a person says it: `since step 40`, `since 14:02 (19 Nov)`."""
    if per == "step":
        return "since step %s" % count_of(since)
    if began:
        return time.strftime("since %H:%M (%d %b)", time.localtime(began))
    for unit, seconds in (("hour", 3600), ("minute", 60)):
        if since >= seconds:
            number = since / seconds
            return "since %.3g %s%s after the start" % (number, unit, "" if number == 1 else "s")
    return "since the start"


def size_of(number: float) -> str:
    """A number of bytes as a person says it: `41 MiB`. In the units of limits, of Kubernetes, Grafana and `top`."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(number) >= size:
            return "%s %s" % (("%.3g" if abs(number) < 999.5 * size else "%.0f") % (number / size), unit)
    return "%d B" % number


def pace_of(rate: float, per: str) -> str:
    """A rate as a person says it, after a comma: `, 1 a step`, `, 82 a second`, `, 0.5 an hour`; nothing for 0."""
    if not rate:
        return ""
    if per == "hour" and rate >= 7200:
        rate, per = rate / 3600, "second"
    elif per == "hour" and rate >= 120:
        rate, per = rate / 60, "minute"
    return ", %s %s %s" % (count_of(rate), "an" if per == "hour" else "a", per)


def bytes_pace_of(rate: float, per: str) -> str:
    """A rate of bytes as a person says it: `1.2 KiB a step`, `0.8 MiB an hour`."""
    if per == "hour" and rate >= 3.6e9:
        rate, per = rate / 3600, "second"
    return "%s %s %s" % (size_of(rate), "an" if per == "hour" else "a", per)


def count_of(number: float) -> str:
    """A count as a person says it: `57`, `0.25`, `12,000`."""
    if number >= 1000:
        return format(round(number), ",")
    return "%.3g" % number
