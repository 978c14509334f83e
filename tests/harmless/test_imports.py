"""The watch waits for TensorFlow to be imported, and nobody who imports sees that it does."""

import importlib
import importlib.machinery
import importlib.util
import sys
import zipfile

import own_process
import pytest
import wrapt

import tfmemwatch
from tfmemwatch.seams import imports

NAME = "imported_later"


class Waiting:
    """Somebody who waits for a module."""

    def __init__(self):
        self.seen = []

    def hear(self, module):
        self.seen.append((module.__name__, type(module.__spec__.loader).__name__, hasattr(module, "value")))

    def __call__(self):
        return self.hear


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a module of this name, and what was loaded before."""
    (tmp_path / (NAME + ".py")).write_text("import sys\nloader = __spec__.loader\nvalue = 1\n", encoding="ascii")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield tmp_path
    sys.modules.pop(NAME, None)


@pytest.fixture
def waiting(folder):
    one = Waiting()
    imports.on_import(NAME, one)
    yield one
    imports.no_longer(one)
    assert imports._FINDER not in sys.meta_path


def test_it_is_heard_when_the_module_is_there(waiting):
    """Once, when all its lines have run; its loader is that which it has without us, at every moment."""
    module = importlib.import_module(NAME)
    assert waiting.seen == [(NAME, "SourceFileLoader", True)]
    assert module.loader is module.__loader__ is module.__spec__.loader
    assert type(module.__loader__) is importlib.machinery.SourceFileLoader
    assert not set(vars(module.__loader__)) & {"exec_module", "load_module"}
    importlib.reload(module)
    assert len(waiting.seen) == 1


def test_who_only_asks_whether_it_is_there_gets_the_spec_that_there_is(waiting):
    """`importlib.util.find_spec` finds the same type of loader, and imports nothing."""
    spec = importlib.util.find_spec(NAME)
    assert type(spec.loader) is importlib.machinery.SourceFileLoader
    assert NAME not in sys.modules
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.value == 1


def test_an_import_that_fails_is_no_import(waiting, folder):
    """The error is the module's own, and the next try is heard."""
    (folder / (NAME + ".py")).write_text("raise ImportError('half done')\n", encoding="ascii")
    with pytest.raises(ImportError, match="half done"):
        importlib.import_module(NAME)
    assert (waiting.seen, NAME in sys.modules) == ([], False)
    (folder / (NAME + ".py")).write_text("value = 22\n", encoding="ascii")
    importlib.invalidate_caches()
    importlib.import_module(NAME)
    assert len(waiting.seen) == 1


def test_a_lazy_module_stays_lazy(waiting):
    """It is heard when the module is used, and not when it is named."""
    spec = importlib.util.find_spec(NAME)
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert waiting.seen == []
    assert module.value == 1
    assert [name for name, _, _ in waiting.seen] == [NAME]


def test_others_who_wait_through_wrapt_hear_it_too(waiting):
    """Theirs and ours, whoever came first."""
    theirs = []
    wrapt.register_post_import_hook(lambda module: theirs.append(module.value), NAME)
    importlib.import_module(NAME)
    assert (theirs, len(waiting.seen)) == ([1], 1)


def test_a_finder_of_the_program_finds(waiting, monkeypatch, folder):
    """Its loader, which refuses attributes, loads; then the next look of the watch sees that the module is there."""

    class Loader:
        __slots__ = ()

        def create_module(self, spec):
            return None

        def exec_module(self, module):
            module.value = 3

    class Finder:
        def find_spec(self, name, path=None, target=None):
            return importlib.machinery.ModuleSpec(name, Loader()) if name == NAME else None

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path[:1], Finder(), *sys.meta_path[1:]])
    module = importlib.import_module(NAME)
    assert (module.value, type(module.__spec__.loader)) == (3, Loader)
    monkeypatch.undo()


def test_a_module_in_an_archive_is_imported(waiting, tmp_path, monkeypatch):
    """And others from the same archive, by the same loader."""
    (tmp_path / (NAME + ".py")).unlink()
    with zipfile.ZipFile(str(tmp_path / "all.zip"), "w") as archive:
        archive.writestr(NAME + ".py", "import imported_beside\nvalue = imported_beside.value\n")
        archive.writestr("imported_beside.py", "value = 4\n")
    monkeypatch.syspath_prepend(str(tmp_path / "all.zip"))
    importlib.invalidate_caches()
    assert importlib.import_module(NAME).value == 4
    sys.modules.pop("imported_beside")


def test_a_listener_that_fails_does_not_end_the_import(folder, failures):
    """Our mistake is counted, and the program has its module."""

    def hear(module):
        raise RuntimeError("our mistake")

    def listener():
        return hear

    imports.on_import(NAME, listener)
    assert importlib.import_module(NAME).value == 1
    imports.no_longer(listener)
    assert failures == {"import of " + NAME: 1}


def test_nothing_of_ours_is_left_after_uninstall():
    """`sys.meta_path` is as it was, in a program that imports no TensorFlow."""
    program = """
    import sys
    before = list(sys.meta_path)
    import tfmemwatch
    for _ in range(3):
        tfmemwatch.install(sample_seconds=3600)
        print(len(sys.meta_path) - len(before))
        tfmemwatch.uninstall()
        print(sys.meta_path == before)
    """
    assert own_process.said(program) == ["1", "True"] * 3


def test_a_watch_that_waits_is_there_when_tensorflow_is_imported(fake_packages):
    """Installed before the import, it wraps at once, and not at the next look."""
    program = """
    import sys
    sys.path.insert(0, sys.argv[1])
    import tfmemwatch
    watch = tfmemwatch.install(sample_seconds=3600)
    import tensorflow
    print(len(watch.probes) > 5, type(tensorflow.__spec__.loader).__name__)
    tfmemwatch.uninstall()
    print([finder for finder in sys.meta_path if "tfmemwatch" in type(finder).__module__])
    """
    assert own_process.said(program, str(fake_packages)) == ["True SourceFileLoader", "[]"]
    assert tfmemwatch.current() is None
