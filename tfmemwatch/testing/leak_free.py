"""A mixin for `unittest.TestCase`: each test is repeated, and fails when it leaks."""

from __future__ import annotations

from typing import Any, Mapping


class LeakFree:
    """Put it before `unittest.TestCase`; `leak_limits` says what a test may leave behind.

        class TestServing(LeakFree, unittest.TestCase):
            leak_limits = {"repeat": 50, "variables": 4}

    `setUp` and `tearDown` run once, around all repeats.
    """

    leak_limits: Mapping[str, Any] = {}

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)  # type: ignore[call-arg]
        method = getattr(self, methodName, None)
        if method is None or methodName == "runTest":  # a loader may ask for a case without a test
            return
        from .limits import limits_of  # what watches is loaded when a test is there
        from .repeated import repeated

        who = "%s.leak_limits" % type(self).__name__
        setattr(self, methodName, repeated(method, methodName, limits_of(self.leak_limits, who)))
