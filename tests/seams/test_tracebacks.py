"""An error that passes through a seam shows the program's frames, and none of ours."""

import sys
import traceback
from types import SimpleNamespace

import pytest

from tfmemwatch.probes.scene import noted, quickly
from tfmemwatch.seams.patch import Patch


def fails():
    raise ValueError("the program's")


def made(maker):
    """A thing of another library's, wrapped as probes do."""
    library = SimpleNamespace(run=lambda call: call())
    Patch(library, "run", maker)
    return library


@pytest.mark.parametrize("maker", [noted(print, "test"), quickly(print, "test")], ids=["noted", "quickly"])
def test_an_error_shows_no_frame_of_ours(maker):
    """Through one seam or two, with an error under way around it, and in a generator."""
    outer, inner = made(maker), made(maker)

    def generator():
        yield outer.run(lambda: inner.run(fails))

    for call in (lambda: outer.run(lambda: inner.run(fails)), lambda: next(generator())):
        try:
            raise KeyError("around it")
        except KeyError as around:
            with pytest.raises(ValueError, match="the program's") as raised:
                call()
            assert sys.exc_info()[1] is around and raised.value.__context__ is around
        frames = traceback.extract_tb(raised.value.__traceback__)
        assert [
            frame.name for frame in frames if "tfmemwatch/tfmemwatch" in frame.filename or frame.name == "seam"
        ] == []
        assert frames[-1].name == "fails"


def test_a_call_with_wrong_arguments_ends_at_the_callers_line():
    """As it does without us: what is called has no frame yet."""
    library = made(noted(print, "test"))
    with pytest.raises(TypeError) as raised:
        library.run(1, 2, 3)
    assert (
        traceback.extract_tb(raised.value.__traceback__)[-1].name
        == "test_a_call_with_wrong_arguments_ends_at_the_callers_line"
    )


def test_errors_that_pass_hold_nothing():
    """Ten thousand of the same error leave its references as they were."""
    library, error = made(noted(print, "test")), ValueError()

    def again():
        raise error

    def once():
        try:
            library.run(again)
        except ValueError:
            error.__traceback__ = None

    once()
    before = sys.getrefcount(error)
    for _ in range(10000):
        once()
    assert sys.getrefcount(error) == before
