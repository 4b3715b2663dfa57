"""Has a rail end the RoCE GID that it must have; and may its interface be taken down while RDMA is in use."""

from typing import ClassVar, Literal

from fleet.desired import DesiredEnd
from fleet.keeper import BringUp, Keeper
from fleet.observation import Observation, known
from fleet.rdma_use import users_of
from fleet.refusal import Refusal
from fleet.roce import RoceDevice, RoceGid, gids_of, usable_gids


class RenewGid(BringUp):
    """Take the end's address away and bring its profile up again: the kernel then makes its GID anew."""

    stands_for: ClassVar[frozenset[str]] = frozenset({"activate"})
    """A profile that came up by itself has brought the address, and maybe no GID yet."""

    kind: Literal["renew_gid"] = "renew_gid"


def gid_step(end: DesiredEnd, keeper: Keeper, seen: Observation) -> RenewGid | Refusal | None:
    """What gives the end a usable GID at its index; None when it has one, or why that cannot be had.

    An entry stays where it was while RDMA holds it, and its address then gets another one (3 became 4 on a link
    that went away for a moment, field-notes). New entries take the first free place.
    """
    gids = known(seen.roce_gids)
    usable = usable_gids(gids, end.interface, end.address)
    if usable and end.gid_index in (None, *(gid.index for gid in usable)):
        return None
    rows = gids_of(gids, end.interface, end.address)
    if rows and not usable:
        return _inactive(end, rows)
    if refusal := _taken(end, gids, known(seen.roce_devices)):
        return refusal
    return RenewGid(
        subject=str(end),
        before=", ".join(f"GID index {gid.index}" for gid in usable) or "no RoCE v2 GID",
        after=f"a RoCE v2 GID for {end.address.ip}{_at(end)}",
        reason="without it RDMA finds no way over this rail" if not usable else "the roster declares its index",
        interface=end.interface,
        keeper=keeper,
    )


def rdma_in_use(end: DesiredEnd, seen: Observation) -> Refusal | None:
    """A refusal while somebody works with the device above the end: its GIDs must not go away under them."""
    if blind := seen.unobserved("rdma_use"):
        return blind
    devices = _devices_above(end, known(seen.roce_devices))
    users = users_of(known(seen.rdma_use), devices)
    if not users:
        return None
    return Refusal(
        code="rdma_in_use",
        subject=str(end),
        expected=f"nobody to use {', '.join(devices)} while its interface goes down and up",
        found=", ".join(map(str, users)),
        hint="stop what uses it on the host, then run this again",
    )


def _devices_above(end: DesiredEnd, devices: tuple[RoceDevice, ...]) -> tuple[str, ...]:
    return tuple(each.device for each in devices if end.interface in each.netdevs)


def _at(end: DesiredEnd) -> str:
    return "" if end.gid_index is None else f" at index {end.gid_index}"


def _inactive(end: DesiredEnd, rows: tuple[RoceGid, ...]) -> Refusal:
    return Refusal(
        code="gid_missing",
        subject=str(end),
        expected=f"a usable RoCE v2 GID for {end.address.ip}",
        found=f"{rows[0].device} port {rows[0].port} not ACTIVE",
        hint="look at rdma link on the host; the port follows its interface within a second",
    )


def _taken(end: DesiredEnd, gids: tuple[RoceGid, ...], devices: tuple[RoceDevice, ...]) -> Refusal | None:
    """Another GID at the declared index stays there whatever we do with ours."""
    above = _devices_above(end, devices)
    own = str(end.address.ip)
    other = next((g for g in gids if g.device in above and g.index == end.gid_index and g.ipv4 != own), None)
    if other is None:
        return None
    return Refusal(
        code="gid_index_taken",
        subject=str(end),
        expected=f"GID index {end.gid_index} for {own}",
        found=f"{other.ipv4 or other.gid} ({other.type}) there",
        hint="declare another gid_index for the fabric, or take away what holds that one",
    )
