"""Who touches a fabric port: every file, profile and address, by owner, and whether it is there after a reboot."""

from collections.abc import Iterable, Iterator
from enum import StrEnum

from fleet import owners
from fleet.connections import Connections, Profile
from fleet.handmade import hand_made
from fleet.hardware import INTERFACES
from fleet.keyfile import Keyfile, NetplanKeyfile, Storage
from fleet.links import Link, find_link
from fleet.netplan.device import NetplanDevice, NetplanFile
from fleet.netplan.effective import binds_it
from fleet.netplan.records import ErrorKind
from fleet.record import Digest, Record, Unobserved

WIRED = ("ethernet", "802-3-ethernet")
NAME_OF_OURS = "sparks-"
"""How the profiles in our own documents are called, before the interface."""


class Lasting(StrEnum):
    """Is it there after the next boot?"""

    PERSISTENT = "persistent"
    EPHEMERAL = "ephemeral"
    UNKNOWN = "unknown"
    """It lasts, and whether it takes this port cannot be told from what may leave the host."""


class Claim(Record):
    """One thing that configures a port."""

    owner: str
    lasting: Lasting
    name: str
    """The id of a netplan definition, or the profile's name."""
    file: str | None = None
    """Where it is written; None for what is in memory alone."""
    line: int | None = None
    content_digest: Digest | None = None
    addresses: tuple[str, ...] = ()
    mtu: int | None = None
    dhcp: bool = False
    routes: tuple[tuple[str, str | None], ...] = ()
    """Destination and gateway of each static route; of a keyfile they are not read."""
    is_bound: bool = True
    """Does it name the port, by its interface or hardware address? A keyfile that does not may go to another."""
    hidden_by: str | None = None
    """The file under /run that is read in its place until the next boot."""

    @property
    def says(self) -> str:
        """What it sets, in a few words."""
        parts = [*self.addresses, *(["DHCP"] if self.dhcp else []), *([f"mtu {self.mtu}"] if self.mtu else [])]
        return ", ".join(parts) or "no address"


class Port(Record):
    """One of the four ports and all that touches it."""

    interface: str
    present: bool
    """False where the host has no such interface now: its files are there all the same."""
    claims: tuple[Claim, ...]


class Ports(Record):
    """The four ports of a host, in the order of `INTERFACES`, always all of them."""

    ports: tuple[Port, ...]
    leftovers: tuple[str, ...] = ()
    """Files that NVIDIA Sync has put out of netplan's way; nothing reads them."""

    def port(self, interface: str) -> Port:
        """One of the four; raises KeyError for any other interface."""
        return {port.interface: port for port in self.ports}[interface]


def ports(
    files: Iterable[NetplanFile], connections: Connections, links: Iterable[Link], leftovers: Iterable[str] = ()
) -> Ports:
    """Every port of a host, from three looks at it."""
    files, links = tuple(files), tuple(links)
    found = tuple(port_of(interface, files, connections, links) for interface in INTERFACES)
    return Ports(ports=found, leftovers=tuple(sorted(leftovers)))


def port_of(interface: str, files: tuple[NetplanFile, ...], connections: Connections, links: tuple[Link, ...]) -> Port:
    """One port of a host."""
    link = find_link(links, interface)
    mac = None if link is None else link.own_mac
    claims = [
        *_of_netplan(files, interface, mac, link is not None),
        *_of_keyfiles(connections, interface, mac),
        *_of_profiles(files, connections, interface, mac),
    ]
    by_hand = () if link is None else hand_made(link, files, connections)
    if link is not None and by_hand:
        claims.append(
            Claim(owner=owners.HAND_MADE, lasting=Lasting.EPHEMERAL, name=interface, addresses=by_hand, mtu=link.mtu)
        )
    return Port(interface=interface, present=link is not None, claims=tuple(claims))


def _of_netplan(files: tuple[NetplanFile, ...], interface: str, mac: str | None, present: bool) -> Iterator[Claim]:
    """What is bound by a hardware address or a driver is no claim to a port that is not there."""
    for file in files:
        if file.error is not None and file.error.kind is not ErrorKind.REJECTED:
            yield Claim(owner=owners.owner_of(file.path), lasting=Lasting.UNKNOWN, name=str(file.error), file=file.path)
        elif counts(file):
            yield from (
                _definition(file, device)
                for device in file.devices
                if binds_it(device, interface, mac) and (present or device.binds.is_certain)
            )


def counts(file: NetplanFile) -> bool:
    """Is it read now, or at the next boot, once the file under /run that hides it is gone?"""
    return file.shadowed_by is None or file.shadowed_by.startswith("/run/")


def _definition(file: NetplanFile, device: NetplanDevice) -> Claim:
    ours = file.name.startswith("90-NM-") and (device.profile or "").startswith(NAME_OF_OURS)
    return Claim(
        owner=owners.OURS if ours else owners.owner_of(file.path),
        lasting=Lasting.PERSISTENT if file.durable else Lasting.EPHEMERAL,
        name=device.id,
        file=file.path,
        line=device.line,
        content_digest=file.content_digest,
        addresses=device.addresses,
        mtu=device.mtu,
        dhcp=device.dhcp4,
        routes=tuple((route.to, route.via) for route in device.routes),
        hidden_by=file.shadowed_by,
    )


def _of_keyfiles(connections: Connections, interface: str, mac: str | None) -> Iterator[Claim]:
    active = connections.active_profile(interface)
    for keyfile in connections.keyfiles:
        lasting = _takes(keyfile, interface, mac, active)
        if lasting is not None:
            yield _of_keyfile(keyfile, lasting)


def _of_keyfile(keyfile: Keyfile, lasting: Lasting) -> Claim:
    settings, digest = keyfile.settings, keyfile.content_digest
    if isinstance(settings, Unobserved):
        return Claim(owner=owners.PERSON, lasting=lasting, name=settings.reason, file=keyfile.path,
                     content_digest=digest, is_bound=False)  # fmt: skip
    return Claim(
        owner=owners.PERSON,
        lasting=lasting,
        name=keyfile.name,
        file=keyfile.path,
        content_digest=digest,
        addresses=settings.ipv4_addresses,
        mtu=settings.mtu,
        dhcp=settings.ipv4_method == "auto",
        is_bound=bool(settings.interface or settings.mac),
    )


def _takes(keyfile: Keyfile, interface: str, mac: str | None, active: Profile | None) -> Lasting | None:
    """Does the file take this port? A wired profile that names no device takes any that is free."""
    settings = keyfile.settings
    if active is not None and active.filename == keyfile.path:
        return Lasting.PERSISTENT
    if isinstance(settings, Unobserved):
        return Lasting.UNKNOWN if keyfile.type in ("", *WIRED) else None
    if settings.interface or settings.mac:
        named = settings.interface in (None, interface) and (settings.mac is None or settings.mac == mac)
        return Lasting.PERSISTENT if named else None
    return Lasting.UNKNOWN if keyfile.type in WIRED else None


def _of_profiles(
    files: tuple[NetplanFile, ...], connections: Connections, interface: str, mac: str | None
) -> Iterator[Claim]:
    """Profiles whose file is not one of those above: what a boot takes away."""
    kept = {keyfile.path for keyfile in connections.keyfiles}
    for profile in connections.profiles:
        if profile.filename in kept or not _is_on(profile, interface, mac) or connections.is_mirror(profile):
            continue
        if profile.storage is Storage.NETPLAN and origin_of(profile, files) is not None:
            continue
        stored = profile.settings
        yield Claim(
            owner=_temporary_owner(profile),
            lasting=Lasting.EPHEMERAL,
            name=profile.name,
            file=profile.filename,
            addresses=stored.ipv4_addresses if stored else (),
            mtu=stored.mtu if stored else None,
            dhcp=stored is not None and stored.ipv4_method == "auto",
        )


def origin_of(profile: Profile, files: Iterable[NetplanFile]) -> str | None:
    """The id of the netplan definition that a profile was generated from; None where no file has it."""
    ids = {device.id for file in files if file.shadowed_by is None for device in file.devices}
    found = NetplanKeyfile.from_path(profile.filename or "", ids)
    return found.id if found is not None and found.id in ids else None


def _temporary_owner(profile: Profile) -> str:
    if profile.storage.survives_reboot:
        return owners.STALE
    return owners.AUTO if profile.generated else owners.TEMPORARY


def _is_on(profile: Profile, interface: str, mac: str | None) -> bool:
    stored = profile.settings
    bound = stored is not None and (stored.interface == interface or (stored.mac is not None and stored.mac == mac))
    return profile.device == interface or bound
