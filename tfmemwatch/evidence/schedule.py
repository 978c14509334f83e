"""When an inquiry begins, what is done at which of its looks, how long it lasts, and when the next one may begin."""

from __future__ import annotations

from typing import Iterator

LOOKS = 112  # of one inquiry
SOON_LOOKS = 64  # of one where memory ends soon
_WINDOW = 32  # looks for which operations are watched
_FIND_AT = (8, 24)
_FIND_SOON_AT = (16,)  # a search takes some tenths of a second
_EARLY_AT = 48  # in a loop with steps
_PATIENCE = 16  # looks between the first two inquiries that find nothing
_MOST_PATIENCE = 1 << 20
MOST_QUIET = 4 * LOOKS  # without a suspicion: what was found, or what filled, may be over

# What is due at a look.
FIND = "find collections"
MORE_TIME = "has much been seen"
HALF = "half of the window"
WINDOW = "end of the window"
EMPTY = "empty caches"
MIDDLE = "middle"
EARLY = "early"
END = "end"


class Schedule:
    """The looks of one inquiry after the other."""

    def __init__(self, by_clock: bool, looks: int = LOOKS) -> None:
        self._by_clock = by_clock
        self._looks = looks  # of each
        self._find_at = _FIND_AT if looks == LOOKS else _FIND_SOON_AT
        self._wait = 0
        self._patience = _PATIENCE  # doubles each time
        self.looks = -1  # of the inquiry under way; -1 where there is none
        self.window = _WINDOW
        self.lasts = looks
        self.looked_on = 0

    @property
    def is_open(self) -> bool:
        """Whether an inquiry is under way."""
        return self.looks >= 0

    def rest(self) -> bool:
        """One look between two inquiries; whether the next one may begin."""
        self._wait -= 1
        return self._wait <= 0

    def open(self) -> None:
        """An inquiry begins."""
        self.looks = self.looked_on = 0
        self.window, self.lasts = _WINDOW, self._looks

    def next_look(self) -> None:
        """One more look of the inquiry."""
        self.looks += 1

    def due(self) -> Iterator[str]:
        """What is to be done at this look, in this order; what is done may change what else is due."""
        looks = self.looks
        if looks in self._find_at:
            yield FIND
        if looks == _WINDOW // 2:
            yield MORE_TIME
        if looks == self.window // 2:
            yield HALF
        if looks == self.window:
            yield WINDOW
        if looks == LOOKS // 4:
            yield EMPTY
        if looks == self._looks // 2:
            yield MIDDLE
        if looks == _EARLY_AT and not self._by_clock:
            yield EARLY
        if looks >= self.lasts:
            yield END

    def widen(self) -> None:
        """A slow program does little in so short a while: operations are watched to the end."""
        self.window = self._looks

    def look_on(self, looks: int, leaves_first_half: bool) -> None:
        """So many looks more."""
        self.lasts += looks
        self.looked_on += leaves_first_half

    def close(self) -> None:
        """No inquiry is under way."""
        self.looks = -1

    def wait(self, looks: int) -> None:
        """The next inquiry may begin after so many looks."""
        self._wait = looks

    def wait_after_finding(self) -> None:
        """Long: what was found is known."""
        self._patience = max(4 * max(1, self.looks), 2 * self._patience)
        self._wait = self._patience

    def wait_longer(self) -> None:
        """Nothing was found: twice as long as the last time."""
        self._patience = self._wait = min(2 * self._patience, _MOST_PATIENCE)

    @staticmethod
    def is_quiet(looks: int, age: int) -> bool:
        """Whether so many looks without a suspicion are enough for what was told so many looks ago to be over."""
        return looks > MOST_QUIET + age / 2
