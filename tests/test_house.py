"""What the project promises about itself."""

import ast
import configparser
import pkgutil
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import matrix
import pytest

import tfmemwatch
from tfmemwatch import catalog, config, probes
from tfmemwatch.cli import main
from tfmemwatch.evidence import hypotheses
from tfmemwatch.evidence.evidence import Questions
from tfmemwatch.explain import advice
from tfmemwatch.judge import stories
from tfmemwatch.outputs import series
from tfmemwatch.seams import places

TREE = Path(__file__).resolve().parent.parent
PAGES = TREE / "docs" / "pages"
HOUSE = TREE / "tfmemwatch"
MOST_LINES, MOST_METHODS = 350, 22
TABLES = ()  # modules that may be longer, since they are tables
ASKS_FOR_A_PLACE = ("places.find", "places.has", "self.wrap", "self.after", "self.after_method")
OF_ALL_COMMANDS = (
    *("main", "command", "parser", "exit_codes", "printing", "to_file", "formats", "doors", "other_process"),
    *("running", "under_run", "sources", "terminal", "demo_server"),
)
A_MACHINE = re.compile(r"/(?:home|root|Users)/\w|file:/{2}|index-ur[l]|find-link[s]")


def test_the_public_names_are_those_in_all():
    """What `__all__` names is there, and nothing public is left out of it."""
    modules = {module.name for module in pkgutil.iter_modules(tfmemwatch.__path__)}
    public = {name for name in vars(tfmemwatch) if name[0] != "_"} - modules - {"annotations"}
    assert public <= set(tfmemwatch.__all__)
    assert [name for name in tfmemwatch.__all__ if not hasattr(tfmemwatch, name)] == []


def modules():
    """All modules of the package, by their paths in it."""
    return {str(path.relative_to(HOUSE)): path.read_text(encoding="utf-8") for path in sorted(HOUSE.rglob("*.py"))}


def rooms():
    """The folders of the package."""
    return {path.parent.name for path in HOUSE.glob("*/__init__.py")}


def storeys():
    """The rows of the import contract, from above: the names in each."""
    setup = configparser.ConfigParser()
    setup.read(str(TREE / "setup.cfg"), encoding="utf-8")
    layers = setup["importlinter:contract:rooms"]["layers"]
    rows = [line for line in layers.splitlines() if line.strip() and not line.strip().startswith("#")]
    return [re.findall(r"\w+", row) for row in rows]


def may_import(storey):
    """How the map and the rooms say what a storey may import."""
    rows = storeys()
    below = rows[storey + 1] if storey + 1 < len(rows) else []
    names = ", ".join(below[:-1]) + " and " + below[-1] if len(below) > 1 else "".join(below)
    return names + (", and what is below" if storey + 2 < len(rows) else "") if names else "nothing"


def test_the_contract_has_every_room_and_module():
    """About ten rows, in which each folder and each module beside them stands once."""
    named = [name for row in storeys() for name in row]
    there = {path.stem for path in HOUSE.glob("*.py")} - {"__init__"} | rooms()
    assert sorted(there - set(named)) == []
    assert len(named) == len(set(named))
    assert len(storeys()) <= 12


def test_the_map_has_every_room_in_the_order_of_the_contract():
    """The table of ARCHITECTURE.md: a row for each folder, with what it may import."""
    text = (TREE / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)/` \| .+ \| (.+) \|$", text, re.M)
    assert [(name, what.replace("`", "")) for name, what in rows] == [
        (name, may_import(number)) for number, row in enumerate(storeys()) for name in row if name in rooms()
    ]


def test_every_room_says_what_it_does_and_may_import():
    """Whoever opens a folder reads it in its first lines."""
    for number, row in enumerate(storeys()):
        for room in set(row) & rooms():
            text = ast.get_docstring(ast.parse((HOUSE / room / "__init__.py").read_text(encoding="utf-8"))) or ""
            assert "May import %s." % may_import(number) in " ".join(text.split()), room


def test_a_long_module_is_a_table():
    """Up to 350 lines; what is longer is named here."""
    long = {name for name, text in modules().items() if text.count("\n") > MOST_LINES}
    assert sorted(long) == sorted(TABLES)


def test_a_class_has_some_twenty_methods():
    """At the most 22."""
    large = [
        "%s:%s" % (name, one.name)
        for name, text in modules().items()
        for one in ast.walk(ast.parse(text))
        if isinstance(one, ast.ClassDef) and sum(isinstance(part, ast.FunctionDef) for part in one.body) > MOST_METHODS
    ]
    assert large == []


def test_no_cycle_hides_behind_type_checking():
    """Only the package itself, which loads nothing, imports for the type checker alone."""
    hidden = [name for name, text in modules().items() if "TYPE_CHECKING" in text and name != "__init__.py"]
    assert hidden == []


def files_in(folder, *others):
    """The modules of a folder, but for those that are something else."""
    return {path.stem for path in (HOUSE / folder).glob("*.py")} - {"__init__", *others}


def test_every_probe_has_its_rows():
    """A probe is a file in probes/, a line in `PROBES`, and its rows in the catalogue."""
    files = files_in("probes", "scene", "questions", "model_calls", "trace_callers")
    assert files == {probe.name for probe in probes.PROBES}
    assert files == {row.probe for row in catalog.ROWS}


@pytest.mark.slow
def test_every_place_that_is_asked_for_is_known_and_every_place_is_asked_for():
    """A place in TensorFlow is an entry in `places.PLACES`, and whoever asks for it names the entry."""
    others = [ast.parse(text) for name, text in modules().items() if name != "seams/places.py"]
    nodes = [node for tree in others for node in ast.walk(tree)]
    said = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert sorted(set(places.PLACES) - said) == []
    calls = [
        node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args
    ]
    asked = [ast.unparse(call.args[0]) for call in calls if ast.unparse(call.func) in ASKS_FOR_A_PLACE]
    assert sorted({what[1:-1] for what in asked if what[0] in "'"} - set(places.PLACES)) == []


def test_every_probe_that_means_memory_has_a_story_and_advice():
    """A kind of which more means more memory is told by some story, and a story has its words."""
    assert {kind for story in stories.STORIES for kind in story.grows} >= stories.TAKES_MEMORY
    assert {story.advice for story in stories.STORIES} <= set(advice.TABLE)


def test_every_hypothesis_has_its_row():
    """A hypothesis is a file in evidence/hypotheses/, a row in `HYPOTHESES`, and its cases in tests/evidence/."""
    files = files_in("evidence/hypotheses")
    assert files == {one.name for one in hypotheses.HYPOTHESES + hypotheses.WITHOUT_INQUIRY}
    cases = "".join(path.read_text(encoding="utf-8") for path in (TREE / "tests" / "evidence").glob("test_*.py"))
    assert [name for name in files if name not in cases] == []


def test_every_question_has_its_answer():
    """What costs something to know is a field of `Questions`, which evidence/ or the watch answers."""
    texts = [text for name, text in modules().items() if name.startswith(("evidence/", "monitor/"))]
    calls = [node for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    assert sorted(set(Questions._fields) - {word.arg for call in calls for word in call.keywords}) == []


def test_every_setting_is_checked_and_told():
    """A setting is a field of `Config`, a row in `config.KINDS`, and named in the page of settings."""
    page = (PAGES / "settings.md").read_text(encoding="utf-8")
    assert set(config.Config._fields) == set(config.KINDS)
    assert [name for name in config.KINDS if "`%s`" % name not in page] == []


def test_every_metric_has_its_reader():
    """A metric is a row in `METRICS`, and where it is no count of the ledger a reader in `READERS`."""
    assert {metric.name for metric in catalog.METRICS if not metric.kinds} == set(series.READERS)


def test_every_output_has_its_line():
    """An output is a file in outputs/, and a line in what the folder says of itself."""
    text = ast.get_docstring(ast.parse((HOUSE / "outputs" / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert files_in("outputs") == set(re.findall(r"^- `(\w+)`: ", text, re.M))


def test_every_command_has_its_row():
    """A command is a file in cli/, and a row in `COMMANDS`."""
    assert files_in("cli", *OF_ALL_COMMANDS) == set(main.COMMANDS)
    assert {name: main.command(name).help for name in main.COMMANDS} == main.COMMANDS


def test_the_page_of_metrics_has_the_catalogue():
    """The tables of what is counted and exported are the catalogue's own: `make tables` writes them."""
    page = (PAGES / "metrics.md").read_text(encoding="utf-8")
    assert catalog.table() in page
    assert catalog.metrics_table() in page


def test_every_kind_of_finding_has_its_section():
    """Whoever gets a finding can look its kind up: what it is, a program that has it, and the cure."""
    page = (PAGES / "findings.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^## (\w+)$", page, re.M)) == sorted({row.kind for row in advice.TABLE.values()})


def test_the_readme_is_short():
    """What it does not say is in docs/."""
    assert len((TREE / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


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
    files = {name: TREE / name for name in files_of_the_tree()}
    texts = {name: file.read_text(encoding="utf-8", errors="replace") for name, file in files.items()}  # pictures, too
    assert [name for name, text in texts.items() if A_MACHINE.search(text)] == []


def files_of_the_tree():
    """All that belongs to the project: git says so, or the archive in which it came."""
    if not (TREE / ".git").exists():
        (sources,) = TREE.glob("*.egg-info/SOURCES.txt")
        return [name for name in sources.read_text().splitlines() if not name.startswith(".git")]
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=str(TREE), stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    return [name for name in names if (TREE / name).exists()]


@pytest.mark.slow
def test_the_source_distribution_has_all_that_its_tests_need(tmp_path, needs):
    """Every file of the project is in the archive: who unpacks it can run what we run."""
    needs("setuptools")
    tree, archives = tmp_path / "tree", tmp_path / "archives"
    for name in files_of_the_tree():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(str(TREE / name), str(tree / name))
    command = [sys.executable, "-c", "import setuptools; setuptools.setup()", "-q", "sdist", "-d", str(archives)]
    subprocess.run(command, cwd=str(tree), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (archive,) = archives.iterdir()
    with tarfile.open(str(archive)) as packed:
        held = {name.partition("/")[2] for name in packed.getnames()}
    assert sorted(set(files_of_the_tree()) - held - {".gitignore"}) == []


def test_links_of_the_readme_hold_outside_the_repository():
    """It is the project's page on PyPI, too; and what it links to in the repository is there."""
    readme = (TREE / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", readme)
    assert links and [link for link in links if not link.startswith(("https://", "#"))] == []
    places = [link.split("/main/")[1] for link in links if "/tfmemwatch/tfmemwatch/" in link]
    assert [place for place in places if not (TREE / place).exists()] == []
