"""How netplan reads many files as one: by basename, the same id joined, /run before /etc before /lib."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from fleet.netplan.device import NetplanDevice, NetplanFile
from fleet.netplan.settings import NetplanSettings, reopened


@dataclass
class Definition:
    """One id over all files."""

    section: str
    settings: NetplanSettings
    sources: list[tuple[str, NetplanDevice]] = field(default_factory=list)
    """Path and device of each file that opens it, in netplan's order."""


def in_netplan_order(files: Iterable[NetplanFile]) -> tuple[NetplanFile, ...]:
    """By basename as bytes, whatever the directory; a hidden file before the one that hides it."""
    return tuple(sorted(files, key=lambda file: (file.name.encode(), file.shadowed_by is None)))


def read_by_netplan(files: Iterable[NetplanFile]) -> tuple[NetplanFile, ...]:
    """The files that count, in netplan's order."""
    return tuple(file for file in in_netplan_order(files) if file.shadowed_by is None)


def definitions(files: Iterable[NetplanFile]) -> dict[str, Definition]:
    """Every id with its merged settings. An id keeps the section where it first stands."""
    found: dict[str, Definition] = {}
    for file in read_by_netplan(files):
        for device in file.devices:
            if device.id in found:
                found[device.id].settings = reopened(device.id, found[device.id].settings, device.written)
            else:
                found[device.id] = Definition(device.section, device.written)
            found[device.id].sources.append((file.path, device))
    return found
