"""Draws the pictures of the page that the documentation shows, from the reports of page_states.py, by way of Chromium.

python tests/draw_page.py docs/pages/pictures
"""

import sys
import tempfile
from pathlib import Path

import browser as browsers
from page_states import STATES

from tfmemwatch.outputs import html_page

HOVER = """
const chart = document.querySelector('.chart'), box = chart.getBoundingClientRect();
chart.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + box.width * 0.62, clientY: box.top + 99 }));
"""
TO_THE_CARD = "document.querySelectorAll('header.bar, #headline, #memory').forEach((one) => one.remove())"
PICTURES = (  # of which state, how wide, how high, in which colours, and what is done before
    ("leak", 1080, 836, "light", ""),
    ("finding", 1080, 700, "light", TO_THE_CARD),
    ("month", 1080, 862, "dark", HOVER),
    ("phone", 390, 844, "dark", ""),
)
OF = {"finding": "leak", "phone": "leak"}


def main(folder):
    with browsers.started() as browser, tempfile.TemporaryDirectory() as place:
        for name, wide, high, scheme, script in PICTURES:
            page = Path(place) / "page.html"
            page.write_text(html_page.page(STATES[OF.get(name, name)]()), encoding="utf-8")
            browser.looks(wide, scheme)
            browser.go(page.as_uri())
            browser.run(script)
            (Path(folder) / ("page-%s.png" % name)).write_bytes(browser.picture(high))


if __name__ == "__main__":
    main(*sys.argv[1:])
