"""Tests that fail when something leaks: a pytest plugin, and a mixin for unittest.

May import monitor, and what is below.

- `plugin`: what pytest loads: the mark, the fixture, the options. It loads the rest when one of them is used.
- `limits`: what a test may leave behind, as its mark says it.
- `check`: what is repeated, and judged.
- `retained`: the bytes that stay, from readings after collections.
- `verdict`: what came of it, in words.
- `shown`: the same as pytest shows a failure.
- `repeated`: a test's function that repeats its body.
- `leak_free`: the mixin.
- `whole_run`: watches each test of a run.
- `left`, `run_page`: the list of them, as text and as a page.
"""

from __future__ import annotations

from .leak_free import LeakFree

__all__ = ["LeakFree"]
