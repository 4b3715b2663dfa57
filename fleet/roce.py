"""A host's RDMA devices and their GID tables as sysfs has them, and which index reaches which address."""

import ipaddress
from collections.abc import Iterable
from typing import Annotated

from fleet.record import VOLATILE, Record

ROCE_V2 = "RoCE v2"
ROCE_V1 = "IB/RoCE v1"
"""Also the type of every GID of an InfiniBand port: only the link layer tells RoCE (cases/067)."""
ETHERNET = "Ethernet"
ACTIVE = 4
"""IB_PORT_ACTIVE; ACTIVE_DEFER, which also begins with ACTIVE, is 5."""


class RoceDevice(Record):
    """One port of one RDMA device."""

    device: str
    port: int
    state: Annotated[int, VOLATILE]
    """1 DOWN, 2 INIT, 3 ARMED, 4 ACTIVE, 5 ACTIVE_DEFER."""
    state_name: Annotated[str, VOLATILE]
    phys_state: Annotated[int | None, VOLATILE] = None
    """2 Polling: no cable; 3 Disabled: administratively down, or no module; 5 LinkUp."""
    phys_state_name: Annotated[str | None, VOLATILE] = None
    rate_gbps: Annotated[float | None, VOLATILE] = None
    """None unless ACTIVE: the rate of a port that is down is a placeholder (cases/068)."""
    link_layer: str
    """Ethernet or InfiniBand."""
    netdevs: tuple[str, ...] = ()
    """The network interfaces of the same hardware, by sysfs; their names are never derived."""
    active_mtu: Annotated[int | None, VOLATILE] = None
    """The RDMA path MTU in bytes (4096 needs a link MTU of 4200 or more); None where no tool could tell."""
    pci: str | None = None
    """`0000:01:00.0`; None for a device without hardware of its own (soft-RoCE)."""

    @property
    def is_roce(self) -> bool:
        """RDMA over Ethernet, and not InfiniBand."""
        return self.link_layer == ETHERNET

    @property
    def is_active(self) -> bool:
        """ACTIVE and nothing less."""
        return self.state == ACTIVE


class RoceGid(Record):
    """One entry in use of a port's GID table."""

    device: str
    port: int
    index: Annotated[int, VOLATILE]
    """Its place, which moves when addresses come and go; never assume one."""
    gid: str
    """Eight groups of four hex digits, as sysfs prints it."""
    type: str
    """`RoCE v2` or `IB/RoCE v1`."""
    netdev: str | None = None
    """The interface whose address it is: a bond or a VLAN where the address lives there (cases/066, 074)."""
    ipv4: str | None = None
    """The address, when the GID is IPv4-mapped; `::10.0.0.1` is not (cases/071)."""
    link_layer: str | None = None
    """Of the port; None where the source does not say."""
    port_active: Annotated[bool | None, VOLATILE] = None
    """Is the port ACTIVE; None where the source does not say."""

    @property
    def comes_and_goes(self) -> bool:
        """Those of IPv6: its link-local address comes with each attempt to bring the interface up."""
        return self.ipv4 is None

    @property
    def key(self) -> tuple[str, str, str | None]:
        """What makes it this GID: the same fe80 GID belongs to an interface and to its VLANs."""
        return self.gid, self.type, self.netdev

    @property
    def is_usable(self) -> bool:
        """Can a RoCE v2 connection over IPv4 start from it now?"""
        on_live_ethernet = self.link_layer == ETHERNET and self.port_active is True
        return on_live_ethernet and self.type == ROCE_V2 and self.netdev is not None and self.ipv4 is not None


def gids_of(gids: Iterable[RoceGid], netdev: str, address: object) -> tuple[RoceGid, ...]:
    """The RoCE v2 GIDs of one address (its prefix may be left out) on one interface, usable now or not."""
    wanted = str(ipaddress.ip_interface(str(address)).ip)
    found = [gid for gid in gids if gid.type == ROCE_V2 and gid.netdev == netdev and gid.ipv4 == wanted]
    return tuple(sorted(found, key=lambda gid: (gid.device, gid.port, gid.index)))


def usable_gids(gids: Iterable[RoceGid], netdev: str, address: object) -> tuple[RoceGid, ...]:
    """The usable GIDs of one address (its prefix may be left out) on one interface, lowest first."""
    return tuple(gid for gid in gids_of(gids, netdev, address) if gid.is_usable)


def common_index(gids: Iterable[RoceGid], ends: Iterable[tuple[str, object]]) -> int | None:
    """The lowest index that is right for every end (interface, address); None when the devices disagree.

    None also where an end has no usable GID. One NCCL_IB_GID_INDEX serves all devices of a process, so
    where this is None it must be left unset (cases/062).
    """
    table = tuple(gids)
    choices = [{gid.index for gid in usable_gids(table, netdev, address)} for netdev, address in ends]
    return min(set.intersection(*choices), default=None) if choices else None


def ipv4_of_gid(gid: str) -> str | None:
    """The IPv4 address that a GID maps (`::ffff:a.b.c.d`); None when it maps none; ValueError for no GID."""
    mapped = ipaddress.IPv6Address(gid).ipv4_mapped
    return None if mapped is None else str(mapped)


def is_zero(gid: str) -> bool:
    """An unused index reads as all zeros (cases/061)."""
    return int(ipaddress.IPv6Address(gid)) == 0
