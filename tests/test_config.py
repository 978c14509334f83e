"""Settings: what is set where, and what is refused before anything happens."""

import inspect
import typing

import pytest

import tfmemwatch
from tfmemwatch.config import Config, doubts, load
from tfmemwatch.errors import ConfigError, TfmemwatchError
from tfmemwatch.probes import BY_NAME

PROBES = tuple(BY_NAME)


def test_without_settings_everything_has_its_default():
    """`install()` alone is enough."""
    assert load({}, {}) == Config()


def test_the_environment_beats_the_default():
    """`TFMEMWATCH_…` sets what `install()` can."""
    environ = {
        "TFMEMWATCH_SAMPLE_SECONDS": "0.5",
        "TFMEMWATCH_LEVEL": "Stacks",
        "TFMEMWATCH_PROBES": "traces, sessions",
        "TFMEMWATCH_WITHOUT": "",
        "TFMEMWATCH_EVIDENCE": "no",
        "TFMEMWATCH_LOG": "0",
        "TFMEMWATCH_MAX_SITES": "50",
    }
    config = load({}, environ, PROBES)
    assert (config.sample_seconds, config.level, config.probes) == (0.5, "stacks", ("traces", "sessions"))
    assert (config.without, config.evidence, config.log, config.max_sites) == ((), False, False, 50)


def test_an_argument_beats_the_environment():
    """What the program says goes."""
    assert load({"level": "counts"}, {"TFMEMWATCH_LEVEL": "stacks"}).level == "counts"


@pytest.mark.parametrize(
    "name, value, allowed",
    [
        ("sample_seconds", -1, "above 0"),
        ("sample_seconds", 0, "above 0"),
        ("sample_seconds", "soon", "a number"),
        ("sample_seconds", True, "a number"),
        ("sample_seconds", float("nan"), "above 0"),
        ("level", "loud", "off, counts, sites, stacks"),
        ("level", None, "off, counts, sites, stacks"),
        ("probes", "traces", "list of probe names"),
        ("probes", [1], "list of probe names"),
        ("evidence", "yes", "true or false"),
        ("max_sites", 0, "whole number above 0"),
        ("max_sites", 1.5, "whole number above 0"),
        ("on_finding", "print", "a function"),
    ],
)
def test_a_bad_argument_names_the_setting_its_value_and_what_is_allowed(name, value, allowed):
    """One reads the message and knows what to change."""
    with pytest.raises(ConfigError) as raised:
        load({name: value}, {}, PROBES)
    message = str(raised.value)
    assert (name in message, repr(value) in message, allowed in message) == (True, True, True)


@pytest.mark.parametrize(
    "name, value, allowed",
    [
        ("SAMPLE_SECONDS", "-1", "above 0"),
        ("SAMPLE_SECONDS", "soon", "a number"),
        ("SAMPLE_SECONDS", "", "a number"),
        ("LEVEL", "loud", "off, counts, sites, stacks"),
        ("EVIDENCE", "perhaps", "true or false"),
        ("MAX_SITES", "many", "whole number above 0"),
        ("PROBES", "traces,trances", ", ".join(PROBES)),
    ],
)  # fmt: skip
def test_a_bad_environment_names_the_variable_its_value_and_what_is_allowed(name, value, allowed):
    """The message speaks of the variable, as the one who set it knows no argument."""
    with pytest.raises(ConfigError) as raised:
        load({}, {"TFMEMWATCH_" + name: value}, PROBES)
    message = str(raised.value)
    assert "TFMEMWATCH_" + name in message
    assert value.split(",")[-1] in message
    assert allowed in message


@pytest.mark.parametrize("setting", ["probes", "without"])
def test_an_unknown_probe_is_refused_with_the_names_there_are(setting):
    """A misspelt probe does not silently watch nothing."""
    with pytest.raises(ConfigError) as raised:
        load({setting: ["trances"]}, {}, PROBES)
    message = str(raised.value)
    assert (setting in message, "'trances'" in message, "traces" in message) == (True, True, True)


def test_an_unknown_setting_is_refused_with_the_names_there_are():
    """A misspelt setting does not silently do nothing."""
    with pytest.raises(ConfigError) as raised:
        load({"interval": 5}, {})
    assert "'interval'" in str(raised.value)
    assert "sample_seconds" in str(raised.value)


def test_a_config_error_is_a_value_error_of_ours():
    """It can be caught as either."""
    assert issubclass(ConfigError, ValueError)
    assert issubclass(ConfigError, TfmemwatchError)


@pytest.mark.parametrize(
    "settings", [{"sample_seconds": -1}, {"level": "loud"}, {"probes": ["trances"]}, {"no_such": 1}]
)
def test_install_refuses_before_anything_is_wrapped(fake_tf, settings):
    """A wrong setting leaves the program as it was."""
    before = vars(fake_tf.session.BaseSession)["run"]
    with pytest.raises(ConfigError):
        tfmemwatch.install(**settings)
    assert tfmemwatch.current() is None
    assert vars(fake_tf.session.BaseSession)["run"] is before


def test_a_bad_environment_is_refused_before_anything_is_wrapped(fake_tf, monkeypatch):
    """The same holds for a variable."""
    monkeypatch.setenv("TFMEMWATCH_LEVEL", "loud")
    before = vars(fake_tf.session.BaseSession)["run"]
    with pytest.raises(ConfigError, match="TFMEMWATCH_LEVEL"):
        tfmemwatch.install()
    assert tfmemwatch.current() is None
    assert vars(fake_tf.session.BaseSession)["run"] is before


def test_a_level_that_does_not_exist_can_not_be_switched_to(fake_tf):
    """While it runs, too; and it goes on as it was."""
    watch = tfmemwatch.install(sample_seconds=3600)
    with pytest.raises(ConfigError, match="'loud'"):
        tfmemwatch.set_level("loud")
    assert watch.level == "sites"


@pytest.mark.parametrize("seconds", [1e10, 1e308])
def test_an_interval_that_no_clock_can_wait_for_is_refused(seconds):
    """A number that Event.wait() can't take ends as an error at once, not as a traceback of our thread."""
    with pytest.raises(ConfigError, match="sample_seconds"):
        load({"sample_seconds": seconds}, {})


@pytest.mark.parametrize(
    "function, others", [(tfmemwatch.install, []), (tfmemwatch.watch, ["name", "owners", "warmup"])]
)
def test_editors_complete_every_setting(function, others):
    """`install()` and `watch()` have the fields of `Config` as parameters, in their order and with their types."""
    parameters = dict(inspect.signature(function).parameters)
    assert parameters.pop("unknown").kind is inspect.Parameter.VAR_KEYWORD
    assert [name for name in parameters if name not in others] == list(Config._fields)
    types, fields = typing.get_type_hints(function), typing.get_type_hints(Config)
    for name in Config._fields:
        names = fields[name] is typing.Tuple[str, ...]
        assert types[name] == (typing.Sequence[str] if names else fields[name]), name


def test_a_misspelt_setting_is_refused_by_a_block_too(fake_tf):
    """As `install()` does; a positional one is Python's own TypeError."""
    with pytest.raises(ConfigError, match="'intervall' is not a setting"):
        tfmemwatch.watch(intervall=5)
    with pytest.raises(ConfigError, match="'unknown' is not a setting"):
        tfmemwatch.install(unknown=5)
    with pytest.raises(TypeError):
        tfmemwatch.install(5)


@pytest.mark.parametrize(
    "environ, said",
    [
        ({}, []),
        ({"TFMEMWATCH_LEVEL": "counts", "PATH": "", "TFMEMWATCH_VERBOSE": "1"}, []),
        ({"TFMEMWATCH_LEVL": "counts"}, ["did you mean TFMEMWATCH_LEVEL?"]),
        ({"tfmemwatch_level": "counts"}, ["did you mean TFMEMWATCH_LEVEL?"]),
        ({"TFMEMWATCH_XYZZY": ""}, ["doctor"]),
        ({"TFMEMWATCH_REGISTRY": "mine"}, ["TFMEMWATCH_REGISTRY"]),
        ({"TFMEMWATCH_SERVICE_HOST": "10.0.0.7", "TFMEMWATCH_PORT_9464_TCP": "tcp://10.0.0.7:9464"}, []),
        ({"TFMEMWATCH_TOKEN": "s3cret"}, ["token is set and does nothing"]),
        ({"TFMEMWATCH_TOKEN": "s3cret", "TFMEMWATCH_PORT": "9464"}, []),
        ({"TFMEMWATCH_JOB": "nightly", "TFMEMWATCH_EVICT": "step"}, ["job is set", "evict is set"]),
    ],
)
def test_what_is_set_and_does_nothing_is_a_doubt(environ, said):
    """Each in a sentence with the nearest name; what Kubernetes sets for a service of our name is none."""
    found = list(doubts(load({}, environ), environ))
    assert [part in sentence for part, sentence in zip(said, found)] == [True] * len(found) == [True] * len(said)
    assert "s3cret" not in "".join(found)
