"""What is made anew with more in it each time is found by the name that the program has for it."""

import io
import sys
import types

import numpy as np
import pytest

from tfmemwatch.evidence import large_values

MORE = {
    "array": (np.zeros(40_000, "float32"), np.zeros(80_000, "float32")),
    "text": ("x" * 100_000, "x" * 300_000),
    "bytes": (b"x" * 100_000, b"x" * 300_000),
    "stream": (io.BytesIO(b"x" * 100_000), io.BytesIO(b"x" * 300_000)),
}


class Owner:
    """An object of the user's."""


@pytest.fixture
def owner():
    return Owner()


def grown(change, least=100_000):
    before = large_values.large()
    change()
    return large_values.grown(before, large_values.large(), least)


@pytest.mark.parametrize("kind", MORE)
def test_a_larger_value_under_the_same_name_is_found(owner, kind):
    """An array, a text, bytes or a stream, though each time it is another object."""
    owner.small, (owner.rows, more) = "x", MORE[kind]
    found = grown(lambda: vars(owner).update(rows=more))
    assert (found.name, found.path) == ("rows", "Owner.rows")
    assert found.bytes >= 300_000


def test_an_entry_of_a_dict_of_the_programs_is_found(owner):
    """`self.state["log"] += line`."""
    owner.state = {"log": "x" * 100_000, 7: "y"}
    found = grown(lambda: owner.state.update(log="x" * 300_000))
    assert found.name == "log"


def test_a_global_of_a_module_is_found(monkeypatch):
    """By the module's name."""
    module = types.ModuleType("program")
    module.__file__ = __file__
    module.text = "x" * 100_000
    monkeypatch.setitem(sys.modules, "program", module)
    assert grown(lambda: setattr(module, "text", "x" * 300_000)).path == "program.text"


def test_a_local_variable_of_a_running_function_is_found():
    """`text += line` in the loop itself."""
    text = "x" * 100_000
    before = large_values.large()
    text += "y" * 200_000
    assert large_values.grown(before, large_values.large(), 100_000).name == "text"


def test_what_stays_as_it_is_or_grows_by_little_is_not_told(owner):
    """However large it is."""
    owner.rows = np.zeros(1_000_000)
    assert grown(lambda: setattr(owner, "rows", np.zeros(1_010_000))) is None


def test_nothing_is_kept_alive_between_two_looks(owner):
    """A look holds numbers and names."""
    owner.rows = np.zeros(100_000)
    before = large_values.large()
    assert {type(part) for value in before.values() for part in value} <= {str, int}


def test_a_collection_is_no_namespace(owner):
    """What has thousands of keys is looked at by its length, and not one by one."""
    owner.rows = dict.fromkeys(map(str, range(5000)), "x" * 100_000)
    assert large_values.large() == large_values.large()
    assert not any(value.name == "17" for value in large_values.large().values())


def test_the_variables_of_a_running_function_are_seen_however_much_the_program_has(owner, monkeypatch):
    """A hundred modules with a thousand functions each take all the time there is for their own names."""
    for number in range(100):
        module = types.ModuleType("program_%d" % number)
        module.__file__ = __file__
        vars(module).update(("f%d" % one, lambda: None) for one in range(1000))
        monkeypatch.setitem(sys.modules, module.__name__, module)
    owner.rows = "x" * 100_000
    assert grown(lambda: vars(owner).update(rows="x" * 300_000)).path == "Owner.rows"
