"""Is a rail end durable: its document under /etc/netplan, byte for byte, and nobody else's for that port."""

from typing import Literal

from fleet.connections import Connections, Profile
from fleet.desired import DesiredEnd, DesiredSpark
from fleet.hardware import INTERFACES
from fleet.links import Link, find_link
from fleet.netplan.device import NetplanFile
from fleet.netplan.document import NetplanDocument, rail_document, rail_uuid
from fleet.netplan.effective import binding, durable_files_for
from fleet.observation import Observation, known
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.step import Effect, Step


class WriteDocument(Step):
    """Make one netplan document durable."""

    kind: Literal["write_document"] = "write_document"
    effect: Effect = Effect.WRITE
    document: NetplanDocument


def document_for(end: DesiredEnd) -> NetplanDocument:
    """The document that makes a rail end durable."""
    return rail_document(end.spark, end.interface, end.address, end.mtu, end.routes)


def document_step(end: DesiredEnd, seen: Observation) -> WriteDocument | Refusal | None:
    """What makes the end's document durable: a step, None when it is, or why it must not be touched."""
    if blind := seen.unobserved("netplan", "links", "connections"):
        return blind
    files, links, connections = known(seen.netplan), known(seen.links), known(seen.connections)
    document = document_for(end)
    refusal = (
        interface_missing(end, links)
        or _unreadable(end.spark, files)
        or _undeclared_file(end, document, files, links)
        or _undeclared_profile(end, document, connections)
    )
    if refusal is not None:
        return refusal
    found = next((file for file in files if file.path == document.path), None)
    if found is not None and _is_durable(found, document):
        return None
    return WriteDocument(
        subject=f"{end.spark} {document.path}",
        before=_shown(found),
        after=f"{document.content_digest} {document.mode:04o} root",
        reason=_why(end, links, connections),
        document=document,
    )


def interface_missing(end: DesiredEnd, links: tuple[Link, ...]) -> Refusal | None:
    """A refusal where the host has no such interface. A ConnectX-7 can leave PCI when no cable is in."""
    if find_link(links, end.interface) is not None:
        return None
    return Refusal(
        code="interface_missing",
        subject=f"{end.spark} {end.interface}",
        expected="the interface on the host",
        found=f"only {', '.join(sorted(link.name for link in links))}",
    )


def _unreadable(spark: str, files: tuple[NetplanFile, ...]) -> Refusal | None:
    """Netplan reads all of a directory or nothing: one bad file stops every other, a foreign one too."""
    bad = next((file for file in files if file.error is not None and file.shadowed_by is None), None)
    if bad is None:
        return None
    return Refusal(
        code="netplan_unreadable",
        subject=f"{spark} {bad.path}",
        expected="a file that netplan can read",
        found=str(bad.error),
        hint="mend or move that file; netplan refuses the whole directory for it",
    )


def _undeclared_file(
    end: DesiredEnd, document: NetplanDocument, files: tuple[NetplanFile, ...], links: tuple[Link, ...]
) -> Refusal | None:
    """A file that binds the port now, or one under /etc that /run hides until the next boot."""
    link = find_link(links, end.interface)
    mac = None if link is None else link.permanent_mac or link.mac
    now = [file.path for file, _ in binding(files, end.interface, mac)]
    later = [file.path for file in durable_files_for(files, end.interface, mac)]
    foreign = next((path for path in [*now, *later] if path != document.path), None)
    if foreign is None:
        return None
    return Refusal(
        code="undeclared_netplan",
        subject=f"{end.spark} {end.interface}",
        expected="no netplan file for it but ours",
        found=foreign,
        hint=f"move {foreign} away on the host, or take this rail out of the roster",
    )


def leftover_documents(desired: DesiredSpark, seen: Observation) -> tuple[Refusal, ...]:
    """A refusal for each document of ours on a port that has no rail any more: it comes back at every boot."""
    if isinstance(seen.netplan, Unobserved):
        return ()
    unused = [interface for interface in INTERFACES if desired.end_on(interface) is None]
    ours = {f"/etc/netplan/90-NM-{rail_uuid(desired.name, interface)}.yaml": interface for interface in unused}
    return tuple(
        Refusal(
            code="leftover_document",
            subject=f"{desired.name} {ours[file.path]}",
            expected="no document where the roster has no rail",
            found=file.path,
            hint=f"remove {file.path} on the host and run netplan generate, or put the rail back into the roster",
        )
        for file in seen.netplan
        if file.path in ours
    )


def _undeclared_profile(end: DesiredEnd, document: NetplanDocument, connections: Connections) -> Refusal | None:
    """A lasting profile of another owner would compete with ours for the port at the next boot."""
    for profile in connections.profiles:
        if profile.uuid != document.uuid and profile.survives_reboot and _is_on(profile, end.interface):
            return Refusal(
                code="undeclared_profile",
                subject=f"{end.spark} {end.interface}",
                expected="no lasting NetworkManager profile for it but ours",
                found=f"{profile.name} ({profile.uuid}) in {profile.filename}",
                hint=f"nmcli connection delete {profile.uuid} on the host, or take this rail out of the roster",
            )
    return None


def _is_on(profile: Profile, interface: str) -> bool:
    """Profiles that netplan generated are judged by their netplan files instead."""
    if profile.storage == "netplan":
        return False
    return profile.device == interface or (profile.stored is not None and profile.stored.interface == interface)


def _is_durable(found: NetplanFile, document: NetplanDocument) -> bool:
    is_private = found.mode == document.mode and found.owner == "root"
    return is_private and found.content_digest == document.content_digest


def _shown(found: NetplanFile | None) -> str:
    if found is None:
        return "absent"
    mode = "unreadable" if found.mode is None else f"{found.mode:04o}"
    return f"{found.content_digest} {mode} {found.owner}"


def _why(end: DesiredEnd, links: tuple[Link, ...], connections: Connections) -> str:
    """Says so where the address works today: that is what people believe to be enough."""
    link = find_link(links, end.interface)
    works = link is not None and link.has_address(end.address)
    if works and not connections.keeps_address(end.interface, end.address):
        return f"{end.address} is on {end.interface} but not durable: it is lost at the next power cycle"
    return f"{end.address} on {end.interface} must survive a power cycle"
