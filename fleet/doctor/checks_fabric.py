"""Checks of the fabric that no plan decides about: the planner's own word is in `planned.py`."""

from collections.abc import Iterator

from fleet.desired import DesiredEnd
from fleet.doctor.check import Found, Host, HostCheck
from fleet.doctor.finding import Level
from fleet.hardware import INTERFACES, twin_of
from fleet.observation import known
from fleet.ownership import Lasting, port_of
from fleet.port_settings import NAMES
from fleet.roce import RoceDevice, common_index, usable_gids

RATE_GBPS = 200.0
"""What a ConnectX-7 of a Spark says of each twin of a 200G link: 4 lanes of HDR (field notes, "Names")."""
PATH_MTU = 4096
"""The RDMA path MTU at a link MTU of 9000 (field notes; 1024 at 1500)."""
JUMBO = 4200
"""The least link MTU, in bytes, at which a path MTU of 4096 fits with RoCE's headers (cases/068)."""


def _lost_at_boot(asked: Host) -> Iterator[Found]:
    desired, seen = asked.desired, asked.seen
    files, connections, links = known(seen.netplan), known(seen.connections), known(seen.links)
    for interface in INTERFACES:
        if desired.end_on(interface) is not None:
            continue
        for claim in port_of(interface, files, connections, links).claims:
            if claim.lasting is Lasting.EPHEMERAL:
                yield Found(
                    f"{desired.name} {interface}",
                    "what is on it to be there after the next boot, or nothing on it",
                    f"{claim.says} ({claim.owner})",
                    f"give the port a rail in the roster, or on the host: ip addr flush dev {interface}",
                )


def _devices(asked: Host) -> Iterator[tuple[DesiredEnd, RoceDevice]]:
    """Each rail end with the real device above it: a soft one has neither a rate nor a place on PCI."""
    for end in asked.desired.rail_ends:
        for device in known(asked.seen.roce_devices):
            if end.interface in device.netdevs and device.is_active:
                yield end, device


def _link_speed(asked: Host) -> Iterator[Found]:
    for end, device in _devices(asked):
        if device.pci is not None and device.rate_gbps is not None and device.rate_gbps < RATE_GBPS:
            yield Found(f"{end} {device.device}", f"{RATE_GBPS:g} Gb/s for {end.joined}", f"{device.rate_gbps:g} Gb/s")


def _path_mtu(asked: Host) -> Iterator[Found]:
    for end, device in _devices(asked):
        if device.active_mtu is not None and end.mtu >= JUMBO and device.active_mtu < PATH_MTU:
            yield Found(f"{end} {device.device}", f"an RDMA path MTU of {PATH_MTU}", str(device.active_mtu))


def _gid_index(asked: Host) -> Iterator[Found]:
    ends, gids = asked.desired.rail_ends, known(asked.seen.roce_gids)
    indices = {end: [gid.index for gid in usable_gids(gids, end.interface, end.address)] for end in ends}
    pairs = [(end.interface, end.address) for end in ends]
    if len(ends) > 1 and all(indices.values()) and common_index(gids, pairs) is None:
        found = ", ".join(f"{min(each)} on {end.interface}" for end, each in indices.items())
        yield Found(f"{asked.desired.name} GIDs", "one index that is right for every rail", found)


def _device_name(asked: Host) -> Iterator[Found]:
    for end in asked.desired.rail_ends:
        expected = twin_of(end.interface)
        above = [each.device for each in known(asked.seen.roce_devices) if end.interface in each.netdevs]
        if expected is not None and above and expected.rdma_device not in above:
            yield Found(str(end), f"the device {expected.rdma_device} above it", ", ".join(sorted(above)))


def _arp(asked: Host) -> Iterator[Found]:
    """Only where two of its own ports hear the same broadcasts: the twins of one cage."""
    settings, ends = known(asked.seen.port_settings), asked.desired.rail_ends
    for end in ends:
        beside = [other for other in ends if other != end and other.twin.cage == end.twin.cage]
        found = {name: settings.effective(end.interface, name) for name in NAMES}
        if beside and found["rp_filter"] not in (None, 1) and not found["arp_ignore"] and not found["arp_filter"]:
            yield Found(
                f"{end} ARP",
                f"arp_ignore 1, since {' and '.join(each.interface for each in beside)} hears the same questions",
                ", ".join(f"{name} {value}" for name, value in found.items()),
                f"sysctl -w net.ipv4.conf.{end.interface}.arp_ignore=1 on the host, and in /etc/sysctl.d",
                level=Level.WARN if len(end.peers) > 1 else None,
            )


FABRIC: tuple[HostCheck, ...] = (
    HostCheck(
        id="fabric.lost_at_boot",
        level=Level.WARN,
        looks_for="An address or a profile on a fabric port without a rail, which is in memory alone.",
        why="It passes every ping today and is gone after the next power cycle; whoever relies on it finds out then. "
        "On a port with a rail the planner says it (`due.write_document`).",
        fix="Give the port a rail in the roster and converge, or take away what is on it.",
        find=_lost_at_boot,
        sections=("netplan", "connections", "links"),
    ),
    HostCheck(
        id="fabric.link_speed",
        level=Level.WARN,
        looks_for="An active RDMA port of a rail that has come up below 200 Gb/s.",
        why="A cable of another kind, or a switch port split or set to another speed, still passes every ping. The "
        "rate is of the link alone: one at 200 Gb/s can be capped near 13 Gb/s, which only `sparks bandwidth` tells.",
        fix="Look at the cable and at the speed of the far port; plug it in anew. Then `sparks bandwidth`.",
        find=_link_speed,
        sections=("roce_devices",),
    ),
    HostCheck(
        id="fabric.path_mtu",
        level=Level.WARN,
        looks_for="A rail with a jumbo MTU whose RDMA device works with a path MTU below 4096.",
        why="RDMA picks its own MTU from that of the link when the port comes up. Where the link's was raised later "
        "the small one may stay, and large messages need four times the packets.",
        fix="Bring the rail's profile up again while nothing uses RDMA: `nmcli connection up NAME` on the host.",
        find=_path_mtu,
        sections=("roce_devices",),
    ),
    HostCheck(
        id="fabric.gid_index",
        level=Level.INFO,
        looks_for="Rails of one Spark whose right GID indices differ.",
        why="One `NCCL_IB_GID_INDEX` counts for all devices of a process, so it must stay unset here, and settings "
        "copied from another Spark fail. `sparks env` leaves it out.",
        fix="Start engines with what `sparks env SPARK` prints; a `gid_index` of the fabric makes them equal.",
        find=_gid_index,
        sections=("roce_gids",),
    ),
    HostCheck(
        id="fabric.device_name",
        level=Level.INFO,
        looks_for="An RDMA device above a rail that has another name than on a DGX Spark.",
        why="Recipes that name `rocep1s0f0` and its like do not find it. What this package prints uses the real names.",
        fix="Take names from `sparks env SPARK`, never from another host's recipe.",
        find=_device_name,
        sections=("roce_devices",),
    ),
    HostCheck(
        id="fabric.arp",
        level=Level.INFO,
        looks_for="Two ports of one Spark that hear the same broadcasts and answer for each other's addresses: the "
        "twins of one cage. On a switch it is a WARN.",
        why="Linux answers an ARP question for any of its addresses on any port, unless `arp_ignore`, `arp_filter` or "
        "a strict `rp_filter` forbids it (ip-sysctl.rst). A peer may then learn the other twin's hardware address, and "
        "RoCE to this one times out.",
        fix="Set `arp_ignore` to 1 for both ports, now and in /etc/sysctl.d.",
        find=_arp,
        sections=("port_settings",),
    ),
)
