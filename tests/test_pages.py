"""What the README and the documentation show can be run as it stands.

The programs of `findings.md` and `gallery.md` are run in `tests/leaks/`: half of them leak.
"""

import re
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
PAGES = sorted((TREE / "docs" / "pages").rglob("*.md"))
LEAKING = ("findings.md", "gallery.md")
FILES = [TREE / "README.md", *(page for page in PAGES if page.name not in LEAKING)]
BLOCKS = [(file.name, code) for file in FILES for code in BLOCK.findall(file.read_text(encoding="utf-8"))]


class Model:
    """Whatever the reader has."""

    def fit(self, batches, callbacks):
        """As Keras calls a callback."""
        for callback in callbacks:
            callback.set_model(self)
            callback.on_train_begin()
            for batch in batches:
                callback.on_train_batch_end(batch)
            callback.on_train_end()


def names():
    """What a reader has already when they come to an example."""
    import tfmemwatch

    return {
        "tfmemwatch": tfmemwatch, "batches": range(3), "train": lambda batch: None, "request": "a request",
        "handle": lambda request: None, "model": Model(),
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("page", "code"), BLOCKS, ids=["%s-%d" % (page, at) for at, (page, _) in enumerate(BLOCKS)])
def test_an_example_runs(page, code, fake_tf, monkeypatch, tmp_path):
    """Each block of Python, with what a reader has."""
    import tfmemwatch

    monkeypatch.chdir(tmp_path)
    code = code.replace("port=9464", "port=0")  # which another test may have
    code = code.replace('"kernels", function="train_step"', "")  # of a program that has them
    if "install(" not in code and "watch(" not in code:
        tfmemwatch.install(log=False)
    try:
        exec(compile(code, page, "exec"), names())
    finally:
        tfmemwatch.uninstall()
        sys.modules.pop("tfmemwatch.auto", None)


def test_there_are_examples():
    """They are found where they stand."""
    assert {"README.md", "index.md", "testing.md", "production.md"} <= {page for page, _ in BLOCKS}
