"""What all netplan files of a Spark make together, and where they contradict each other."""

from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

from fleet.netplan.device import NetplanDevice, NetplanFile
from fleet.netplan.grammar import problems
from fleet.netplan.keyfile import device_of
from fleet.netplan.merge import Definition, definitions, read_by_netplan
from fleet.netplan.provenance import Setting, provenance
from fleet.netplan.records import Problem
from fleet.record import Record

NETWORKMANAGER = "NetworkManager"
NETWORKD = "networkd"


class EffectiveDevice(Record):
    """One definition over all files."""

    device: NetplanDevice
    renderer: str
    """Who acts on it: its own word, else its section's where it first stands, else the last global one."""
    renderer_sources: tuple[str, ...]
    """The file that says so, wherever in it; none where it is netplan's default."""
    controller: str | None
    """The interface of the bond, bridge or VRF it is a port of, whichever side says so."""
    link: str | None
    """The parent interface of a VLAN or tunnel; the definition may name it by its id."""
    sources: tuple[str, ...]
    """Paths of the files that open it, in netplan's order."""
    settings: tuple[Setting, ...]
    """Every value that some file writes, with the files: the places to change it."""

    def written(self, key: str) -> tuple[Setting, ...]:
        """What is written under a key: one, or one for each item of a list; none where no file says it."""
        return tuple(setting for setting in self.settings if setting.key == key)

    def sources_of(self, address: str) -> tuple[str, ...]:
        """The files that write this address; none where it is not written."""
        found = (setting.sources for setting in self.settings if setting.sets_address(address))
        return tuple(dict.fromkeys(chain.from_iterable(found)))


class Conflict(Record):
    """Several definitions for one interface: both run, and NetworkManager picks one (case 016)."""

    interface: str
    ids: tuple[str, ...]
    uuids: tuple[str, ...]
    paths: tuple[str, ...]


class MergedNetplan(Record):
    """All files as one, by our reading of netplan."""

    renderer: str
    """The global one; networkd where no file says."""
    renderer_sources: tuple[str, ...]
    devices: tuple[EffectiveDevice, ...]
    conflicts: tuple[Conflict, ...]
    problems: tuple[tuple[str, Problem], ...]
    """By file, why netplan refuses all of them."""

    @property
    def is_accepted(self) -> bool:
        """Will netplan take the directory? One bad file makes it refuse every other."""
        return not self.problems

    def device(self, id: str) -> EffectiveDevice | None:
        """The definition of that id."""
        return next((found for found in self.devices if found.device.id == id), None)

    def binding(self, interface: str, macaddress: str | None = None) -> tuple[EffectiveDevice, ...]:
        """The definitions that bind an interface."""
        return tuple(found for found in self.devices if binds_it(found.device, interface, macaddress))


def effective(files: Iterable[NetplanFile]) -> MergedNetplan:
    """Every file that netplan reads, joined as it joins them."""
    read = read_by_netplan(files)
    found = definitions(read)
    said = _Said(NETWORKD, ())
    for file in read:
        said = _Said(file.renderer, (file.path,)) if file.renderer else said
    devices = tuple(_device(id, found, said) for id in found)
    return MergedNetplan(
        renderer=said.renderer, renderer_sources=said.sources,
        devices=devices, conflicts=_conflicts(devices), problems=problems(read),
    )  # fmt: skip


def binding(
    files: Iterable[NetplanFile], interface: str, macaddress: str | None = None
) -> tuple[tuple[NetplanFile, NetplanDevice], ...]:
    """Every definition, file by file, that binds an interface or could; hidden files do not count."""
    return tuple(
        (file, device)
        for file in read_by_netplan(files)
        for device in file.devices
        if binds_it(device, interface, macaddress)
    )


def at_next_boot(files: Iterable[NetplanFile]) -> tuple[NetplanFile, ...]:
    """The files under /lib and /etc as netplan reads them then, when none under /run hides one any more."""
    return tuple(
        file.model_copy(update={"shadowed_by": None})
        for file in files
        if file.durable and (file.shadowed_by is None or file.shadowed_by.startswith("/run/"))
    )


def durable_files_for(
    files: Iterable[NetplanFile], interface: str, macaddress: str | None = None
) -> tuple[NetplanFile, ...]:
    """The files under /lib and /etc that bind it, also those that one in /run hides until the next boot."""
    return tuple(dict.fromkeys(file for file, _ in binding(at_next_boot(files), interface, macaddress)))


WIRED_NAMES = ("en", "eth", "ib")
"""systemd's names for wired interfaces, which no Wi-Fi or modem definition can bind."""


def binds_it(device: NetplanDevice, interface: str, macaddress: str | None = None) -> bool:
    """Could the definition hit the interface?"""
    wireless = device.kind in ("wifi", "modem") and device.binds.how != "interface"
    return not (wireless and interface.startswith(WIRED_NAMES)) and device.binds.may_bind(interface, macaddress)


class _Said(NamedTuple):
    """A renderer, and the files that say so."""

    renderer: str
    sources: tuple[str, ...]


def _device(id: str, found: dict[str, Definition], over_all: _Said) -> EffectiveDevice:
    definition = found[id]
    device = device_of(definition.section, id, definition.settings)
    said = _renderer(definition, over_all)
    named = next((other for other, one in found.items() if id in one.settings.interfaces), None)
    return EffectiveDevice(
        device=device,
        renderer=said.renderer,
        renderer_sources=said.sources,
        controller=device.controller or named,
        link=_interface_of(device.link, found),
        sources=tuple(dict.fromkeys(path for path, _ in definition.sources)),
        settings=provenance(definition, said.renderer == NETWORKMANAGER),
    )


def _renderer(definition: Definition, over_all: _Said) -> _Said:
    own = [_Said(one.renderer, (path,)) for path, one in definition.sources if one.renderer]
    if own:
        return own[-1]
    if section := definition.settings.section_renderer:
        return _Said(section, (definition.sources[0][0],))
    return _Said(NETWORKMANAGER, ()) if definition.section == "nm-devices" else over_all


def _interface_of(id: str | None, found: dict[str, Definition]) -> str | None:
    if id is None or id not in found:
        return id
    return device_of(found[id].section, id, found[id].settings).binds.interface or id


def _conflicts(devices: tuple[EffectiveDevice, ...]) -> tuple[Conflict, ...]:
    """By interface that some definition names; one that binds by criteria joins where it could hit."""
    exact = dict.fromkeys(one.device.binds.interface for one in devices if one.device.binds.interface)
    found = []
    for interface in exact:
        if interface is None:
            continue
        rivals = [one for one in devices if binds_it(one.device, interface) and one.device.binds.is_certain]
        if len(rivals) > 1:
            found.append(_conflict(interface, rivals))
    return tuple(found)


def _conflict(interface: str, rivals: list[EffectiveDevice]) -> Conflict:
    return Conflict(
        interface=interface,
        ids=tuple(one.device.id for one in rivals),
        uuids=tuple(one.device.uuid for one in rivals if one.device.uuid),
        paths=tuple(dict.fromkeys(path for one in rivals for path in one.sources)),
    )
