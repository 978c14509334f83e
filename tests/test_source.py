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
            self.rows[key] = value
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
        ("rows", "self.rows[key] = value", "put"),
        ("history", "self.history += [value]", "put"),
        ("groups", "self.groups.setdefault", "put"),
        ("waiting", "self.waiting.put_nowait", "push"),
    ],
)
def test_the_line_that_puts_something_in_is_found(program, name, text, function):
    """However the program spells it; reading, removing and making the collection is something else."""
    ((site, _),) = source.putting_into(name, [program])
    assert (site.file, site.line, site.function) == (program, line_with(text), function)


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
