"""Units of systemd as a policy wants them, and as they were found."""

import re
from typing import Annotated, Literal

from pydantic import Field

from fleet.host.answer import answer
from fleet.host.conf import ConfLine
from fleet.record import VOLATILE, Record
from fleet.wall import wall

UnitName = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9:_.\\@-]*\.(service|socket|timer|path)$", max_length=128)
]
UnitWish = Literal["enabled", "disabled", "masked"]
"""`enabled`: started at boot, and active now. `disabled`, `masked`: not started at boot, and not active now."""

_CARRIES_US = re.compile(
    r"(ssh|sshd|ssh@.*|NetworkManager|wpa_supplicant|tailscaled|dbus|dbus-broker|polkit|systemd-.*|netplan-.*)"
    r"\.(service|socket|path|timer)"
)
"""What a Spark is reached by, or what all others need."""
_OURS = re.compile(r"sparks-.*")


class UnitState(Record):
    """One unit that was asked for."""

    name: str
    id: str
    """Its own name, where the one that was asked for is an alias."""
    load_state: str
    """`loaded`, `not-found`, `masked`, …"""
    file_state: str
    """What `systemctl is-enabled` says; empty where there is no file."""
    active_state: str
    """`active`, `inactive`, `failed`, …"""
    is_momentary: bool = False
    """It runs once and is not active after that."""
    fragment: str = ""
    """The path of its file."""
    triggers: tuple[str, ...] = ()
    """Active units that would start it again."""
    needs_reload: bool = False
    """systemd has it loaded as its files were before."""
    main_pid: Annotated[int, VOLATILE] = 0
    oom_score: Annotated[int | None, VOLATILE] = None
    """Of its main process: what the kernel adds to its badness; None where none runs."""
    oom_policy: str = ""
    oom_score_adjust: int = 0
    """What systemd gives its processes."""
    oom_lines: tuple[ConfLine, ...] = ()
    """Every line of its files about that, in the order in which they are read."""

    @property
    def is_there(self) -> bool:
        """Is there such a unit, masked or not?"""
        return self.load_state != "not-found"

    @property
    def is_active(self) -> bool:
        """Does it run, or begin to?"""
        return self.active_state in ("active", "activating", "reloading")


class Units(Record):
    """The units that were asked for, by name."""

    units: dict[str, UnitState]


def parse_units(text: str) -> Units:
    """The units from the JSON of a look; raises ValueError."""
    return Units(units={each["name"]: UnitState.model_validate(each) for each in answer(text)["units"]})


def unit_wall(name: str, wish: UnitWish) -> None:
    """The walls against a unit that a policy must not turn off, or that is ours."""
    if _OURS.fullmatch(name):
        raise wall("unit_ours", f"units.{name}: expected a unit that is not ours, found one that a deploy makes")
    if wish != "enabled" and _CARRIES_US.fullmatch(name):
        raise wall("unit_carries_us", f"units.{name}: expected it enabled or left out, found {wish}: we stand on it")
