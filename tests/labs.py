"""The labs that tests use, brought up when a test needs one and left as they were found."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from virtual.lab import Lab

ROOT = Path(__file__).resolve().parents[1]
SIDE = ROOT / ".virtual-side"
"""Where the side lab keeps its state: found again, and taken down, by the next session after a killed one."""


class Labs:
    """This checkout's lab and the side lab, for one session of pytest."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._found = what_is_up()
        self._waking: subprocess.Popen[bytes] | None = None
        self._used = False
        self._side: Lab | None = None

    def wake(self, layout: str) -> None:
        """Start bringing this checkout's lab up in the background."""
        self._used = True
        self._waking = subprocess.Popen(
            [sys.executable, "-m", "virtual", "up", "--layout", layout],
            cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def brought_up(self, layout: str, count: int) -> "Lab":
        """This checkout's lab in a layout; one in another layout, the tests' or a user's, gives way till the end."""
        from virtual.lab import Lab

        self._used = True
        lab = Lab(say=self._say)
        self._say(f"waiting for the virtual Sparks ({layout}); from nothing that takes minutes")
        if self._waking is not None:
            self._waking.wait()
        if what_is_up() not in (None, (layout, count)):
            lab.down()
        lab.up(layout, count)
        return lab

    def side(self) -> "Lab":
        """The side lab, a pair."""
        from virtual.lab import Lab

        SIDE.mkdir(exist_ok=True)
        self._side = Lab(SIDE, self._say)
        self._side.up("pair", 2)
        return self._side

    def restore(self) -> None:
        """Both labs as they were found."""
        from virtual.lab import Lab

        if self._waking is not None and self._waking.poll() is None:
            self._waking.terminate()
            self._waking.wait()
        if self._side is not None:
            self._side.down()
        if not self._used:
            return
        lab = Lab()
        if what_is_up() != self._found:
            lab.down()
        if self._found:
            lab.up(*self._found)
            lab.reset()


def what_is_up() -> tuple[str, int] | None:
    """The layout of this checkout's lab and how many machines it has; None when it is down."""
    from virtual.errors import LabError
    from virtual.lab import Lab

    try:
        known = Lab().state
    except LabError:
        return None
    return known.layout, len(known.machines)
