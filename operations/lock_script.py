"""What the lock sends to a host: `remote/lock.sh` with the values it works with, and what every change begins with."""

from functools import cache
from importlib.resources import files
from shlex import quote

from fleet.controller import Controller
from fleet.lock import PLACE, Lock
from fleet.lock_text import lock_head

WAIT_SECONDS = 120
"""For a command at work to end: `nmcli --wait 90` is the longest of ours but for downloads; who waits longer for those
may run again."""
RELEASE_SECONDS = 10
"""The same for a release: it comes after the run's own commands."""

HELD = f". {PLACE}/held"
"""The first line of every change: on with it only where this connection holds the lock. `remote/held.sh` says how."""


def take_script(token: str, plan: str | None, controller: Controller, over: Lock | None) -> str:
    """Take the lock, or hold it over another connection than before.

    + over: the lock of a run that is gone, which may be taken over
    """
    return _script(
        "take",
        WAIT_SECONDS,
        token=token,
        head=lock_head(token, plan, controller),
        pid=str(controller.pid),
        ticks=str(controller.started_ticks),
        over="" if over is None else over.content_digest,
        held=_text("held.sh").replace("@PLACE@", PLACE).replace("@WAIT@", str(WAIT_SECONDS)).strip(),
    )


def release_script(token: str) -> str:
    """Free the host, where the lock is still this run's."""
    return _script("release", RELEASE_SECONDS, token=token)


def unlock_script(lock: Lock) -> str:
    """Break exactly this lock."""
    return _script("unlock", RELEASE_SECONDS, over=lock.content_digest)


def _script(command: str, wait: int, **values: str) -> str:
    values |= {"place": PLACE, "wait": str(wait)}
    head = "".join(f"{name}={quote(value)}\n" for name, value in values.items())
    return f"{head}{_text('lock.sh')}\n{command}\n"


@cache
def _text(name: str) -> str:
    return files("operations.remote").joinpath(name).read_text(encoding="utf-8")
