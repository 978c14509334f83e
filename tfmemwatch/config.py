"""Settings: an argument beats the environment, the environment beats the default."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple

from .errors import ConfigError

MOST_SECONDS = 365 * 24 * 3600
LEVELS = ("off", "counts", "sites", "stacks")
Listener = Callable[[Any], None]


class Config(NamedTuple):
    """How the watch behaves; frozen once it runs, but for the level."""

    sample_seconds: float = 5.0  # how often the one thread looks
    level: str = "sites"  # off < counts < sites < stacks: what is remembered of each event
    probes: Tuple[str, ...] = ()  # only these probes; empty means all
    without: Tuple[str, ...] = ()  # all but these probes
    evidence: bool = True  # whether memory that nothing explains may be looked into, briefly and bounded
    collect: bool = True  # whether one garbage collection may be forced before a warning
    max_traces: int = 0  # of one tf.function before it is told; 0 is without end
    over_budget: str = "warn"  # what then: warn, or raise LeakFound in the call that traces (for tests)
    evict: Tuple[str, ...] = ()  # tf.functions, by name, of which no more than max_traces are kept
    values: bool = False  # whether values of Python arguments may be told, in at most 80 characters each
    log: bool = True  # whether findings are logged as warnings
    max_sites: int = 1000  # lines remembered for each kind of thing; the rest is counted as one
    on_finding: Optional[Listener] = None  # called with each new Finding, on the watch's thread


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


def _is_names(value: Any) -> bool:
    return isinstance(value, (tuple, list, set, frozenset)) and all(isinstance(name, str) for name in value)


def _is_seconds(value: Any) -> bool:
    return _is_number(value) and 0 < value <= MOST_SECONDS


_TRUTH = _Kind(_truth, lambda value: isinstance(value, bool), "true or false")
_NAMES = _Kind(_names, _is_names, "a list of probe names")
KINDS: Dict[str, _Kind] = {
    "sample_seconds": _Kind(_number, _is_seconds, "a number above 0 and below a year"),
    "level": _Kind(_level, lambda value: value in LEVELS, "one of " + ", ".join(LEVELS)),
    "probes": _NAMES,
    "without": _NAMES,
    "evidence": _TRUTH,
    "collect": _TRUTH,
    "max_traces": _Kind(int, lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
                        "a whole number, 0 for no end"),
    "over_budget": _Kind(_level, lambda value: value in ("warn", "raise"), "warn or raise"),
    "evict": _Kind(_names, _is_names, "a list of names of tf.functions"),
    "values": _TRUTH,
    "log": _TRUTH,
    "max_sites": _Kind(int, lambda value: isinstance(value, int) and not isinstance(value, bool) and value > 0,
                       "a whole number above 0"),
    "on_finding": _Kind(str, lambda value: value is None or callable(value), "a function of one finding"),
}  # fmt: skip
ENVIRONMENT = tuple(name for name in KINDS if name != "on_finding")


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
