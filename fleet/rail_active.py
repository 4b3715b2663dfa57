"""Is a rail end active: the kernel and NetworkManager have now what the document says."""

from typing import Literal, Self

from fleet.adopted import UNSET_MTU, Kept, kept_by
from fleet.connections import Connections, Networking, Profile
from fleet.desired import DesiredEnd
from fleet.keyfile import RUN_DIRECTORY
from fleet.links import Link, canonical_cidr, find_link
from fleet.observation import Observation, known
from fleet.rail_document import document_for, interface_missing
from fleet.record import Record
from fleet.refusal import Refusal
from fleet.roce import RoceDevice, usable_gids
from fleet.step import Effect, Step
from fleet.unread import unread_profile

SECTIONS = ("links", "connections", "roce_devices", "roce_gids")
"""The sections of an observation that this decision rests on."""


class Activate(Step):
    """Bring one profile up and nothing else: the management connection is left alone."""

    kind: Literal["activate"] = "activate"
    effect: Effect = Effect.ACTIVATE
    interface: str
    uuid: str | None
    """The profile's; None where an adopted file has given it none, and the profile is found by its file."""
    profile_file: str
    """Where NetworkManager has it once netplan has generated it."""


class Keeper(Record):
    """The profile that gives a rail's port its address: of our document, or of an adopted file."""

    name: str
    uuid: str | None
    profile_file: str

    @classmethod
    def of(cls, end: DesiredEnd, kept: Kept | None) -> Self:
        """The adopted file's where there is one, else our own."""
        if kept is not None:
            return cls(name=f"the profile of {kept.path}", uuid=None, profile_file=kept.profile_file)
        uuid = document_for(end).uuid
        return cls(name="our profile", uuid=uuid, profile_file=f"{RUN_DIRECTORY}/netplan-NM-{uuid}.nmconnection")

    def profile(self, connections: Connections) -> Profile | None:
        """The profile as NetworkManager has it loaded."""
        if self.uuid is not None:
            return connections.profile(self.uuid)
        return next((each for each in connections.profiles if each.filename == self.profile_file), None)


def active_step(end: DesiredEnd, seen: Observation) -> Activate | Refusal | None:
    """What makes the end active: a step, None when it is, or why bringing it up cannot help."""
    if blind := seen.unobserved(*SECTIONS, *(("netplan",) if end.declared.adopted else ())):
        return blind
    kept = kept_by(end, seen)
    if isinstance(kept, Refusal):
        return kept
    keeper = Keeper.of(end, kept)
    link = find_link(known(seen.links), end.interface)
    if link is None:
        return interface_missing(end.spark, end.interface, known(seen.links))
    refusal = (
        unread_profile(end.spark, end.interface, known(seen.connections), end.declared.revert)
        or cannot_come_up(end.spark, link, known(seen.connections))
        or _no_roce_device(end, known(seen.roce_devices))
    )
    if refusal is not None:
        return refusal
    differences = _differences(end, keeper, link, known(seen.connections))
    if not differences:
        return gid_missing(end, seen)
    return Activate(
        subject=f"{end.spark} {end.interface}",
        before=", ".join(found for _, found in differences),
        after=", ".join(expected for expected, _ in differences),
        reason="the kernel and NetworkManager must have now what the document says",
        interface=end.interface,
        uuid=keeper.uuid,
        profile_file=keeper.profile_file,
    )


def active_difference(end: DesiredEnd, seen: Observation) -> Refusal | None:
    """What still differs after bringing the end up, as a refusal to call it done; None when nothing does."""
    match active_step(end, seen):
        case Activate() as step:
            return Refusal(code="not_active", subject=step.subject, expected=step.after, found=step.before)
        case outcome:
            return outcome


def gid_missing(end: DesiredEnd, seen: Observation) -> Refusal | None:
    """A refusal where no RoCE v2 GID carries the end's address; RDMA would find no way to it."""
    if usable_gids(known(seen.roce_gids), end.interface, end.address):
        return None
    return Refusal(
        code="gid_missing",
        subject=f"{end.spark} {end.interface}",
        expected=f"a RoCE v2 GID for {end.address.ip}",
        found="none in the device's table",
        hint="take the interface down and up while nothing uses RDMA",
    )


def cannot_come_up(spark: str, link: Link, connections: Connections) -> Refusal | None:
    """A refusal where no profile can come up on a link, whatever it says."""
    subject = f"{spark} {link.name}"
    if not connections.running or connections.networking is Networking.DISABLED:
        found = "it stopped" if not connections.running else "networking switched off"
        return Refusal(code="networkmanager_off", subject=f"{spark} NetworkManager", expected="it running",
                       found=found)  # fmt: skip
    device = connections.device(link.name)
    if device is None or device.state == "unmanaged":
        found = "no such device" if device is None else "the device unmanaged"
        return Refusal(code="unmanaged", subject=subject, expected="NetworkManager to manage it", found=found)
    if link.up and not link.carrier:
        return Refusal(code="no_carrier", subject=subject, expected="a live cable", found="no carrier")
    return None


def _no_roce_device(end: DesiredEnd, devices: tuple[RoceDevice, ...]) -> Refusal | None:
    if any(end.interface in device.netdevs and device.is_roce for device in devices):
        return None
    return Refusal(
        code="roce_device_missing",
        subject=f"{end.spark} {end.interface}",
        expected=f"an RDMA device above it, as {end.twin.rdma_device}",
        found=", ".join(sorted(device.device for device in devices)) or "no RDMA device at all",
    )


def _differences(end: DesiredEnd, keeper: Keeper, link: Link, connections: Connections) -> list[tuple[str, str]]:
    """Pairs (expected, found) of everything that is not yet as the document says."""
    pairs = [
        (f"addresses {canonical_cidr(str(end.address))}", f"addresses {' '.join(link.ipv4) or 'none'}"),
        (f"mtu {end.mtu}", f"mtu {link.mtu}"),
        (f"{keeper.name} up", _profile(end, keeper, connections)),
    ]
    return [(expected, found) for expected, found in pairs if expected != found]


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
