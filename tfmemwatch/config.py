"""Settings: an argument beats the environment, the environment beats the default."""

from __future__ import annotations

import os
import re
from typing import Any, Callable, Dict, Iterable, Iterator, Mapping, NamedTuple, Optional, Tuple, Union

from .errors import ConfigError

MOST_SECONDS = 365 * 24 * 3600
LEVELS = ("off", "counts", "sites", "stacks")
Listener = Callable[[Any], None]


class Secret(str):
    """A text that is never shown."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'…'" if self else "''"

    def __str__(self) -> str:
        return "…" if self else ""

    def __format__(self, how: str) -> str:
        return format(str(self), how)


class Address(str):
    """An address that is shown without its credentials."""

    __slots__ = ()

    @property
    def whole(self) -> str:
        """All of it."""
        return str.__str__(self)

    def __repr__(self) -> str:
        return repr(str(self))

    def __str__(self) -> str:
        scheme, slashes, rest = self.whole.rpartition("@")[0].partition("://")
        if not scheme and not rest:
            return self.whole
        return (scheme + slashes if slashes else "") + "…@" + self.whole.rpartition("@")[2]

    def __format__(self, how: str) -> str:
        return format(str(self), how)


class _Unset:
    """In place of a value that is not given: the environment's is taken, or the default."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "…"


UNSET: Any = _Unset()


def given(arguments: Mapping[str, Any], *others: str) -> Dict[str, Any]:
    """The settings among the arguments of a function, without its `others`; with those that are none."""
    settings = {name: value for name, value in arguments.items() if value is not UNSET and name not in others}
    settings.update(settings.pop("unknown"))
    return settings


class Config(NamedTuple):
    """How the watch behaves. Once it runs, only the level can change."""

    sample_seconds: float = 5.0  # the longest pause between two looks; shorter while memory rises fast
    level: str = "sites"  # off < counts < sites < stacks: what is remembered of each event
    probes: Tuple[str, ...] = ()  # only these probes; empty means all
    without: Tuple[str, ...] = ()  # all but these probes
    # Whether memory that nothing explains may be looked into, briefly and bounded; "active": also by emptying caches.
    evidence: Union[bool, str] = True
    collect: bool = True  # whether garbage may be collected before a warning, where that stops nobody for 40 ms
    max_traces: int = 0  # traces of one tf.function before a warning; 0: no limit
    over_budget: str = "warn"  # what happens beyond it: warn, or raise LeakFound in the call that traces (for tests)
    evict: Tuple[str, ...] = ()  # tf.functions, by name, of which no more than max_traces are kept
    values: bool = False  # whether values of Python arguments may be shown, in at most 80 characters each
    max_overhead: float = 0.01  # share of the time for the hooks, which else see less, and for the thread, which waits
    log: bool = True  # whether findings are logged as warnings
    verbose: bool = False  # whether what is logged at INFO goes to stderr, where no handler takes it
    max_sites: int = 1000  # lines remembered for each kind of thing; the rest is counted as one
    door: str = ""  # a folder for the control socket, at which processes of the same user may ask this one; empty: none
    on_finding: Optional[Listener] = None  # called with each new Finding, on the watch's thread
    metrics: bool = True  # whether the program's own prometheus_client registry has the metrics
    registry: Any = None  # another registry than the default one
    max_labels: int = 50  # lines or functions shown by name in each metric; the rest is added up as "other"
    project: str = ""  # folder below which labels show paths; the working directory where it is empty
    port: Optional[int] = None  # serve the metrics on a port of their own; 0 takes a free one
    address: str = "127.0.0.1"  # where that port listens
    token: str = ""  # the bearer token that a scrape of that port must send; empty: none
    certificate: str = ""  # a PEM file, for TLS on that port
    private_key: str = ""  # a PEM file, where the certificate's file does not hold the key
    record: str = ""  # a file to which samples, findings and events are appended, for `tfmemwatch report` and `compare`
    textfile: str = ""  # a .prom file for node_exporter, written when the program or the watch ends
    pushgateway: str = ""  # where the last values are pushed, as http://host:9091
    job: str = "tfmemwatch"  # the job under which they are pushed
    meter_provider: Any = None  # OpenTelemetry's; it gets the metrics as instruments


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
_TEXT = _Kind(str, lambda value: isinstance(value, str), "a string")
KINDS: Dict[str, _Kind] = {
    "sample_seconds": _Kind(_number, _is_seconds, "a number of seconds above 0, at most a year"),
    "level": _Kind(_level, lambda value: value in LEVELS, "one of " + ", ".join(LEVELS)),
    "probes": _NAMES,
    "without": _NAMES,
    "evidence": _Kind(_truth_or_active, lambda value: isinstance(value, bool) or value == "active",
                      'true or false, or "active"'),
    "collect": _TRUTH,
    "max_traces": _Kind(int, lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
                        "a whole number (0: no limit)"),
    "over_budget": _Kind(_level, lambda value: value in ("warn", "raise"), "warn or raise"),
    "evict": _Kind(_names, _is_names, "a list of names of tf.functions"),
    "values": _TRUTH,
    "max_overhead": _Kind(float, lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)
                          and 0 < value <= 1, "a number above 0, up to 1"),
    "log": _TRUTH,
    "verbose": _TRUTH,
    "max_sites": _COUNT,
    "door": _Kind(str, lambda value: isinstance(value, str), "the name of a folder"),
    "on_finding": _Kind(str, lambda value: value is None or callable(value), "a function that takes one finding"),
    "metrics": _TRUTH,
    "registry": _Kind(str, lambda value: value is None or callable(getattr(value, "register", None)),
                      "a prometheus_client registry"),
    "max_labels": _COUNT,
    "project": _TEXT,
    "port": _Kind(int, lambda value: value is None or (_is_whole(value) and 0 <= value < 65536),
                  "a whole number from 0 to 65535 (0: a free port)"),
    "address": _Kind(str, lambda value: isinstance(value, str) and bool(value), "an address of this machine"),
    "token": _Kind(str, lambda value: isinstance(value, str) and (not value or _is_token(value)),
                   "a string of ASCII letters, digits and signs, without spaces"),
    "certificate": _TEXT,
    "private_key": _TEXT,
    "record": _Kind(str, lambda value: isinstance(value, str), "the name of a file"),
    "textfile": _TEXT,
    "pushgateway": _TEXT,
    "job": _Kind(str, lambda value: isinstance(value, str) and bool(value), "a string"),
    "meter_provider": _Kind(str, lambda value: value is None or callable(getattr(value, "get_meter", None)),
                            "an OpenTelemetry MeterProvider"),
}  # fmt: skip
_OBJECTS = {"on_finding": "a function", "registry": "an object", "meter_provider": "an object"}  # no text can be one
ENVIRONMENT = tuple(name for name in KINDS if name not in _OBJECTS)
_PREFIX = "TFMEMWATCH_"
_VARIABLES = tuple(_PREFIX + name.upper() for name in ENVIRONMENT)
# Not meant for us: of the Makefile here, and what Kubernetes sets in each pod for a service of this name.
_OTHERS = re.compile(r"TFMEMWATCH_(CACHE|SERVICE_(HOST|PORT.*)|PORT_\d+_.*)\Z")
# What does nothing where something else is not set: (settings, what they need, what is not done without it).
_NEEDS = (
    (("certificate", "private_key", "token", "address"), "port", "no metrics are served"),
    (("job",), "pushgateway", "nothing is pushed"),
    (("over_budget", "evict"), "max_traces", "no number of traces is too many"),
)
_SHY = {"token": Secret, "pushgateway": Address}


def load(
    settings: Mapping[str, Any], environ: Optional[Mapping[str, str]] = None, names: Tuple[str, ...] = ()
) -> Config:
    """The settings in force; a ConfigError names the setting, its value and what is allowed."""
    values = _from_environment(os.environ if environ is None else environ)
    for name, value in settings.items():
        if name not in KINDS:
            raise ConfigError("%r is not a setting%s" % (name, _one_of(name, KINDS)))
        values[name] = checked(name, value, name)
    config = Config(**values)
    for setting in ("probes", "without"):
        for name in getattr(config, setting):
            if names and name not in names:
                spoken = setting if setting in settings else _PREFIX + setting.upper()
                raise ConfigError("%s has %r, which is not a probe%s" % (spoken, name, _one_of(name, names)))
    return config


def checked(name: str, value: Any, spoken: str) -> Any:
    """The value, if it is allowed for the setting."""
    kind = KINDS[name]
    if name in _SHY and isinstance(value, str):
        value = _SHY[name](value)
    if not kind.good(value):
        meant = near(value, LEVELS) if name == "level" and isinstance(value, str) else None
        raise ConfigError(
            "%s is %r; it must be %s%s" % (spoken, value, kind.allowed, "; did you mean %s?" % meant if meant else "")
        )
    return tuple(value) if kind.good is _is_names else value


def _from_environment(environ: Mapping[str, str]) -> Dict[str, Any]:
    values = {}
    for name in ENVIRONMENT:
        spoken = _PREFIX + name.upper()
        raw = environ.get(spoken)
        if raw is None:
            continue
        try:
            value = KINDS[name].parse(raw)
        except (ValueError, KeyError):
            raise ConfigError("%s is %r; it must be %s" % (spoken, raw, KINDS[name].allowed)) from None
        values[name] = checked(name, value, spoken)
    return values


def doubts(config: Config, environ: Mapping[str, str]) -> Iterator[str]:
    """What is set and does nothing, in one sentence each."""
    for name in sorted(environ):
        setting = name[len(_PREFIX) :].lower()
        if not name.upper().startswith(_PREFIX) or _OTHERS.match(name) or name in _VARIABLES:
            continue
        if setting in _OBJECTS:
            yield "%s is set and does nothing: %s is %s, and is given to install()" % (name, setting, _OBJECTS[setting])
        else:
            yield "%s is no setting and does nothing; %s" % (name, _meant(name))
    usual = Config()
    for names, needed, done in _NEEDS:
        for name in names:
            if getattr(config, needed) == getattr(usual, needed) and getattr(config, name) != getattr(usual, name):
                yield "%s is set and does nothing: %s is not set, so %s" % (name, needed, done)


def _meant(name: str) -> str:
    meant = near(name.upper(), _VARIABLES, 0.8)
    return "did you mean %s?" % meant if meant else "`python -m tfmemwatch doctor` lists the settings"


def near(word: str, there_are: Iterable[str], least: float = 0.6) -> Optional[str]:
    """The one of these that was probably meant, if one is near."""
    import difflib  # loaded for this sentence alone

    return next(iter(difflib.get_close_matches(word[:100], list(there_are), 1, least)), None)


def _one_of(word: str, there_are: Iterable[str]) -> str:
    meant = near(word, there_are)
    return "; %sit must be one of %s" % ("did you mean %s? " % meant if meant else "", ", ".join(there_are))
