"""A finding is heard where the program has set up no logging, and once where it has."""

import inspect
import logging
import os
import subprocess
import sys
from pathlib import Path

import own_process
import pytest
from parts import installed
from servers import eventually, free_port, read, running

import tfmemwatch

PROGRAM = """
import logging, sys, tfmemwatch
%s
class Kept: pass
watch = tfmemwatch.install(sample_seconds=3600)
kept = Kept()
tfmemwatch.expect_dead(kept, "what should be gone")
tfmemwatch.safety.guard.logger.info("what is only said")
for _ in range(3):
    watch.look()
"""


@pytest.mark.parametrize(
    "setup",
    [
        "",
        "logging.basicConfig()",
        "logging.getLogger('tfmemwatch').addHandler(logging.StreamHandler())",
        "logging.basicConfig(level=logging.DEBUG, handlers=[logging.StreamHandler()])",
    ],
    ids=["none", "root", "ours", "all"],
)
def test_a_finding_reaches_stderr_once(setup):
    """The two lines of the README are enough; a program with handlers hears it from them alone."""
    done = own_process.run(PROGRAM % setup)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("what should be gone") == 1
    assert ("what is only said" in done.stderr) == ("DEBUG" in setup)


def test_a_program_that_wants_none_has_none():
    """`log=False`, or a handler that drops it."""
    for setup in ("logging.getLogger('tfmemwatch').addHandler(logging.NullHandler())", "logging.disable()"):
        assert own_process.run(PROGRAM % setup).stderr == ""


TURNS_OFF = "import logging.config; logging.config.dictConfig({'version': 1%s})"
ROOT = ", 'handlers': {'all': {'class': 'logging.StreamHandler'}}, 'root': {'handlers': ['all'], 'level': 'WARNING'}"
UVICORN = "import uvicorn; uvicorn.Config(app=None)"


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    "setup",
    [
        TURNS_OFF % "",
        TURNS_OFF % ROOT,
        "logging.getLogger().setLevel(logging.ERROR)",
        "logging.getLogger('tfmemwatch').propagate = False",
        "import io; sys.stderr = io.TextIOWrapper(sys.stderr.buffer, write_through=True)",
        UVICORN,
    ],
    ids=["configured", "configured with a handler", "root level", "on its own", "notebook", "uvicorn"],
)
def test_a_finding_is_heard_where_pythons_last_resort_is_silent(setup, when):
    """`logging.config` turns off loggers that it does not name; a level without a handler; uvicorn as it comes."""
    if setup is UVICORN:
        installed("uvicorn")
    program = inspect.cleandoc(PROGRAM) % (setup if when == "before" else "")
    if when == "after":
        program = program.replace("kept = Kept()", "kept = Kept()\n" + setup)
    done = own_process.run(program)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("what should be gone") == 1


def test_what_goes_to_stderr_says_whose_it_is():
    """Level and logger stand before it, as in the README."""
    (line,) = [line for line in own_process.run(PROGRAM % "").stderr.splitlines() if "what should be gone" in line]
    assert line.startswith("WARNING tfmemwatch: ")


@pytest.mark.parametrize(
    "setup",
    [
        "logging.basicConfig(level=logging.ERROR)",
        "logging.getLogger('tfmemwatch').setLevel(logging.CRITICAL)",
        "logging.getLogger('tfmemwatch').addFilter(lambda record: False)",
        "logging.lastResort = None",
    ],
    ids=["handlers that want errors", "its own level", "its own filter", "no last resort"],
)
def test_what_the_program_says_of_its_log_is_kept_to(setup):
    """Its handlers, levels and filters decide."""
    assert own_process.run(PROGRAM % setup).stderr == ""


@pytest.mark.parametrize(
    "setup, times",
    [
        ("", 1),
        ("logging.basicConfig()", 1),
        ("logging.basicConfig(level=logging.INFO)", 1),
        ("logging.getLogger('tfmemwatch').setLevel(logging.WARNING)", 0),
    ],
    ids=["none", "handlers that want warnings", "handlers that want all", "its own level"],
)
def test_verbose_shows_what_no_handler_takes(setup, times):
    """`TFMEMWATCH_VERBOSE=1`: each line once, whoever writes it."""
    done = own_process.run(PROGRAM % setup, TFMEMWATCH_VERBOSE="1")
    assert done.stderr.count("what is only said") == times
    assert done.stderr.count("what should be gone") == 1
    assert "what is only said" not in own_process.run(PROGRAM % "").stderr


def said_by_us(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "tfmemwatch"]


def test_one_line_says_what_is_watched(fake_tf, caplog):
    """Version, TensorFlow and how many probes, once for each installation."""
    caplog.set_level(logging.INFO, "tfmemwatch")
    watch = tfmemwatch.install(sample_seconds=3600, without=["tapes"])
    tfmemwatch.install(sample_seconds=3600, without=["tapes"])
    watch.look()
    (line,) = said_by_us(caplog)
    up = "tfmemwatch %s: watching TensorFlow 2.99-fake, %d probes" % (tfmemwatch.__version__, len(watch.probes))
    assert line.startswith(up) and "tapes" not in line


def test_what_is_watched_is_said_when_tensorflow_is_imported(fake_packages):
    """Until then, that it is waited for."""
    program = """
    import sys, tfmemwatch
    sys.path.insert(0, sys.argv[1])
    tfmemwatch.install(sample_seconds=3600)
    import tensorflow, keras
    """
    done = own_process.run(program, str(fake_packages), TFMEMWATCH_VERBOSE="1")
    waits, watching = done.stderr.splitlines()
    assert "waits for TensorFlow" in waits
    assert "watching TensorFlow 2.99-fake" in watching


@pytest.mark.parametrize(
    "name, value, sentence",
    [
        ("SAMPLE_SECOND", "1", "TFMEMWATCH_SAMPLE_SECOND is no setting and does nothing; did you mean "
                               "TFMEMWATCH_SAMPLE_SECONDS?"),
        ("ON_FINDING", "print", "TFMEMWATCH_ON_FINDING is set and does nothing: on_finding is a function"),
        ("CERTIFICATE", "one.pem", "certificate is set and does nothing: port is not set"),
        ("DOOR", "/nowhere", "door is '/nowhere', and there is no such folder"),
    ],
)  # fmt: skip
def test_what_is_set_and_does_nothing_is_said_at_install(monkeypatch, caplog, name, value, sentence):
    """One sentence, once: what was set, and why it does nothing."""
    monkeypatch.setenv("TFMEMWATCH_" + name, value)
    tfmemwatch.install(sample_seconds=3600)
    tfmemwatch.install(sample_seconds=3600)
    assert [line for line in said_by_us(caplog) if sentence in line] == said_by_us(caplog) != []
    assert len(said_by_us(caplog)) == 1


APP = """
import os, sys
import tfmemwatch
tfmemwatch.install(port=%d, sample_seconds=3600)
def app(environ, start):
    tfmemwatch.safety.guard.logger.warning("said in a worker as it comes")
    start("200 OK", [("Content-Type", "text/plain")])
    return [b"%%d %%s" %% (os.getpid(), str(tfmemwatch.port()).encode())]
async def asgi(scope, receive, send):
    assert scope["type"] == "http"
    answer = app({}, lambda *_: None)[0]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": answer})
"""
SERVERS = {
    "gunicorn": ["-m", "gunicorn", "-w", "3", "-b", "127.0.0.1:{port}", "app:app"],
    "uvicorn": ["-m", "uvicorn", "--workers", "3", "--lifespan", "off", "--port", "{port}", "app:asgi"],
}


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
def test_workers_with_a_port_and_without_a_shared_folder_serve(tmp_path, server):
    """One has the port, each of the others says what is missing, and all of them answer; on stderr, as it comes."""
    installed(server)
    port, metrics = free_port(), free_port()
    Path(tmp_path / "app.py").write_text(APP % metrics)
    environ = {name: value for name, value in os.environ.items() if name != "PROMETHEUS_MULTIPROC_DIR"}
    environ["PYTHONPATH"] = os.pathsep.join((own_process.TREE, str(tmp_path)))
    command = [sys.executable, *(word.format(port=port) for word in SERVERS[server])]
    with running(command, cwd=str(tmp_path), env=environ) as one:
        one.hears("port %d is served by another worker" % metrics, times=2)
        one.hears("set PROMETHEUS_MULTIPROC_DIR", times=2)
        eventually(lambda: "tfmemwatch_probe_up" in read(metrics))
        eventually(lambda: str(metrics) in read(port, "/") or None)
        eventually(lambda: "None" in read(port, "/") or None)
        one.hears("said in a worker as it comes", times=2)
        answers = one.said.count("said in a worker as it comes")
        assert one.said.count("WARNING tfmemwatch: said in a worker") == answers


def test_two_programs_of_one_shell_are_no_workers_of_one_server(tmp_path):
    """The port of the second is in use: an error, as ever."""
    (tmp_path / "one.py").write_text(
        "import signal, sys, tfmemwatch\n"
        "tfmemwatch.install(port=%d)\n"
        "print('serves', flush=True)\n"
        "sys.argv[1:] and signal.pause()\n" % free_port()
    )
    shell = subprocess.Popen(
        ["sh", "-c", '"$0" one.py stay & read line; "$0" one.py 2>&1; kill $!', sys.executable],
        cwd=str(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=dict(os.environ, PYTHONPATH=str(own_process.TREE)),
    )  # fmt: skip
    assert shell.stdout.readline() == b"serves\n"
    said, _ = shell.communicate(b"next\n", timeout=60)
    assert b"ConfigError: port" in said, said
