"""How netplan reads many files as one: by basename, the same id joined, /run before /etc before /lib."""

from collections.abc import Iterable
from dataclasses import dataclass

from fleet.netplan.device import NetplanFile
from fleet.netplan.settings import NetplanSettings, merged, reopening


@dataclass
class Definition:
    """One id over all files."""

    section: str
    settings: NetplanSettings
    sources: list[tuple[str, NetplanSettings]]
    """Path and word of each file that opens it, in netplan's order."""

    def reopen(self, id: str, path: str, written: NetplanSettings) -> None:
        """Join what a later file says."""
        later = reopening(id, self.settings, written)
        self.settings = merged(self.settings, later)
        self.sources.append((path, later))


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
                found[device.id].reopen(device.id, file.path, device.written)
            else:
                found[device.id] = Definition(device.section, device.written, [(file.path, device.written)])
    return found
