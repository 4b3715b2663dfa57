"""Waiting for what happens, and not for as long as it takes on a quiet machine."""

import time
from collections.abc import Callable

SECONDS = 60


def until(truth: Callable[[], object], what: object = "") -> None:
    """It comes to be true, however busy this machine is; fails with what was waited for."""
    deadline = time.monotonic() + SECONDS
    while not truth():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
