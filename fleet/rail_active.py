"""Is a rail end active: the kernel and NetworkManager have now what the document says."""

from typing import Literal

from fleet.adopted import UNSET_MTU, kept_by
from fleet.connections import Connections, Networking
from fleet.desired import DesiredEnd
from fleet.keeper import BringUp, Keeper
from fleet.link_route import LinkRoute
from fleet.links import Link, canonical_cidr, find_link
from fleet.observation import Observation, known
from fleet.port import kept_down, no_carrier, port_missing
from fleet.rail_gid import RenewGid, gid_step, rdma_in_use
from fleet.refusal import Refusal
from fleet.roce import RoceDevice
from fleet.unread import unread_profile

SECTIONS = ("links", "connections", "roce_devices", "roce_gids")
"""The sections of an observation that this decision rests on."""


class Activate(BringUp):
    """Bring a profile up because kernel and NetworkManager differ from what it says."""

    kind: Literal["activate"] = "activate"


def active_step(end: DesiredEnd, seen: Observation) -> Activate | RenewGid | Refusal | None:
    """What makes the end active: a step, None when it is, or why bringing it up cannot help, or must not be done."""
    if blind := seen.unobserved(*SECTIONS, *(("netplan",) if end.declared.adopted else ())):
        return blind
    kept = kept_by(end, seen)
    if isinstance(kept, Refusal):
        return kept
    link = find_link(known(seen.links), end.interface)
    if link is None:
        return port_missing(end, seen)
    refusal = (
        unread_profile(end.spark, end.interface, known(seen.connections), end.declared.revert)
        or cannot_come_up(end.spark, link, known(seen.connections))
        or no_carrier(end, link)
        or kept_down(end, known(seen.connections))
        or _no_roce_device(end, known(seen.roce_devices))
    )
    if refusal is not None:
        return refusal
    keeper = Keeper.of(end, kept)
    step = _activate(end, keeper, link, known(seen.connections)) or gid_step(end, keeper, seen)
    return (rdma_in_use(end, seen) or step) if isinstance(step, BringUp) else step


def active_difference(end: DesiredEnd, seen: Observation) -> Refusal | None:
    """What still differs after bringing the end up, as a refusal to call it done; None when nothing does."""
    match active_step(end, seen):
        case Activate() as step if not _is_up(end, seen):
            return Refusal(code="port_down", subject=step.subject, expected="its port up", found="it down again",
                           hint="something on the host sets it down: look at its journal")  # fmt: skip
        case BringUp() as step:
            return Refusal(code="not_active", subject=step.subject, expected=step.after, found=step.before)
        case outcome:
            return outcome


def _is_up(end: DesiredEnd, seen: Observation) -> bool:
    link = find_link(known(seen.links), end.interface)
    return link is not None and link.up


def _activate(end: DesiredEnd, keeper: Keeper, link: Link, connections: Connections) -> Activate | None:
    differences = _differences(end, keeper, link, connections)
    if not differences:
        return None
    return Activate(
        subject=str(end),
        before=", ".join(found for _, found in differences),
        after=", ".join(expected for expected, _ in differences),
        reason="the kernel and NetworkManager must have now what the document says",
        interface=end.interface,
        keeper=keeper,
    )


def cannot_come_up(spark: str, link: Link, connections: Connections) -> Refusal | None:
    """A refusal where NetworkManager brings no profile up on a link, whatever it says."""
    subject = f"{spark} {link.name}"
    if not connections.running or connections.networking is Networking.DISABLED:
        found = "it stopped" if not connections.running else "networking switched off"
        return Refusal(code="networkmanager_off", subject=f"{spark} NetworkManager", expected="it running",
                       found=found)  # fmt: skip
    device = connections.device(link.name)
    if device is None or device.state == "unmanaged":
        found = "no such device" if device is None else "the device unmanaged"
        return Refusal(code="unmanaged", subject=subject, expected="NetworkManager to manage it", found=found)
    return None


def _no_roce_device(end: DesiredEnd, devices: tuple[RoceDevice, ...]) -> Refusal | None:
    if any(end.interface in device.netdevs and device.is_roce for device in devices):
        return None
    return Refusal(
        code="roce_device_missing",
        subject=str(end),
        expected=f"an RDMA device above it, as {end.twin.rdma_device}",
        found=", ".join(sorted(device.device for device in devices)) or "no RDMA device at all",
    )


def _differences(end: DesiredEnd, keeper: Keeper, link: Link, connections: Connections) -> list[tuple[str, str]]:
    """Pairs (expected, found) of everything that is not yet as the document says."""
    pairs = [
        ("port up", "port up" if link.up else "port down"),
        (f"addresses {canonical_cidr(str(end.address))}", f"addresses {' '.join(link.ipv4) or 'none'}"),
        (f"mtu {end.mtu}", f"mtu {link.mtu}"),
        (f"routes {_routes(_wanted(end, link))}", f"routes {_routes(link.routes)}"),
        (f"{keeper.name} up", _profile(end, keeper, connections)),
    ]
    return [(expected, found) for expected, found in pairs if expected != found]


def _wanted(end: DesiredEnd, link: Link) -> tuple[LinkRoute, ...]:
    """The routes of the document; a file of somebody else's may have more, and those stay."""
    own = tuple(LinkRoute(to=route.to, via=str(route.via)) for route in end.routes)
    return own + (link.routes if end.declared.adopted else ())


def _routes(routes: tuple[LinkRoute, ...]) -> str:
    return ", ".join(sorted({f"{route.to} via {route.via}" for route in routes})) or "none"


def _profile(end: DesiredEnd, keeper: Keeper, connections: Connections) -> str:
    wanted = keeper.profile(connections)
    if wanted is None or not wanted.is_active or wanted.device != end.interface:
        other = connections.active_profile(end.interface)
        return f"{other.name} up" if other else "no profile up"
    stored = wanted.settings
    if stored is not None and (
        (stored.mtu or UNSET_MTU) != end.mtu or stored.ipv4_addresses != (canonical_cidr(str(end.address)),)
    ):
        return f"{keeper.name} up with older settings"
    return f"{keeper.name} up"
