"""Settings: an argument beats the environment, the environment beats the default."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple, Union

from .errors import ConfigError

MOST_SECONDS = 365 * 24 * 3600
LEVELS = ("off", "counts", "sites", "stacks")
Listener = Callable[[Any], None]


class Secret(str):
    """A text that shows itself to nobody."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'…'" if self else "''"

    def __str__(self) -> str:
        return "…" if self else ""

    def __format__(self, how: str) -> str:
        return format(str(self), how)


class Config(NamedTuple):
    """How the watch behaves; frozen once it runs, but for the level."""

    sample_seconds: float = 5.0  # how often the one thread looks
    level: str = "sites"  # off < counts < sites < stacks: what is remembered of each event
    probes: Tuple[str, ...] = ()  # only these probes; empty means all
    without: Tuple[str, ...] = ()  # all but these probes
    # Whether memory that nothing explains may be looked into, briefly and bounded; "active": also by emptying caches.
    evidence: Union[bool, str] = True
    collect: bool = True  # whether one garbage collection may be forced before a warning
    max_traces: int = 0  # of one tf.function before it is told; 0 is without end
    over_budget: str = "warn"  # what then: warn, or raise LeakFound in the call that traces (for tests)
    evict: Tuple[str, ...] = ()  # tf.functions, by name, of which no more than max_traces are kept
    values: bool = False  # whether values of Python arguments may be told, in at most 80 characters each
    max_overhead: float = 0.01  # share of the time that the watch may take; it looks less closely rather than take more
    log: bool = True  # whether findings are logged as warnings
    max_sites: int = 1000  # lines remembered for each kind of thing; the rest is counted as one
    door: str = ""  # a folder for a socket at which processes of the same user may ask this one; empty: none
    on_finding: Optional[Listener] = None  # called with each new Finding, on the watch's thread
    metrics: bool = True  # whether the program's own prometheus_client registry has the metrics
    registry: Any = None  # another registry than the default one
    max_labels: int = 50  # lines or functions shown by name in each metric; the rest is added up as "other"
    project: str = ""  # folder below which labels show paths; the working directory where it is empty
    port: Optional[int] = None  # serve the metrics on a port of their own; 0 takes a free one
    address: str = "127.0.0.1"  # where that port listens
    token: str = ""  # what a scrape of that port must bear, if anything
    certificate: str = ""  # a PEM file, for TLS on that port
    private_key: str = ""  # a PEM file, where the certificate's does not hold the key
    textfile: str = ""  # a file .prom for node_exporter, written when the program or the watch ends
    pushgateway: str = ""  # where the last values are pushed, as http://host:9091
    job: str = "tfmemwatch"  # the job under which they are pushed
    meter_provider: Any = None  # of OpenTelemetry: gets the metrics as instruments


def _number(text: str) -> float:
    return float(text)


def _truth(text: str) -> bool:
    words = {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
    }
    return words[text.strip().lower()]


def _truth_or_active(text: str) -> Union[bool, str]:
    word = text.strip().lower()
    return word if word == "active" else _truth(text)


def _names(text: str) -> Tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _level(text: str) -> str:
    return text.strip().lower()


class _Kind(NamedTuple):
    """How a setting is read from the environment, and what it may be."""

    parse: Callable[[str], Any]
    good: Callable[[Any], bool]
    allowed: str


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_token(value: str) -> bool:
    return all("!" <= character <= "~" for character in value)


def _is_names(value: Any) -> bool:
    return isinstance(value, (tuple, list, set, frozenset)) and all(isinstance(name, str) for name in value)


def _is_seconds(value: Any) -> bool:
    return _is_number(value) and 0 < value <= MOST_SECONDS


_TRUTH = _Kind(_truth, lambda value: isinstance(value, bool), "true or false")
_NAMES = _Kind(_names, _is_names, "a list of probe names")
_COUNT = _Kind(int, lambda value: _is_whole(value) and value > 0, "a whole number above 0")
_TEXT = _Kind(str, lambda value: isinstance(value, str), "a text")
KINDS: Dict[str, _Kind] = {
    "sample_seconds": _Kind(_number, _is_seconds, "a number above 0 and below a year"),
    "level": _Kind(_level, lambda value: value in LEVELS, "one of " + ", ".join(LEVELS)),
    "probes": _NAMES,
    "without": _NAMES,
    "evidence": _Kind(_truth_or_active, lambda value: isinstance(value, bool) or value == "active",
                      'true or false, or "active"'),
    "collect": _TRUTH,
    "max_traces": _Kind(int, lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
                        "a whole number, 0 for no end"),
    "over_budget": _Kind(_level, lambda value: value in ("warn", "raise"), "warn or raise"),
    "evict": _Kind(_names, _is_names, "a list of names of tf.functions"),
    "values": _TRUTH,
    "max_overhead": _Kind(float, lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)
                          and 0 < value <= 1, "a number above 0, up to 1"),
    "log": _TRUTH,
    "max_sites": _COUNT,
    "door": _Kind(str, lambda value: isinstance(value, str), "the name of a folder"),
    "on_finding": _Kind(str, lambda value: value is None or callable(value), "a function of one finding"),
    "metrics": _TRUTH,
    "registry": _Kind(str, lambda value: value is None or callable(getattr(value, "register", None)),
                      "a registry of prometheus_client"),
    "max_labels": _COUNT,
    "project": _TEXT,
    "port": _Kind(int, lambda value: value is None or (_is_whole(value) and 0 <= value < 65536),
                  "a whole number from 0, for a free one, to 65535"),
    "address": _Kind(str, lambda value: isinstance(value, str) and bool(value), "an address of this machine"),
    "token": _Kind(str, lambda value: isinstance(value, str) and (not value or _is_token(value)),
                   "a text without spaces, of letters, digits and ASCII signs"),
    "certificate": _TEXT,
    "private_key": _TEXT,
    "textfile": _TEXT,
    "pushgateway": _TEXT,
    "job": _Kind(str, lambda value: isinstance(value, str) and bool(value), "a text"),
    "meter_provider": _Kind(str, lambda value: value is None or callable(getattr(value, "get_meter", None)),
                            "a MeterProvider of OpenTelemetry"),
}  # fmt: skip
ENVIRONMENT = tuple(name for name in KINDS if name not in ("on_finding", "registry", "meter_provider"))
_SECRET = frozenset(("token",))


def load(
    settings: Mapping[str, Any], environ: Optional[Mapping[str, str]] = None, names: Tuple[str, ...] = ()
) -> Config:
    """The settings in force, or a ConfigError that names the setting, its value and what is allowed."""
    values = _from_environment(os.environ if environ is None else environ)
    for name, value in settings.items():
        if name not in KINDS:
            raise ConfigError("%r is not a setting; there are %s" % (name, ", ".join(KINDS)))
        values[name] = checked(name, value, name)
    config = Config(**values)
    for setting in ("probes", "without"):
        for name in getattr(config, setting):
            if names and name not in names:
                spoken = setting if setting in settings else "TFMEMWATCH_" + setting.upper()
                raise ConfigError("%s has %r, which is no probe; there are %s" % (spoken, name, ", ".join(names)))
    return config


def checked(name: str, value: Any, spoken: str) -> Any:
    """The value, if the setting may have it."""
    kind = KINDS[name]
    if name in _SECRET and isinstance(value, str):
        value = Secret(value)
    if not kind.good(value):
        raise ConfigError("%s is %r; it must be %s" % (spoken, value, kind.allowed))
    return tuple(value) if kind.good is _is_names else value


def _from_environment(environ: Mapping[str, str]) -> Dict[str, Any]:
    values = {}
    for name in ENVIRONMENT:
        spoken = "TFMEMWATCH_" + name.upper()
        raw = environ.get(spoken)
        if raw is None:
            continue
        try:
            value = KINDS[name].parse(raw)
        except (ValueError, KeyError):
            raise ConfigError("%s is %r; it must be %s" % (spoken, raw, KINDS[name].allowed)) from None
        values[name] = checked(name, value, spoken)
    return values
