"""Whether a program cuts what a line makes longer."""

import itertools

import pytest

from tfmemwatch.explain.cuts import is_cut_at

FILES = itertools.count()
CUT = {
    "in the same line": "self.keys = tf.concat([self.keys, key], axis=0)[-1600:]  # here",
    "in the second dimension": "self.keys = tf.concat([self.keys, key], axis=1)[:, -MOST:]  # here",
    "in a line after it": "self.keys = tf.concat([self.keys, key], axis=0)  # here\nself.keys = self.keys[-1600:]",
    "of a variable": "self.rows.assign(tf.concat([self.rows, row], axis=0)[-MOST:])  # here",
    "over several lines": "self.rows.assign(\n    tf.concat([self.rows, row], axis=0)[-MOST:],  # here\n)",
}
LONGER = {
    "nothing is cut": "self.keys = tf.concat([self.keys, key], axis=0)  # here",
    "what is added is cut": "self.keys = tf.concat([self.keys, key[:8]], axis=0)  # here",
    "a variable is only assigned": "self.rows.assign(tf.concat([self.rows, row[-8:]], axis=0))  # here",
    "another is cut": "self.keys = tf.concat([self.keys, key], axis=0)  # here\nself.names = self.names[-1600:]",
    "another function cuts it": "def add(self, key):\n    self.keys = tf.concat([self.keys, key], axis=0)  # here\n"
    "def trim(self):\n    self.keys = self.keys[-1600:]",
    "a part of it is read": "self.keys = tf.concat([self.keys, key], axis=0)  # here\nlast = self.keys[-1600:]",
    "what is no program": "self.keys = [  # here",
}


def is_cut(tmp_path, source):
    file = tmp_path / ("program_%d.py" % next(FILES))
    file.write_text(source, encoding="utf-8")
    (line,) = [number for number, text in enumerate(source.splitlines(), 1) if text.endswith("# here")]
    return is_cut_at(str(file), line)


@pytest.mark.parametrize("case", list(CUT))
def test_what_is_cut_has_an_end(tmp_path, case):
    assert is_cut(tmp_path, CUT[case])


@pytest.mark.parametrize("case", list(LONGER))
def test_what_is_not_cut_may_have_none(tmp_path, case):
    assert not is_cut(tmp_path, LONGER[case])
