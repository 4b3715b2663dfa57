"""What netplan refuses once it knows the files before: what is missing, undefined or not the renderer's."""

from collections.abc import Iterable, Iterator
from itertools import chain

from fleet.netplan.device import NetplanDevice, NetplanFile
from fleet.netplan.keyfile import Keyfile
from fleet.netplan.records import Problem
from fleet.netplan.settings import NetplanSettings, reopened

NO_REMOTE = frozenset({"vxlan", "wireguard"})
"""Tunnels that need no remote end."""


def problems(read: Iterable[NetplanFile]) -> tuple[tuple[str, Problem], ...]:
    """By path, in the order in which netplan meets them; `read` is in netplan's order."""
    found: list[tuple[str, Problem]] = []
    state = _State()
    for file in read:
        if file.error is not None:
            found.append((file.path, Problem(place="", reason=file.error.reason, line=file.error.line)))
            continue
        state.open(file)
        found += [(file.path, problem) for device in file.devices for problem in state.complaints(device)]
    return tuple(found)


class _State:
    """What netplan knows after a file."""

    def __init__(self) -> None:
        self.renderer: str | None = None
        self.sections: dict[str, str] = {}
        self.settings: dict[str, NetplanSettings] = {}

    def open(self, file: NetplanFile) -> None:
        self.renderer = file.renderer or self.renderer
        for device in file.devices:
            self.sections.setdefault(device.id, device.section)
            earlier = self.settings.get(device.id)
            written = device.written
            self.settings[device.id] = written if earlier is None else reopened(device.id, earlier, written)

    def complaints(self, device: NetplanDevice) -> Iterator[Problem]:
        """About one definition that the last file opened."""
        settings, place = self.settings[device.id], f"network.{device.section}.{device.id}"
        reasons = [*self._of_type(device, settings), *self._references(device, settings)]
        yield from (Problem(place=place, reason=reason) for reason in reasons)

    def _of_type(self, device: NetplanDevice, settings: NetplanSettings) -> Iterator[str]:
        if self.sections[device.id] != device.section:
            yield "updated definition changes device type"
            return
        missing = _missing(device.section, settings)
        yield from (f"missing '{name}' property" for name in missing)
        if device.section == "vlans" and (settings.vlan_id or 0) > 4094:
            yield "invalid id (allowed values are 0 to 4094)"
        if settings.set_name and settings.match is None:
            yield "'set-name:' requires 'match:' properties"
        own = settings.renderer or settings.section_renderer or self.renderer
        networkmanager = own == "NetworkManager" or device.section == "nm-devices"
        if not networkmanager and settings.networkmanager:
            yield "networkmanager settings found but renderer is not NetworkManager"
        if networkmanager and settings.match and settings.match.drivers:
            yield "NetworkManager cannot match by driver"

    def _references(self, device: NetplanDevice, settings: NetplanSettings) -> Iterator[str]:
        own = settings.renderer or settings.section_renderer or self.renderer
        link = settings.link if not (device.section == "vlans" and own == "NetworkManager") else None
        peer = settings.peer if own != "NetworkManager" else None
        names = [*settings.interfaces, *(name for name in (link, peer) if name)]
        if any(name not in self.settings for name in names):
            yield "an interface that it names is not defined"
        others = (self.settings[id].interfaces for id in self.settings if id != device.id)
        if set(settings.interfaces) & set(chain.from_iterable(others)):
            yield "an interface that it names is already assigned"


def _missing(section: str, settings: NetplanSettings) -> Iterator[str]:
    if section == "vlans":
        if settings.link is None:
            yield "link"
        if settings.vlan_id is None:
            yield "id"
    elif section == "tunnels":
        if settings.tunnel_mode is None:
            yield "mode"
        elif settings.remote is None and settings.tunnel_mode not in NO_REMOTE:
            yield "remote"
    elif section == "vrfs" and settings.table is None:
        yield "table"
    elif section == "virtual-ethernets" and settings.peer is None:
        yield "peer"
    elif section == "wifis" and not settings.access_points:
        yield "access-points"
    elif section == "nm-devices" and not Keyfile(section, "", settings).set.get("connection.type"):
        yield "connection.type"
