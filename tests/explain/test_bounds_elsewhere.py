"""Code of the same file that keeps a collection from growing, wherever it stands; and code that only looks like it."""

import itertools

import pytest

from tfmemwatch.explain.bounds import may_bound

NUMBERS = itertools.count()
STORE = """
class Store:
    def __init__(self):
        self.rows = {}
        self.writer = Writer()

    def put(self, key, row):
        self.rows[key] = row
"""
BOUNDED = {
    "a function takes out of the attribute": "def shrink(store):\n    store.rows.popitem()",
    "by a local name": "def shrink(store):\n    rows = store.rows\n    rows.popitem()",
    "another class gives it a new value": "class Saver:\n    def save(self):\n        self.store.rows = {}",
    "a function asks for its length": "def is_full(store):\n    return len(store.rows) >= 60",
    "it is given to a function that empties it":
        "class Trainer(Store):\n    def end(self):\n        flush(self.rows)\ndef flush(rows):\n    rows.clear()",
    "it is given to a method that empties it":
        "class Writer:\n    def write(self, most, rows):\n        rows[:] = rows[-most:]\n"
        "class Trainer(Store):\n    def end(self):\n        self.writer.write(9, self.rows)",
}  # fmt: skip
UNBOUNDED = {
    "another class has an attribute of that name": "class Other:\n    def flush(self):\n        self.rows.clear()",
    "a local variable has the name": "def read():\n    rows = []\n    rows.clear()",
    "something else is given to the function":
        "class Trainer(Store):\n    def end(self):\n        flush(self.names)\ndef flush(rows):\n    rows.clear()",
    "the function only reads":
        "class Trainer(Store):\n    def end(self):\n        show(self.rows)\ndef show(rows):\n    print(rows)",
    "a fixture of a test empties it":
        "import pytest\n@pytest.fixture\ndef store():\n    STORE.rows = {}\ndef teardown_module():\n"
        "    STORE.rows.clear()\ndef test_it():\n    STORE.rows.clear()",
    "another attribute is emptied": "def shrink(store):\n    store.names.popitem()",
}  # fmt: skip


def is_bounded(tmp_path, source, owner="Store"):
    file = tmp_path / ("program_%d.py" % next(NUMBERS))  # what was read of a file is remembered
    file.write_text(source, encoding="utf-8")
    return may_bound(["rows"], str(file), [owner])


@pytest.mark.parametrize("case", list(BOUNDED))
def test_what_takes_out_elsewhere_is_seen(tmp_path, case):
    """Whoever does it, the collection may have a bound."""
    assert is_bounded(tmp_path, STORE + BOUNDED[case])


@pytest.mark.parametrize("case", list(UNBOUNDED))
def test_what_takes_out_of_something_else_is_no_bound(tmp_path, case):
    """The name alone says nothing."""
    assert not is_bounded(tmp_path, STORE + UNBOUNDED[case])


@pytest.mark.parametrize(
    "key, rest",
    [
        ("number % 251", ""),
        ("(slot, 1)", "slot = number % 251"),
        ("self.slot(number)", ""),
        ("slot", "slot = self.slot(number)"),
    ],
)
def test_keys_that_come_round_are_seen(tmp_path, key, rest):
    """A remainder, also one that a function of the file reckons, or that a local name stands for."""
    source = (
        "class Store:\n    def slot(self, name):\n        return hash(name) % 251\n    def put(self, number, row):\n"
    )
    assert is_bounded(tmp_path, "%s        %s\n        self.rows[%s] = row" % (source, rest or "pass", key))
    assert is_bounded(tmp_path, "%s        %s\n        self.rows.setdefault(%s, row)" % (source, rest or "pass", key))
    assert not is_bounded(tmp_path, source + "        self.rows[number] = row")
    assert not is_bounded(tmp_path, source + "        self.rows['%d' % number] = row")


@pytest.mark.parametrize(
    "given, bounded",
    [
        ("number % 18, number // 18 % 24", True),
        ("*pair", False),
        ("number % 18, number", False),
        ("number, number % 18", False),
        ("number, number", False),
    ],
)
def test_keys_that_come_round_are_seen_where_the_caller_reckons_them(tmp_path, given, bounded):
    """All of the key must: of ever new users each has ten slots, and there is no end of them."""
    source = (
        "class Store:\n    def put(self, one, other):\n        self.rows[one, other] = 0\n"
        "    def step(self, number, pair):\n        %s\n        self.put(%s)"
    )
    assert is_bounded(tmp_path, source % ("pass", given)) == bounded
    if bounded:
        assert is_bounded(tmp_path, source % ("a, b = " + given, "a, b"))
        assert not is_bounded(tmp_path, source % ("self.put(number, number)", given))  # another caller has new keys


def test_a_new_value_with_its_type_is_one_too(tmp_path):
    """`reset()`, which the constructor calls, begins anew."""
    source = "class Store:\n    def __init__(self):\n        %s\n    def reset(self):\n        %s"
    assert is_bounded(tmp_path, source % ("self.reset()", "self.rows: list = []"))
    assert not is_bounded(tmp_path, source % ("self.rows: list = []", "pass"))
    assert not is_bounded(tmp_path, source % ("pass", "self.rows: list"))
