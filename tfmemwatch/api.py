"""What the program calls. The one watch of the process lives here."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Callable, Dict, List, NoReturn, Optional, Sequence, Union, overload

from . import __version__
from .config import ENVIRONMENT, UNSET, Listener, given, load
from .errors import ConfigError, Unavailable
from .holders.expected_dead import Expectation
from .ledger import site
from .memory import account, object_weights, remedy
from .memory.account import Account
from .memory.process import Process
from .memory.remedy import Trial
from .model import Finding, Site
from .monitor.answers import nothing_watched
from .monitor.block import Block
from .monitor.decorated import NAMELESS, Function
from .monitor.installation import SECONDS, put_back_forsaken
from .monitor.installation import install as _install
from .monitor.installation import installations as _installations
from .monitor.installation import recycle as _recycle
from .monitor.recycling import wish
from .monitor.snapshot import Snapshot
from .monitor.watch import Watch, begun
from .probes import BY_NAME
from .reports import Report
from .safety import forks, guard
from .seams import runtime

_NOT_WATCHED_SECONDS = 5  # between two readings of a process that nobody watches
_PROTECTS = ("token", "certificate", "private_key")  # without these nothing is served that was to be protected


def install(
    *,
    sample_seconds: float = UNSET,
    level: str = UNSET,
    probes: Sequence[str] = UNSET,
    without: Sequence[str] = UNSET,
    evidence: Union[bool, str] = UNSET,
    collect: bool = UNSET,
    max_traces: int = UNSET,
    over_budget: str = UNSET,
    evict: Sequence[str] = UNSET,
    values: bool = UNSET,
    max_overhead: float = UNSET,
    log: bool = UNSET,
    verbose: bool = UNSET,
    max_sites: int = UNSET,
    door: str = UNSET,
    on_finding: Optional[Listener] = UNSET,
    metrics: bool = UNSET,
    registry: Any = UNSET,
    max_labels: int = UNSET,
    project: str = UNSET,
    port: Optional[int] = UNSET,
    address: str = UNSET,
    token: str = UNSET,
    certificate: str = UNSET,
    private_key: str = UNSET,
    record: str = UNSET,
    textfile: str = UNSET,
    pushgateway: str = UNSET,
    job: str = UNSET,
    meter_provider: Any = UNSET,
    **unknown: NoReturn,
) -> Watch:
    """Watch this process from now on; a second call changes nothing and returns the running watch.

    Each setting beats its variable `TFMEMWATCH_…` in the environment, and that beats the default in `Config`.
    """
    return _install(load(given(locals()), names=tuple(BY_NAME)), site.here(sys._getframe(1)), __version__)


def install_as_far_as_possible(at: Site) -> Optional[Watch]:
    """Watch this process, with settings from the environment. What can't be used is left out, with a warning."""
    environ = dict(os.environ)
    for _ in ENVIRONMENT:
        try:
            return _install(load({}, environ, tuple(BY_NAME)), at, __version__)
        except ConfigError as error:
            without = _without(environ, str(error).split(" ", 1)[0])
            guard.logger.warning(
                "%s. %s", error, "The program is watched without " + without if without else "Nothing is installed"
            )
            if not without:
                return None
        except Exception:
            guard.failed("install")
            return None
    return None


def _without(environ: Dict[str, str], setting: str) -> str:
    """Take a setting out, as its error names it: `port`, or `TFMEMWATCH_PORT`; with it, what must not be without it."""
    name = setting[len("TFMEMWATCH_") :].lower() if setting.startswith("TFMEMWATCH_") else setting
    if name == "PROMETHEUS_MULTIPROC_DIR":
        environ["TFMEMWATCH_METRICS"] = "false"
        return "metrics"
    names = [name, "port"] if name in _PROTECTS else [name]
    found = [name for name in names if environ.pop("TFMEMWATCH_" + name.upper(), None) is not None]
    return " and ".join(found)


def recycle(
    at: float = 0.9, *, on_full: Optional[Callable[[str], Any]] = None, supervised: bool = False,
    startup_seconds: float = 60.0,
) -> None:  # fmt: skip
    """Replace this worker before a memory limit kills it: when so much is used, it finishes its requests and ends.

    Workers of gunicorn and of `uvicorn --workers` are known, and end one at a time. With `supervised=True` any other
    process gets SIGTERM, because something starts it again; with `on_full` that function is called instead, once, with
    the reason. Only what the process has gained after its first `startup_seconds` counts.
    """
    if not _recycle(wish(at, on_full, supervised, startup_seconds)):
        _needed()
        raise Unavailable("an install() or uninstall() has been running for %g s; call again" % SECONDS)


def current() -> Optional[Watch]:
    """The running watch, if there is one."""
    return next((one.watch for one in list(_installations) if one.is_complete), None)


def port() -> Optional[int]:
    """The port on which the metrics are served; None where they are not served."""
    return next((one.export.port for one in list(_installations) if one.export is not None and one.is_complete), None)


@overload
def watch(name: Function) -> Function: ...


@overload
def watch(
    name: str = NAMELESS,
    owners: bool = False,
    warmup: int = 0,
    *,
    sample_seconds: float = UNSET,
    level: str = UNSET,
    probes: Sequence[str] = UNSET,
    without: Sequence[str] = UNSET,
    evidence: Union[bool, str] = UNSET,
    collect: bool = UNSET,
    max_traces: int = UNSET,
    over_budget: str = UNSET,
    evict: Sequence[str] = UNSET,
    values: bool = UNSET,
    max_overhead: float = UNSET,
    log: bool = UNSET,
    verbose: bool = UNSET,
    max_sites: int = UNSET,
    door: str = UNSET,
    on_finding: Optional[Listener] = UNSET,
    metrics: bool = UNSET,
    registry: Any = UNSET,
    max_labels: int = UNSET,
    project: str = UNSET,
    port: Optional[int] = UNSET,
    address: str = UNSET,
    token: str = UNSET,
    certificate: str = UNSET,
    private_key: str = UNSET,
    record: str = UNSET,
    textfile: str = UNSET,
    pushgateway: str = UNSET,
    job: str = UNSET,
    meter_provider: Any = UNSET,
    **unknown: NoReturn,
) -> Block: ...


def watch(
    name: Union[str, Callable[..., Any]] = NAMELESS,
    owners: bool = False,
    warmup: int = 0,
    *,
    sample_seconds: float = UNSET,
    level: str = UNSET,
    probes: Sequence[str] = UNSET,
    without: Sequence[str] = UNSET,
    evidence: Union[bool, str] = UNSET,
    collect: bool = UNSET,
    max_traces: int = UNSET,
    over_budget: str = UNSET,
    evict: Sequence[str] = UNSET,
    values: bool = UNSET,
    max_overhead: float = UNSET,
    log: bool = UNSET,
    verbose: bool = UNSET,
    max_sites: int = UNSET,
    door: str = UNSET,
    on_finding: Optional[Listener] = UNSET,
    metrics: bool = UNSET,
    registry: Any = UNSET,
    max_labels: int = UNSET,
    project: str = UNSET,
    port: Optional[int] = UNSET,
    address: str = UNSET,
    token: str = UNSET,
    certificate: str = UNSET,
    private_key: str = UNSET,
    record: str = UNSET,
    textfile: str = UNSET,
    pushgateway: str = UNSET,
    job: str = UNSET,
    meter_provider: Any = UNSET,
    **unknown: NoReturn,
) -> Any:
    """Watch a block: a context manager or a decorator, with or without `install()`.

    With `owners` the report shows all owners of memory, which takes some tenths of a second at either end. The first
    `warmup` steps are not counted: a clean function's first call makes its trace and its variables.
    """
    config = load(given(locals(), "name", "owners", "warmup"), names=tuple(BY_NAME))
    if type(warmup) is not int or warmup < 0:
        raise ConfigError("warmup is %r; it must be a whole number of steps, at least 0" % (warmup,))

    def of_the_process() -> Watch:
        if any(one.is_forsaken for one in list(begun)):  # a block that was interrupted has left its watch
            forks.changing(put_back_forsaken, SECONDS)
        running = current()
        return Watch(config) if running is None else running

    if not isinstance(name, str):  # @tfmemwatch.watch
        return Block(NAMELESS, of_the_process, owners, warmup)(name)
    return Block(name, of_the_process, owners, warmup)


def private_watch(**settings: Any) -> Watch:
    """A watch beside that of the process, which tells nothing and looks only when it is asked; `stop()` ends it."""
    one = Watch(load({"log": False, **settings}, {}, names=tuple(BY_NAME)))
    one.start(sampling=False)
    return one


def findings() -> List[Finding]:
    """What leaks now, the surest first; an empty list where nothing is installed."""
    running = current()
    return running.findings() if running is not None else []


def snapshot(owners: bool = False) -> Snapshot:
    """All counts at this moment; `owners` adds resident memory by owner, which takes some tenths of a second."""
    return _needed().snapshot(owners)


def owners() -> Account:
    """Resident memory by owner, now; takes some tenths of a second, with or without `install()`."""
    running = current()
    if running is not None:
        return running.answers.account()
    process = Process()
    try:
        return account.take(process, object_weights.read, runtime.device_memory)
    finally:
        process.close()


def remedies(*names: str, function: Any = None) -> Trial:
    """Try what may give memory back, and say how much came back: `gc.collect()`, the remedies named, a trim of malloc.

    `clear_session`, `kernels`, `scalars` and `traces` (of `function`, a tf.function or its name) run only when they are
    named: each drops something that the program then has to make again.
    """
    running = current()
    return remedy.trial(names, function, running.process if running is not None else None)


def expect_dead(thing: Any, what: str = "") -> Expectation:
    """Say that a thing should be gone by now: the log says when it is, or a finding says who holds it.

    Only a weak reference to the thing is kept.
    """
    return _needed().expectations.add(thing, what or type(thing).__name__, site.here(sys._getframe(1)))


@overload
def report(format: None = None) -> Report: ...


@overload
def report(format: str) -> str: ...


def report(format: Optional[str] = None) -> Union[Report, str]:
    """Everything that is known, as a plain value; `str()` of it is a text for a person, `as_dict()` is for JSON.

    With a `format` it is that text: `html` (a page for any browser), `text`, `json`, or `markdown` (for an issue).
    """
    found = _needed().report()
    if format is None:
        return found
    from .outputs import formats

    return formats.written(found, format)


def asgi_app() -> Any:
    """The page for the program's own server, behind its own login: `app.mount("/memory", tfmemwatch.asgi_app())`."""
    from .outputs import mounted

    return mounted.asgi(_page())


def wsgi_app() -> Any:
    """The same for Flask, Django and others: `DispatcherMiddleware(app, {"/memory": tfmemwatch.wsgi_app()})`."""
    from .outputs import mounted

    return mounted.wsgi(_page())


def _page() -> Any:
    """Of whatever watches the process when somebody looks; that may come and go."""
    from .outputs.live_page import LivePage

    def shown() -> Report:
        running = current()
        return running.answers.light_report() if running is not None else nothing_watched()

    def looked() -> Any:
        running = current()
        return running.answers.looked() if running is not None else int(time.monotonic() / _NOT_WATCHED_SECONDS)

    def news() -> Any:
        running = current()
        return running.answers.news() if running is not None else None

    return LivePage(shown, looked, news)


def set_level(level: str) -> None:
    """Look more or less closely from now on: off, counts, sites or stacks."""
    _needed().set_level(level)


def _needed() -> Watch:
    running = current()
    if running is None:
        raise RuntimeError("nothing is watched: call tfmemwatch.install() first, or use tfmemwatch.watch()")
    return running
