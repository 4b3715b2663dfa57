"""What systemd itself does: which target it boots into, and the watchdog that it feeds."""

import re
from typing import Annotated

from pydantic import Field

from fleet.host.answer import answer
from fleet.host.conf import ConfLine
from fleet.record import Record

_UNITS = {
    "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0,
    "month": 2629800.0, "y": 31557600.0,
}  # fmt: skip
"""Seconds of each unit of a time span (systemd.time(7))."""

TargetName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9@-]*\.target$")]


class WatchdogPolicy(Record):
    """A hardware watchdog that resets a host whose systemd does not answer any more."""

    seconds: Annotated[int, Field(strict=True, ge=5, le=600)]
    """After this long without a sign of life."""


class WatchdogDevice(Record):
    """One watchdog of the hardware."""

    name: str
    identity: str = ""
    timeout_seconds: int | None = None
    state: str = ""
    """`active` where somebody feeds it."""


class Manager(Record):
    """systemd's own state."""

    default_target: str
    """What the next boot goes to, unless the command line says otherwise."""
    watchdog_seconds: float | None = None
    """What it feeds the watchdog for now; 0 where it does not, None for ever."""
    devices: tuple[WatchdogDevice, ...] = ()
    lines: tuple[ConfLine, ...] = ()
    """Lines of `system.conf` and its drop-ins about the watchdog, in the order in which they are read."""


def parse_manager(text: str) -> Manager:
    """The state from the JSON of a look; raises ValueError."""
    found = answer(text)
    return Manager.model_validate({**found, "watchdog_seconds": parse_span(found["watchdog_seconds"])})


def parse_span(text: str) -> float | None:
    """Seconds of a time span as systemd prints it, `1min 30s`; None for `infinity`. Raises ValueError."""
    if text == "infinity":
        return None
    if text == "0":
        return 0.0
    parts = text.split()
    found = [re.fullmatch(r"(\d+(?:\.\d+)?)([a-z]+)", part) for part in parts]
    if not parts or not all(each and each[2] in _UNITS for each in found):
        raise ValueError(f"expected a time span, found {text!r}")
    return sum(float(each[1]) * _UNITS[each[2]] for each in found if each)
