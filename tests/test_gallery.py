"""The gallery is what its programs are: small, in step with the page, and with a picture for each.

That they leak, and where, is run in `tests/leaks/test_gallery_programs.py`.
"""

import gallery
import pytest

MOST_LINES, MOST_BYTES = 40, 60_000


def test_there_are_twelve_leaks_and_their_cures():
    """Each program of the folder is in the gallery, and the other way round."""
    assert len(gallery.GALLERY) == 12
    assert {path.stem for path in gallery.PROGRAMS.glob("*.py")} == set(gallery.names())


@pytest.mark.parametrize("name", gallery.names())
def test_a_program_is_small(name):
    """It can be read in a minute."""
    assert gallery.program(name).count("\n") <= MOST_LINES


def test_the_page_shows_the_programs_as_they_are():
    """`make gallery` writes it, with their pictures."""
    assert gallery.PAGE.read_text(encoding="utf-8") == gallery.page()


@pytest.mark.parametrize("name", gallery.names())
def test_a_picture_is_there_and_is_small(name):
    """`make gallery` draws it."""
    assert 0 < (gallery.PICTURES / (name + ".png")).stat().st_size <= MOST_BYTES
