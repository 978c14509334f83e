"""The commands: help, words that were meant, exit codes, and no traceback whatever one does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfmemwatch.cli import exit_codes, main, printing
from tfmemwatch.cli.completion import words

TREE = str(Path(__file__).resolve().parent.parent)
COMMAND = [sys.executable, "-m", "tfmemwatch"]


def said(capsys, *arguments):
    try:
        code = main.main(list(arguments))
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    return code, out, err


def test_help_begins_with_an_example(capsys):
    """That of each command, too, and says what the exit codes mean."""
    code, out, _ = said(capsys, "--help")
    assert code == 0 and out.startswith("example:\n  tfmemwatch run ")
    assert all("%3d  %s" % row in out for row in exit_codes.MEANINGS.items())
    for name in main.COMMANDS:
        code, out, _ = said(capsys, name, "--help")
        assert code == 0 and name in out
        assert not main.command(name).example or out.startswith("example:\n  "), name
    assert said(capsys, "help", "run")[1] == said(capsys, "run", "--help")[1]


@pytest.mark.parametrize(
    "arguments, meant",
    [
        (("rnu",), "did you mean run?"),
        (("reprot", "x"), "did you mean report?"),
        (("doctor", "--jsno"), "did you mean --json?"),
        (("completion", "bsh"), "did you mean bash?"),
        (("run", "--levl", "off", "x.py"), "did you mean --level?"),
        (("report", "x", "--fail-on", "leek"), "did you mean leak?"),
    ],
)
def test_a_wrong_word_is_answered_with_the_one_that_was_meant(capsys, arguments, meant):
    """On stderr, with the exit code for usage."""
    code, out, err = said(capsys, *arguments)
    assert (code, out) == (2, "")
    assert meant in err


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        ((), 2, "example:"),
        (("report", "absent.tfmw"), 3, "absent.tfmw can't be read: No such file"),
        (("report", "."), 3, "is a folder, and no recording"),
        (("report", __file__), 3, "is no recording"),
        (("report", "--pid", "1"), 3, "process 1 does not answer: it has no control socket"),
        (("report", "999999999"), 3, "there is no such process"),
        (("compare", "a.tfmw", "b.tfmw"), 3, "a.tfmw can't be read"),
        (("remedies", "kernel", "--pid", "1"), 2, "did you mean kernels?"),
        (("owners", "--door", "/no/such/folder"), 2, "can't be looked into"),
        (("live", "localhost:1"), 3, "does not answer"),
        (("live", "absent.tfmw"), 3, "can't be read"),
        (("dashboard", "--output", "/no/such/file"), 4, "/no/such/file can't be written"),
    ],
)  # fmt: skip
def test_what_is_not_possible_is_a_sentence_and_a_number(capsys, arguments, code, words):
    """And never a traceback."""
    got, _, err = said(capsys, *arguments)
    assert got == code
    assert words in err and "Traceback" not in err


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
def test_an_output_that_takes_nothing_is_a_sentence_and_a_number():
    """A full disk, and a reader that has gone."""
    environ = dict(os.environ, PYTHONPATH=TREE)
    for arguments in (["rules"], ["--help"], ["run", "--help"], ["completion", "bash"]):
        with open("/dev/full", "w") as full:
            ended = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, env=environ)
        assert (ended.returncode, ended.stderr) == (
            4, b"tfmemwatch: the output can't be written: No space left on device\n",
        )  # fmt: skip
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run([*COMMAND, "dashboard"], stdout=writer, stderr=subprocess.PIPE, env=environ)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.slow
def test_help_loads_neither_tensorflow_nor_what_is_heavy():
    """It is there at once."""
    code = (
        "import sys\nfrom tfmemwatch.cli.main import main\nmain(['--help'])\n"
        "print([name for name in sys.modules if name in ('tensorflow', 'numpy', 'wrapt', 'psutil', 'asyncio')])"
    )
    ended = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, env=dict(os.environ, PYTHONPATH=TREE))
    assert ended.stdout.decode().splitlines()[-1] == "[]"


def test_colours_are_for_terminals_alone(monkeypatch):
    """And for who has not asked for none."""

    class Terminal:
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert printing.has_colours(Terminal())
    assert not printing.has_colours(sys.__stdout__) or sys.__stdout__.isatty()
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patched:
            patched.setenv(name, value)
            assert not printing.has_colours(Terminal())


def test_what_would_steer_a_terminal_is_spelled_out(capsys):
    """Names come from other processes, and from files."""
    printing.give("a \x1b[2J b \u202e c\n")
    assert capsys.readouterr().out == "a \\x1b[2J b \\u202e c\n"


def test_every_option_of_every_command_is_completed(capsys):
    """Settings of `run`, too."""
    found = words()
    assert set(found) == set(main.COMMANDS)
    assert {"--sample-seconds", "--record", "--fail-on", "leak"} <= set(found["run"])
    for shell in ("bash", "zsh", "fish"):
        code, out, _ = said(capsys, "completion", shell)
        assert code == 0 and "sample-seconds" in out


@pytest.mark.slow
def test_bash_completes_with_what_is_printed(capsys):
    """As a person would press the key."""
    script = said(capsys, "completion", "bash")[1] + (
        'for words in "tfmemwatch comp" "tfmemwatch run --sampl"; do COMP_WORDS=($words); '
        "COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _tfmemwatch; echo ${COMPREPLY[@]}; done"
    )
    ended = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, check=True)
    assert ended.stdout.decode().split() == ["compare", "completion", "--sample-seconds"]


@pytest.mark.slow
def test_the_demo_without_tensorflow_says_what_to_install(tmp_path):
    """In a sentence."""
    code = (
        "import sys\nfrom importlib import util\nutil.find_spec = lambda name: None\n"
        "from tfmemwatch.cli.main import main\nsys.exit(main(['demo']))"
    )
    ended = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, env=dict(os.environ, PYTHONPATH=TREE))
    assert (ended.returncode, b"pip install tensorflow-cpu" in ended.stderr) == (1, True)


def test_the_doctor_speaks_json_too(capsys, fake_tf):
    """What is watched, what is not and why, the settings."""
    code, out, _ = said(capsys, "doctor", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["versions"]["tensorflow"] == "2.99-fake"
    assert told["probes"]["variables"] == "up"
    assert told["settings"]["sample_seconds"] == 5.0


def test_the_page_of_commands_has_them_all():
    """With the table of exit codes."""
    page = (Path(TREE) / "docs" / "pages" / "commands.md").read_text(encoding="utf-8")
    assert [name for name in main.COMMANDS if name not in page] == []
    assert "".join("| %d | %s |\n" % row for row in exit_codes.MEANINGS.items()) in page
