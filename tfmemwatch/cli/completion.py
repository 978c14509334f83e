"""`tfmemwatch completion`: what completes commands, options, settings and their values in a shell."""

from __future__ import annotations

import argparse
import sys
from typing import Dict, List

from . import main
from .command import Command
from .exit_codes import WELL

SHELLS = ("bash", "zsh", "fish")
_BASH = """\
_tfmemwatch() {
    local word=${COMP_WORDS[COMP_CWORD]} words
    if [ "$COMP_CWORD" -eq 1 ]; then words="%(commands)s"; else
        case ${COMP_WORDS[1]} in
%(cases)s
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _tfmemwatch tfmemwatch
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="which one")


def run(chosen: argparse.Namespace) -> int:
    """Print the script."""
    script = {"bash": bash, "zsh": zsh, "fish": fish}[chosen.shell]
    sys.stdout.write(script(words()))
    return WELL


def words() -> Dict[str, List[str]]:
    """What may follow each command: its options, and what its arguments may be."""
    found = {}
    for name in main.COMMANDS:
        actions = main.parser_of(main.command(name))._actions
        options = [option for action in actions for option in action.option_strings if option != "-h"]
        choices = [str(choice) for action in actions for choice in action.choices or ()]
        found[name] = [*options, *choices]
    return found


def bash(found: Dict[str, List[str]]) -> str:
    """For `eval "$(tfmemwatch completion bash)"`."""
    cases = "\n".join('            %s) words="%s" ;;' % (name, " ".join(rest)) for name, rest in found.items())
    return _BASH % {"commands": " ".join(found), "cases": cases}


def zsh(found: Dict[str, List[str]]) -> str:
    """The same; zsh understands it."""
    return "autoload -U +X bashcompinit && bashcompinit\n" + bash(found)


def fish(found: Dict[str, List[str]]) -> str:
    """For `tfmemwatch completion fish | source`."""
    none = "complete -c tfmemwatch -n __fish_use_subcommand -f -a %s -d '%s'"
    lines = [none % (name, main.COMMANDS[name].replace("'", "\\'")) for name in found]
    for name, rest in found.items():
        seen = "complete -c tfmemwatch -n '__fish_seen_subcommand_from %s'" % name
        lines += ["%s -l %s" % (seen, word[2:]) for word in rest if word.startswith("--")]
        lines += ["%s -a %s" % (seen, word) for word in rest if not word.startswith("-")]
    return "\n".join(lines) + "\n"


_EXAMPLE = """\
eval "$(tfmemwatch completion bash)"       # in ~/.bashrc; likewise for zsh
tfmemwatch completion fish | source"""
COMMAND = Command("completion", main.COMMANDS["completion"], _add_arguments, run, example=_EXAMPLE)
