"""The line that fills a collection is found by the collection's name."""

import textwrap

import pytest

from tfmemwatch import source

PROGRAM = textwrap.dedent("""\
    import collections

    results = []
    state = {"x": [], "seen": {}}
    queue = collections.deque()


    def plain(value):
        results.append(value)


    def by_key(value):
        state["x"].append(value)
        state["seen"][value] = value


    class Cache:
        def __init__(self):
            self.rows = {}
            self.history = []

        def put(self, key, value):
            self.rows[key] = value or len(self.rows)
            self.history += [value]
            self.groups.setdefault(key, []).append(value)

        async def push(self, value):
            self.waiting.put_nowait(value)


    def read(value):
        total = sum(results) + len(results)
        other = results[0]
        results.remove(other)
        return total
    """)


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return str(path)


def line_with(text):
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


@pytest.mark.parametrize(
    "name, text, function",
    [
        ("results", "results.append", "plain"),
        ("x", 'state["x"].append', "by_key"),
        ("seen", 'state["seen"][value] = value', "by_key"),
        ("rows", "self.rows[key] = value or", "put"),
        ("history", "self.history += [value]", "put"),
        ("groups", "self.groups.setdefault", "put"),
        ("waiting", "self.waiting.put_nowait", "push"),
    ],
)
def test_the_line_that_puts_something_in_is_found(program, name, text, function):
    """However the program spells it; reading, removing and making the collection is something else."""
    ((site, _),) = source.putting_into(name, [program])
    assert (site.file, site.line, site.function) == (program, line_with(text), function)


BOUNDED = {
    "taken out": "def add(self, x):\n        self.rows.append(x)\n        self.rows.pop(0)",
    "measured": "def add(self, x):\n        if len(self.rows) < 100: self.rows.append(x)",
    "begun anew": "def flush(self):\n        self.rows = []",
    "cut": "def add(self, x):\n        self.rows[:] = self.rows[-100:]",
    "deleted from": "def add(self, x):\n        del self.rows[0]",
}


@pytest.mark.parametrize("how", BOUNDED)
def test_what_may_keep_a_collection_small_is_seen(tmp_path, how):
    """So that one looks for longer, before it is called a leak."""
    program = tmp_path / "bounded.py"
    program.write_text("class Rows:\n    def __init__(self):\n        self.rows = []\n\n    " + BOUNDED[how] + "\n")
    assert source.may_bound(["rows"], str(program), ["Rows"])
    assert not source.may_bound(["other"], str(program), ["Rows"])


def test_a_list_that_is_only_filled_may_not_be_bounded(program):
    """Then nothing needs to be waited for."""
    assert not source.may_bound(["history"], program, ["Cache"])
    assert not source.may_bound(["rows"], program, ["Cache"])
    assert source.may_bound(["results"], program)


def test_who_calls_a_library_is_seen(tmp_path):
    """For what grows inside the library: `logging.getLogger(name)` in a function, not what runs once on import."""
    program = tmp_path / "logs.py"
    program.write_text("import logging\nlogging.basicConfig()\n\ndef handle(n):\n    return logging.getLogger(n)\n")
    assert [site.line for site in source.using("logging", [str(program)])] == [5]


def test_a_name_that_nothing_is_put_into_has_no_line(program):
    """No line is better than a wrong one."""
    assert source.putting_into("queue", [program]) == []
    assert source.putting_into("no_such_name", [program]) == []


def test_a_file_that_is_no_python_is_passed_over(tmp_path, program):
    """A notebook cell with a magic in it, or a file that has gone, ends nothing."""
    broken = tmp_path / "broken.py"
    broken.write_text("%matplotlib inline\nresults.append(1)\n", encoding="utf-8")
    files = [str(broken), str(tmp_path / "gone.py"), program]
    assert [line.site.file for line in source.putting_into("results", files)] == [program]


def test_the_files_of_the_project_are_those_that_are_not_installed():
    """This test is the user's own code; pytest is not."""
    files = source.project_files()
    assert __file__ in files
    assert pytest.__file__ not in files
