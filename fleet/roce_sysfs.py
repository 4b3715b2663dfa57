"""RDMA devices and GIDs from sysfs, read as lines of path, tab and value (`!EINVAL` where the read fails)."""

import re
from collections.abc import Iterator

from fleet.roce import ACTIVE, RoceDevice, RoceGid, ipv4_of_gid, is_zero

UNREADABLE = "!"
"""Begins a value that could not be read; an unused index fails so on every healthy host (cases/061)."""

_PORT = re.compile(r"/sys/class/infiniband/(?P<device>[^/]+)/ports/(?P<port>[0-9]+)/(?P<name>.+)")
_INDEXED = re.compile(r"(?P<table>gids|gid_attrs/types|gid_attrs/ndevs)/(?P<index>[0-9]+)")
_NETDEV = re.compile(r"/sys/class/infiniband/(?P<device>[^/]+)/device/net/(?P<netdev>[^/]+)")
_PARENT = re.compile(r"/sys/class/infiniband/(?P<device>[^/]+)/parent")
_UEVENT = re.compile(r"/sys/class/infiniband/(?P<device>[^/]+)/device/uevent")
_NUMBERED = re.compile(r"(?P<number>[0-9]+): (?P<name>\S+)")
_RATE = re.compile(r"(?P<gbps>[0-9]+(\.[0-9]+)?) Gb/sec\b.*")
_ACTIVE_MTU = re.compile(
    r"^\s*(?:hca_id:\s*(?P<device>\S+)|port:\s*(?P<port>[0-9]+)|active_mtu:\s*(?P<mtu>[0-9]+)\b.*)\s*$",
    re.MULTILINE,
)

Port = tuple[str, int]


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        path, tab, value = line.partition("\t")
        if line and not tab:
            raise ValueError(f"line {number}: expected path, tab and value, found no tab")
        if line and not value.startswith(UNREADABLE):
            yield path, value.strip()


def _ports(text: str) -> dict[Port, dict[str, str]]:
    """Each port's readable files by name, in the order of device and port number."""
    ports: dict[Port, dict[str, str]] = {}
    for path, value in _lines(text):
        if found := _PORT.fullmatch(path):
            ports.setdefault((found["device"], int(found["port"])), {})[found["name"]] = value
    return dict(sorted(ports.items()))


def parse_roce_devices(text: str, devinfo: str = "") -> tuple[RoceDevice, ...]:
    """Every port, from sysfs lines and, for the path MTU, `ibv_devinfo`; ValueError when partial."""
    netdevs, pci, mtus = _netdevs(text), _pci_addresses(text), active_mtus(devinfo)
    return tuple(
        _device(port, files, netdevs.get(port[0], ()), pci.get(port[0]), mtus.get(port))
        for port, files in _ports(text).items()
    )


def _device(
    port: Port, files: dict[str, str], netdevs: tuple[str, ...], pci: str | None, active_mtu: int | None
) -> RoceDevice:
    state, state_name = _numbered(port, "state", _required(port, files, "state"))
    phys = _numbered(port, "phys_state", files["phys_state"]) if "phys_state" in files else (None, None)
    return RoceDevice(
        device=port[0],
        port=port[1],
        state=state,
        state_name=state_name,
        phys_state=phys[0],
        phys_state_name=phys[1],
        rate_gbps=_rate(files.get("rate", "")) if state == ACTIVE else None,
        link_layer=_required(port, files, "link_layer"),
        netdevs=netdevs,
        active_mtu=active_mtu if state == ACTIVE else None,
        pci=pci,
    )


def _required(port: Port, files: dict[str, str], name: str) -> str:
    if name not in files:
        raise ValueError(f"{port[0]} port {port[1]}: expected {name}, found none")
    return files[name]


def _numbered(port: Port, name: str, value: str) -> tuple[int, str]:
    found = _NUMBERED.fullmatch(value)
    if not found:
        raise ValueError(f"{port[0]} port {port[1]} {name}: expected a number and a name, found {value!r}")
    return int(found["number"]), found["name"]


def _rate(value: str) -> float | None:
    found = _RATE.fullmatch(value)
    return float(found["gbps"]) if found else None


def _netdevs(text: str) -> dict[str, tuple[str, ...]]:
    """The interfaces of each device; a soft-RoCE device names its one interface in `parent` instead."""
    found: dict[str, set[str]] = {}
    for path, value in _lines(text):
        if net := _NETDEV.fullmatch(path):
            found.setdefault(net["device"], set()).add(net["netdev"])
        elif parent := _PARENT.fullmatch(path):
            found.setdefault(parent["device"], set()).add(value)
    return {device: tuple(sorted(names)) for device, names in found.items()}


def _pci_addresses(text: str) -> dict[str, str]:
    slots = ((_UEVENT.fullmatch(path), value) for path, value in _lines(text))
    return {
        uevent["device"]: value.removeprefix("PCI_SLOT_NAME=")
        for uevent, value in slots
        if uevent and value.startswith("PCI_SLOT_NAME=")
    }


def active_mtus(devinfo: str) -> dict[Port, int]:
    """The path MTU in bytes of each port in the output of `ibv_devinfo`."""
    mtus: dict[Port, int] = {}
    device, port = "", 0
    for found in _ACTIVE_MTU.finditer(devinfo):
        if found["device"]:
            device = found["device"]
        elif found["port"]:
            port = int(found["port"])
        else:
            mtus[device, port] = int(found["mtu"])
    return mtus


def parse_roce_gids(text: str) -> tuple[RoceGid, ...]:
    """Every GID in use of every port, in numeric order, from sysfs lines; ValueError when partial.

    The table has holes and is read to its end; `ls` and globs give 0, 1, 10, 11, …, 2 (cases/062, 064).
    """
    return tuple(gid for port, files in _ports(text).items() for gid in _gids(port, files))


def _gids(port: Port, files: dict[str, str]) -> Iterator[RoceGid]:
    state, _ = _numbered(port, "state", _required(port, files, "state"))
    link_layer = _required(port, files, "link_layer")
    tables: dict[str, dict[int, str]] = {}
    for name, value in files.items():
        if found := _INDEXED.fullmatch(name):
            tables.setdefault(found["table"], {})[int(found["index"])] = value
    types, netdevs = tables.get("gid_attrs/types", {}), tables.get("gid_attrs/ndevs", {})
    for index, gid in sorted(tables.get("gids", {}).items()):
        if index in types and not is_zero(gid):
            yield RoceGid(
                device=port[0],
                port=port[1],
                index=index,
                gid=gid,
                type=types[index],
                netdev=netdevs.get(index) or None,
                ipv4=ipv4_of_gid(gid),
                link_layer=link_layer,
                port_active=state == ACTIVE,
            )
