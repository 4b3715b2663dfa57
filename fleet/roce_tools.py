"""What the RDMA tools print: `rdma link`, `show_gids` and `ibdev2netdev`. sysfs stays the first source."""

import json
import re
from collections.abc import Iterable

from fleet.links import Link
from fleet.record import Record
from fleet.roce import ROCE_V1, ROCE_V2, RoceGid, ipv4_of_gid, is_zero

NO_RDMA = "Failed to open NETLINK_RDMA socket"
"""What `rdma` says, with nothing on stdout, on a host without the kernel's RDMA core (cases/070)."""

_LINK = re.compile(
    r"link (?P<device>[^/\s]+)/(?P<port>[0-9]+) (?:.* )?state (?P<state>\S+)"
    r" physical_state (?P<physical_state>\S+)(?: netdev (?P<netdev>\S+))?.*"
)
_VERSIONS = {"v1": ROCE_V1, "v2": ROCE_V2}
_IBDEV = re.compile(
    r"(?:(?P<pci>[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])\s+)?(?P<device>\S+)\s+(?:.*\s)?"
    r"port\s+(?P<port>[0-9]+)\s+(?:\((?P<state>\w+)\s*\)\s+)?==>\s+(?P<netdev>\S*)\s*\((?P<netdev_state>\w+)\s*\)\s*"
)


class RdmaLink(Record):
    """One port as `rdma link` shows it; the link layer is not among what it shows."""

    device: str
    port: int
    state: str
    physical_state: str
    netdev: str | None = None
    """None for InfiniBand, and where the interface lives in another network namespace."""
    netdev_index: int | None = None
    """The interface's ifindex; the tool's own `ifindex` counts RDMA devices and is not kept."""


def parse_rdma_link(text: str, stderr: str = "") -> tuple[RdmaLink, ...]:
    """The ports in `rdma -j link`; none where the kernel has no RDMA; ValueError for another output."""
    if not text.strip() and NO_RDMA in stderr:
        return ()
    found = json.loads(text)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError("rdma link: expected a list of objects, found another shape")
    return _sorted(
        RdmaLink(
            device=each["ifname"] if "ifname" in each else _missing("ifname"),
            port=each["port"] if "port" in each else _missing("port"),
            state=each.get("state", "UNKNOWN"),
            physical_state=each.get("physical_state", "UNKNOWN"),
            netdev=each.get("netdev"),
            netdev_index=each.get("netdev_index"),
        )
        for each in found
        if each
    )


def _missing(key: str) -> str:
    raise ValueError(f"rdma link: expected {key}, found none")


def parse_rdma_link_text(text: str) -> tuple[RdmaLink, ...]:
    """The same from `rdma link` without `-j`, whose netdev is a bond's port and not the bond (cases/066)."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    found = [_LINK.fullmatch(line) for line in lines]
    return _sorted(RdmaLink.model_validate(_matched(each).groupdict()) for each in found)


def _matched(found: re.Match[str] | None) -> re.Match[str]:
    if not found:
        raise ValueError("expected a line of the tool's own form, found another")
    return found


def _sorted(links: Iterable[RdmaLink]) -> tuple[RdmaLink, ...]:
    return tuple(sorted(links, key=lambda each: (each.device, each.port)))


def link_of(port: RdmaLink, links: Iterable[Link]) -> Link | None:
    """The network interface of an RDMA port, joined by its netdev; None where the tool names none."""
    return next((link for link in links if port.netdev is not None and link.name == port.netdev), None)


def parse_show_gids(text: str) -> tuple[RoceGid, ...]:
    """The GIDs in `show_gids`, in numeric order; the port's state and link layer are not in it.

    Columns are parted by single tabs and may be empty; its IPv4 column is wrong for `::10.0.0.1` and
    is not read (cases/071).
    """
    rows = (line.split("\t") for line in text.split("\n"))
    gids = [_shown_gid(row) for row in rows if len(row) >= 6 and row[0] not in ("DEV", "---")]
    return tuple(sorted((gid for gid in gids if gid), key=lambda gid: (gid.device, gid.port, gid.index)))


def _shown_gid(row: list[str]) -> RoceGid | None:
    device, port, index, gid, *rest = (cell.strip() for cell in row)
    version = next((place for place, cell in enumerate(rest) if cell in _VERSIONS), None)
    if version is None:
        raise ValueError(f"show_gids: expected v1 or v2 in the row of index {index}, found neither")
    if is_zero(gid):
        return None
    netdev = rest[version + 1] if len(rest) > version + 1 else ""
    return RoceGid(
        device=device,
        port=int(port),
        index=int(index),
        gid=gid,
        type=_VERSIONS[rest[version]],
        netdev=netdev or None,
        ipv4=ipv4_of_gid(gid),
    )


class IbdevNetdev(Record):
    """One line of `ibdev2netdev`, without the serial numbers that `-v` prints."""

    device: str
    port: int
    netdev: str | None = None
    netdev_up: bool
    """The interface's operational state: not the RDMA port's."""
    state: str | None = None
    """The RDMA port's state, which only `-v` prints."""
    pci: str | None = None
    """Only with `-v`."""


def parse_ibdev2netdev(text: str) -> tuple[IbdevNetdev, ...]:
    """The devices in `ibdev2netdev`, with or without `-v`; raises ValueError for a line of another form."""
    lines = [line for line in text.split("\n") if line.strip()]
    found = [_matched(_IBDEV.fullmatch(line.strip())) for line in lines]
    devices = (
        IbdevNetdev(
            device=each["device"],
            port=int(each["port"]),
            netdev=each["netdev"] or None,
            netdev_up=each["netdev_state"].lower() == "up",
            state=each["state"],
            pci=each["pci"],
        )
        for each in found
    )
    return tuple(sorted(devices, key=lambda each: (each.device, each.port)))
