"""One network device as NetworkManager sees it, and how nmcli tells of them."""

import re
from typing import Annotated

from fleet.keyfile import REDACTED, WIFI_TYPES
from fleet.nmcli import is_yes, read_show, read_terse
from fleet.record import VOLATILE, Record

DEVICE_COLUMNS = ("DEVICE", "TYPE", "STATE", "CONNECTION")

_STATE = re.compile(r"(?P<state>[^(]*?)(?: \((?P<detail>.*)\))?")


class NmDevice(Record):
    """One network device as NetworkManager sees it."""

    name: str
    type: str
    """As of a device: `ethernet` where a profile says `802-3-ethernet`."""
    state: Annotated[str, VOLATILE]
    """connected, connecting, disconnected, unavailable, unmanaged, …"""
    detail: Annotated[str | None, VOLATILE] = None
    """`externally`: NetworkManager observes the device and does not manage it; or how far it has come."""
    connection: Annotated[str | None, VOLATILE] = None
    """The name of the profile that is active on it."""
    kept_down: Annotated[bool, VOLATILE] = False
    """Disconnected by hand: `nmcli device disconnect` takes its autoconnect away (NetworkManager 1.52, 2026-11-29).
    Without a carrier it does not show."""

    @property
    def comes_and_goes(self) -> bool:
        """As `fleet.links.Link` says."""
        return self.type == "veth"

    @property
    def is_external(self) -> bool:
        """Did somebody else configure it, so that NetworkManager will not do it again after a reboot?"""
        return self.detail == "externally"


def sorted_devices(devices: tuple[NmDevice, ...]) -> tuple[NmDevice, ...]:
    """By name: nmcli's order never matters."""
    return tuple(sorted(devices, key=lambda each: each.name))


def parse_devices(text: str, autoconnect: str = "") -> tuple[NmDevice, ...]:
    """The devices in `nmcli -t -f DEVICE,TYPE,STATE,CONNECTION device`.

    `autoconnect`: what `nmcli -t -f GENERAL.DEVICE,GENERAL.AUTOCONNECT device show` prints; empty if not asked.
    """
    shown = read_show(autoconnect, "GENERAL.DEVICE", "GENERAL.AUTOCONNECT")
    kept_down = {name for name, may in shown if not is_yes(may)}
    return sorted_devices(tuple(_device(row, kept_down) for row in read_terse(text, DEVICE_COLUMNS)))


def _device(row: dict[str, str], kept_down: set[str]) -> NmDevice:
    is_wifi = row["TYPE"] in WIFI_TYPES
    found = _STATE.fullmatch(row["STATE"])
    if not found:
        raise ValueError(f"device {row['DEVICE']}: expected a state, found {row['STATE']!r}")
    return NmDevice(
        name=row["DEVICE"],
        type=row["TYPE"],
        state=found["state"],
        detail=found["detail"],
        connection=(REDACTED if is_wifi and row["CONNECTION"] else row["CONNECTION"]) or None,
        kept_down=found["state"] == "disconnected" and row["DEVICE"] in kept_down,
    )
