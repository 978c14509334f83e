"""What the project promises about itself."""

import ast
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import matrix

import tfmemwatch
from tfmemwatch import catalog, probes

TREE = Path(__file__).resolve().parent.parent
A_MACHINE = re.compile(r"/(?:home|root|Users)/\w|file:/{2}|index-ur[l]|find-link[s]")


def test_the_public_names_are_those_in_all():
    """What `__all__` names is there, and nothing public is left out of it."""
    modules = {module.name for module in pkgutil.iter_modules(tfmemwatch.__path__)}
    public = {name for name in vars(tfmemwatch) if name[0] != "_"} - modules - {"annotations"}
    assert public <= set(tfmemwatch.__all__)
    assert [name for name in tfmemwatch.__all__ if not hasattr(tfmemwatch, name)] == []


def test_every_probe_has_its_rows():
    """A file in probes/, its probe and the catalogue's rows for it come and go together."""
    files = {module.name for module in pkgutil.iter_modules(probes.__path__)} - {"scene"}
    assert files == {probe.name for probe in probes.PROBES}
    assert files == {row.probe for row in catalog.ROWS}


def test_the_readme_has_the_catalogue():
    """The tables of what is counted and exported are the catalogue's own: its `table()` and `metrics_table()`."""
    readme = (TREE / "README.md").read_text(encoding="utf-8")
    assert catalog.table() in readme
    assert catalog.metrics_table() in readme


def test_imports_point_down_the_pipeline(needs):
    """The import contracts in setup.cfg hold."""
    needs("importlinter")
    linter = str(Path(sys.executable).with_name("lint-imports"))
    linted = subprocess.run([linter], cwd=str(TREE), stdout=subprocess.PIPE)
    assert linted.returncode == 0, linted.stdout.decode()


def test_sources_are_valid_on_python_37():
    """TensorFlow 1.15 has nothing newer; where there is no Python 3.7, this one's idea of it must do."""
    sources = sorted(map(str, (TREE / "tfmemwatch").rglob("*.py")))
    python37 = matrix.interpreter("3.7")
    if python37 is None:
        for source in sources:
            ast.parse(Path(source).read_text(encoding="utf-8"), source, feature_version=(3, 7))
        return
    compiling = "import sys; [compile(open(path, 'rb').read(), path, 'exec') for path in sys.argv[1:]]"
    subprocess.run([str(python37), "-c", compiling, *sources], check=True)


def test_nothing_names_a_machine():
    """No file holds somebody's path or package index: the project builds anywhere."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=str(TREE), stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    files = {name: TREE / name for name in names if (TREE / name).exists()}
    texts = {name: file.read_text(encoding="utf-8", errors="replace") for name, file in files.items()}  # pictures, too
    assert [name for name, text in texts.items() if A_MACHINE.search(text)] == []
