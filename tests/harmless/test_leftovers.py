"""What has died leaves nothing of ours behind a garbage collection."""

from pathlib import Path

import own_process

SCRIPT = Path(__file__).parent / "leftovers.py"


def test_what_has_died_leaves_neither_a_reference_nor_a_tuple():
    """As TensorFlow's own tests count objects: functions, variables, sessions, graphs, tapes, models."""
    lines = own_process.said("import runpy; runpy.run_path(%r, run_name='__main__')" % str(SCRIPT))
    assert len(lines) == 12
    assert [line for line in lines if not line.endswith(" {}")] == []
