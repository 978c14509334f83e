"""The largest number that a program names where it takes something out of a collection, in whichever code."""

import itertools

import pytest

from tfmemwatch.explain.evictions import largest_number

FILES = itertools.count()
STORE = """
import threading
MOST = 90
class Store:
    def __init__(self, most=70):
        self.rows, self.most, self.taken = [], most, 0

    def put(self, row):
        self.rows.append(row)
"""
NUMBERS = {
    "a length": ("def shrink(store):\n    if len(store.rows) > 60: store.rows.pop()", 60),
    "an attribute that a constructor is given":
        ("    def shrink(self):\n        if self.size() > self.most: self.rows.pop()\nstore = Store(80)", 80),
    "the default of a parameter": ("    def shrink(self):\n        if self.size() > self.most: self.rows.pop()", 70),
    "a constant of the module": ("def shrink(store):\n    while store.size() > MOST: store.rows.pop()", 90),
    "the parameter of a thread":
        ("def janitor(store, most):\n    more = len(store.rows) - most\n    if more: store.rows.pop()\n"
         "threading.Thread(target=janitor, args=(Store(), 300)).start()", 300),
    "a parameter, of which another function has one of the same name":
        ("def janitor(store, most):\n    if store.size() > most: store.rows.pop()\njanitor(Store(), 300)\n"
         "def show(store, most):\n    print(most)\nshow(Store(), 4000)\nOTHER = Store(2000)", 300),
    "how many calls are waited for":
        ("    def take(self):\n        self.taken += 1\n        if self.taken > 50:\n"
         "            self.rows = [row for row in self.rows if row]", 50),
    "an age":
        ("class Saver:\n    def __init__(self, oldest):\n        self.oldest = oldest\n"
         "    def save(self, store, now):\n"
         "        store.rows = [row for row in store.rows if now - row.when < self.oldest]\nSaver(oldest=350)", 350),
    "a number of the caller":
        ("def shrink(store):\n    store.rows.pop()\ndef step(store, i):\n    if i > 120: shrink(store)", 120),
    "keys that come round":
        ("    def tick(self, i):\n        self.set(i % 18, i // 18 % 24)\n"
         "    def set(self, place, phase):\n        self.rows[place, phase] = 1", 432),
    "the length of an object whose items are remembered":
        ("    def __len__(self):\n        return self.most\n    def __getitem__(self, index):\n"
         "        self.rows[index] = self.read(index)\n        return self.rows[index]\nStore(600)", 600),
    "a slice of the caller is about something else":
        ("def shrink(store):\n    if store.size() > 60: store.rows.pop()\ndef step(store, text):\n"
         "    shrink(store)\n    return text[:900]", 60),
    "a product": ("def shrink(store):\n    if store.size() > 6 * MOST: store.rows.pop()", 540),
}  # fmt: skip
NONE = {
    "nothing is taken out": "def show(store):\n    if len(store.names) > 60: print(store.rows)",
    "an object has no length":
        "    def __getitem__(self, key):\n        self.rows[key] = key\n        return self.rows[key]\nStore(600)",
    "a method of another class has the same name":
        "    def end(self):\n        self.rows.clear()\nclass Other:\n    def end(self):\n"
        "        if self.count > 60: self.names.clear()",
    "a test asks how long it is": "def test_it(store):\n    assert len(store.rows) <= 60",
    "a clock decides": "def expire(store, now):\n    while store.rows and store.rows[0].due <= now: store.rows.pop()",
    "it is in bytes": "def shrink(store):\n    if store.nbytes() > 600 * 1024: store.rows.pop()",
    "what is no program": "def shrink(:",
}  # fmt: skip


def number_of(tmp_path, source):
    file = tmp_path / ("program_%d.py" % next(FILES))
    file.write_text(source, encoding="utf-8")
    return largest_number(["rows"], str(file), ["Store"])


@pytest.mark.parametrize("case", list(NUMBERS))
def test_a_number_beside_what_takes_out_may_be_the_bound(tmp_path, case):
    source, number = NUMBERS[case]
    assert number_of(tmp_path, STORE + source) == number


@pytest.mark.parametrize("case", list(NONE))
def test_other_numbers_are_none(tmp_path, case):
    assert number_of(tmp_path, STORE + NONE[case]) == 0
