"""What a netplan file configures besides the fabric: such a file is never rewritten, adopted or removed whole."""

import re
from collections.abc import Iterable

from fleet.hardware import twin_of
from fleet.links import Link
from fleet.netplan.binding import PHYSICAL
from fleet.netplan.device import NetplanDevice, NetplanFile
from fleet.netplan.effective import binds_it, effective

_VIRTUAL_FUNCTION = re.compile(r"en(P2)?p1s0f[01]v[0-9]+(np[01])?")
"""systemd's names for SR-IOV functions of the four ports; dgxarley configures them beside the ports."""


def is_of_fabric(interface: str) -> bool:
    """Is it one of the four ports, or a virtual function of one?"""
    return twin_of(interface) is not None or _VIRTUAL_FUNCTION.fullmatch(interface) is not None


def beside(file: NetplanFile, links: Iterable[Link]) -> tuple[str, ...]:
    """The definitions of a file that are, or may be, for another interface: `enP7s7 at line 12`; none is the aim."""
    links = tuple(link for link in links if link.kind is None and link.name != "lo")
    return tuple(_at(device) for device in file.devices if not _is_fabric(device, file, links))


def fabric_lines(file: NetplanFile, links: Iterable[Link]) -> tuple[str, ...]:
    """The definitions of a file that are for the fabric alone."""
    elsewhere = set(beside(file, links))
    return tuple(_at(device) for device in file.devices if _at(device) not in elsewhere)


def renderer_rests_on(file: NetplanFile, files: Iterable[NetplanFile]) -> str | None:
    """The global renderer that would be another one without this file; None where that stays.

    Without `renderer: NetworkManager` anywhere, netplan lets NetworkManager manage no wired interface at all.
    """
    files = tuple(files)
    now = effective(files).renderer
    then = effective(each for each in files if each.path != file.path).renderer
    return None if now == then else now


def _at(device: NetplanDevice) -> str:
    return f"{device.id} at line {device.line}"


def _is_fabric(device: NetplanDevice, file: NetplanFile, links: tuple[Link, ...]) -> bool:
    """By name, or by what it takes of the interfaces that are there: ports, and nothing else."""
    if device.section not in PHYSICAL:
        parts = [*device.members, *([device.link] if device.link else [])]
        return bool(parts) and all(_is_fabric_id(part, file, links) for part in parts)
    if device.binds.interface is not None:
        return is_of_fabric(device.binds.interface)
    taken = [link.name for link in links if binds_it(device, link.name, link.own_mac)]
    return bool(taken) and all(map(is_of_fabric, taken))


def _is_fabric_id(id: str, file: NetplanFile, links: tuple[Link, ...]) -> bool:
    """A definition names its parts by their ids, which may be in another file; then the id must tell."""
    found = [device for device in file.devices if device.id == id]
    return all(_is_fabric(device, file, links) for device in found) if found else is_of_fabric(id)
