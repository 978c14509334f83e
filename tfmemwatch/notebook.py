"""Notebooks: `%load_ext tfmemwatch`, then `%%memwatch` on a cell says what it made, kept and traced.

IPython loads this module; it is never imported otherwise, and imports nothing of IPython's until a cell is watched.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from typing import Any, Dict, List, Optional

from . import html
from .api import watch
from .errors import ConfigError
from .model import UNKNOWN
from .monitor.block import Block
from .outputs import notebook

_OWNERS = "--owners"


class CellMagic:
    """`%%memwatch [name] [--owners]`: runs the cell as it is, and shows a report below its output."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def memwatch(self, line: str, cell: str) -> Any:
        """Watch this cell: what it makes, keeps and traces. `--owners` adds whose memory it is, in a moment more."""
        __tracebackhide__ = True
        words = line.split()
        unknown = [word for word in words if word.startswith("-") and word != _OWNERS]
        if unknown:
            raise ConfigError("%%%%memwatch has no %s; it has a name for the cell, and %s" % (unknown[0], _OWNERS))
        name = " ".join(word for word in words if word != _OWNERS) or "this cell"
        block = watch(name, owners=_OWNERS in words, log=False)
        try:
            with block:
                return self._run(cell)
        finally:
            self._show(block)

    def _run(self, cell: str) -> Any:
        """As IPython would: the same names, the last expression as the result, and its own errors."""
        __tracebackhide__ = True
        shell = self._shell
        code = shell.transform_cell(cell)
        file = shell.compile.cache(code, shell.execution_count, cell)
        tree = shell.transform_ast(shell.compile.ast_parse(code, filename=file))
        last: Optional[ast.Expression] = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        exec(compile(tree, file, "exec"), shell.user_global_ns, shell.user_ns)
        if last is None:
            return None
        value = eval(compile(last, file, "eval"), shell.user_global_ns, shell.user_ns)
        return None if cell.rstrip().endswith(";") else value

    def _show(self, block: Block) -> None:
        from IPython.display import HTML, display  # type: ignore[import-not-found]

        kept = [str(one).replace(UNKNOWN.short + ": ", "", 1) for one in block.kept or ()]
        shown = notebook.of_report(block.report(), kept, without_tensorflow())
        for file, number in self._cells().items():
            shown = shown.replace(os.path.basename(file) + ":", "In [%d]:" % number)
        display(HTML(shown))

    def _cells(self) -> Dict[str, int]:
        """Which file name stands for which cell."""
        found: Dict[str, int] = getattr(self._shell.compile, "_filename_map", {})
        return {html.text(file): number for file, number in found.items()}


def without_tensorflow() -> List[str]:
    """What can't be counted here, in a sentence."""
    if "tensorflow" in sys.modules:
        return []
    if importlib.util.find_spec("tensorflow") is None:
        return ["TensorFlow is not installed in the Python of this kernel: only memory and collections are counted."]
    return ["TensorFlow is not imported yet: only memory and collections are counted."]


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext tfmemwatch`."""
    shell.register_magic_function(CellMagic(shell).memwatch, "cell", "memwatch")


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext tfmemwatch`."""
    shell.magics_manager.magics["cell"].pop("memwatch", None)
