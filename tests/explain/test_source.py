"""The line that fills a collection is found by the collection's name."""

import textwrap

import pytest

from tfmemwatch.explain import bounds, source

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
    ((site, *_),) = source.putting_into(name, [program])
    assert (site.file, site.line, site.function) == (program, line_with(text), function)


PUTS = {
    "by a kept method": "add = self.rows.append; add(x)",
    "by a local name": "out = self.rows; out.append(x)",
    "by its name as a string": "getattr(self, 'rows').append(x)",
    "onto a heap": "heapq.heappush(self.rows, x)",
    "in order": "bisect.insort(self.rows, x)",
    "by making it anew": "self.rows = self.rows + [x]",
    "with all that was in it": "self.rows = [*self.rows, x]",
    "merged": "self.rows = {**self.rows, k: x}",
    "deep inside": "self.rows[k]['t'].append(x)",
    "in what is looked up": "self.rows.get(k).append(x)",
    "beside another": "self.rows[k], y = x, 1",
    "with a type": "self.rows[k]: int = x",
    "as an attribute": "setattr(self.rows, k, x)",
    "into a namespace": "vars(self.rows)[k] = x",
}


@pytest.mark.parametrize("how", PUTS)
def test_however_something_is_put_in_the_line_is_found(tmp_path, how):
    """The spellings that programs use besides a plain append."""
    program = tmp_path / "puts.py"
    program.write_text("class Rows:\n    def read(self):\n        return self.rows[-1]\n\n    def add(self, k, x):\n"
                       "        %s\n" % PUTS[how])  # fmt: skip
    assert {line.site.line for line in source.putting_into("rows", [str(program)])} == {6}


def test_the_line_that_makes_a_value_anew_is_found(tmp_path):
    """Not the one that made it first."""
    program = tmp_path / "bank.py"
    program.write_text("class Bank:\n    def __init__(self):\n        self.rows = []\n\n    def add(self, x):\n"
                       "        self.rows = concatenate(self.rows, x)\n")  # fmt: skip
    assert [site.line for site in source.renewing("rows", [str(program)])] == [6]


def test_what_is_put_into_the_collection_itself_comes_first(tmp_path):
    """`groups["a"].append` fills a list in `groups`, `groups[key] = …` fills `groups`."""
    program = tmp_path / "groups.py"
    program.write_text("def add(groups, key, x):\n    groups['a'].append(x)\n    groups[key] = x\n")
    assert [line.site.line for line in source.putting_into("groups", [str(program)])] == [3, 2]


BOUNDED = {
    "taken out": "def add(self, x):\n        self.rows.append(x)\n        self.rows.pop(0)",
    "taken out by a kept method": "def take(self):\n        pop = self.rows.pop\n        return pop()",
    "taken out by another name": "def take(self):\n        rows = self.rows\n        rows.popleft()",
    "taken off a heap": "def take(self):\n        return heapq.heappop(self.rows)",
    "replaced on a heap": "def add(self, x):\n        heapq.heappushpop(self.rows, x)",
    "subtracted from": "def drop(self, x):\n        self.rows -= x",
    "measured": "def add(self, x):\n        if len(self.rows) < 100: self.rows.append(x)",
    "measured before": "def add(self, x):\n        n = len(self.rows)\n        if n < 100: self.rows.append(x)",
    "begun anew": "def flush(self):\n        self.rows = []",
    "swapped": "def flush(self):\n        out, self.rows = self.rows, []\n        return out",
    "begun anew by name": "def flush(self):\n        setattr(self, 'rows', [])",
    "begun anew at a key": "def flush(self):\n        self.state['rows'] = []",
    "cut": "def add(self, x):\n        self.rows[:] = self.rows[-100:]",
    "cut and added to": "def add(self, x):\n        self.rows = self.rows[-99:] + [x]",
    "deleted from": "def add(self, x):\n        del self.rows[0]",
    "keyed round": "def add(self, x):\n        self.rows[self.step % 100] = x",
}


@pytest.mark.parametrize("how", BOUNDED)
def test_what_may_keep_a_collection_small_is_seen(tmp_path, how):
    """So that one looks for longer, before it is called a leak."""
    program = tmp_path / "bounded.py"
    program.write_text("class Rows:\n    def __init__(self):\n        self.rows = []\n\n    " + BOUNDED[how] + "\n")
    assert bounds.may_bound(["rows"], str(program), ["Rows"])
    assert not bounds.may_bound(["other"], str(program), ["Rows"])


UNBOUNDED = {
    "made anew with more in it": "self.rows = self.rows + [x]",
    "counted": "print(len(self.rows))",
    "numbered": "self.rows[x] = len(self.rows)",
    "formatted": "self.rows['%d' % x] = x",
}


@pytest.mark.parametrize("how", UNBOUNDED)
def test_what_keeps_nothing_small_is_no_bound(tmp_path, how):
    """Then nothing needs to be waited for."""
    program = tmp_path / "unbounded.py"
    program.write_text("class Rows:\n    def add(self, x):\n        %s\n" % UNBOUNDED[how])
    assert not bounds.may_bound(["rows"], str(program), ["Rows"])


def test_a_list_that_is_only_filled_may_not_be_bounded(program):
    """Then nothing needs to be waited for."""
    assert not bounds.may_bound(["history"], program, ["Cache"])
    assert not bounds.may_bound(["rows"], program, ["Cache"])
    assert bounds.may_bound(["results"], program)


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


def test_what_is_put_into_something_inside_is_told_apart(tmp_path):
    """`maps[head].append(x)` makes longer what stands in `maps`, `maps.setdefault(head, [])` makes `maps` longer."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent("""\
        def note(self, head, value):
            self.maps.setdefault(head, [])
            self.maps[head].append(value)
            self.maps.get(head).append(value)
            rows = self.maps[head]
            rows.append(value)
        """), encoding="utf-8")  # fmt: skip
    found = {line.site.line: line.is_inside for line in source.putting_into("maps", [str(program)])}
    assert found == {2: False, 3: True, 4: True, 6: True}


def test_what_has_an_attribute_from_its_constructor_is_made_where_its_class_is_called(tmp_path):
    """Also where a dataclass declares it; what the program begins with is no such line."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent("""\
        class Node:
            def __init__(self, value, parent):
                self.value, self.parent = value, parent

        class Row:
            before: object = None

        class Beam:
            def __init__(self):
                self.nodes = [Node(0, None)]

            def grow(self, value):
                self.nodes = [Node(value, node) for node in self.nodes]

        def add(row):
            return Row(row)
        """), encoding="utf-8")  # fmt: skip
    assert [site.line for site in source.making("parent", [str(program)])] == [13]
    assert [site.line for site in source.making("before", [str(program)])] == [16]
    assert source.making("nothing", [str(program)]) == []
