"""Is the management connection as the roster has it: its file alone under /etc, and active."""

from fleet.desired import DesiredSpark
from fleet.foreign import both_ways
from fleet.guard import GuardedChange, ToUp
from fleet.links import Link, find_link
from fleet.management_active import SECTIONS, Pairs, active_differences, interface_missing
from fleet.mixed import renderer_rests_on
from fleet.netplan.device import NetplanFile
from fleet.netplan.document import NetplanDocument
from fleet.netplan.effective import binds_it
from fleet.netplan.management import management_document
from fleet.observation import Observation, known
from fleet.ownership import Claim, Lasting, port_of
from fleet.rail_active import cannot_come_up
from fleet.rail_document import is_durable, shown_file, unreadable
from fleet.refusal import Refusal
from fleet.undoing import undoing
from fleet.unread import unread_profile


def management_step(desired: DesiredSpark, seen: Observation) -> GuardedChange | Refusal | None:
    """What makes the connection so: a change under guard, None when it is, or why it must not be touched."""
    wanted, host = desired.spark.management, desired.name
    if not wanted.is_ours:
        return None
    if blind := seen.unobserved(*SECTIONS):
        return blind
    files = known(seen.netplan)
    link = find_link(known(seen.links), wanted.interface)
    if link is None:
        return interface_missing(host, wanted.interface, known(seen.links))
    document = management_document(host, wanted)
    leaving = tuple(file for file in files if file.path in leaves_with_management(desired, seen))
    refusal = (
        unreadable(host, files)
        or unread_profile(host, link.name, known(seen.connections))
        or _undeclared(desired, document, seen)
        or next((no for file in leaving if (no := _must_stay(host, file, link, seen)) is not None), None)
    )
    if refusal is not None:
        return refusal
    differences = _on_disk(document, leaving, files) + active_differences(host, wanted, seen)
    if not differences:
        return None
    refusal = cannot_come_up(host, link, known(seen.connections)) or _no_cable(host, link)
    return refusal or _change(desired, document, link, leaving, seen)


def _no_cable(host: str, link: Link) -> Refusal | None:
    if link.carrier or not link.up:
        return None
    return Refusal(code="no_carrier", subject=f"{host} {link.name}", expected="a live cable", found="no carrier")


def leaves_with_management(desired: DesiredSpark, seen: Observation) -> frozenset[str]:
    """The netplan files under /etc that the roster reverts and that make the management connection now.

    They go in one change with what comes instead; none where the roster does not say what that is. The sections
    netplan, links and connections must have been observed.
    """
    if not desired.spark.management.is_ours:
        return frozenset()
    found = {claim.file for claim in _claims(desired, seen) if claim.file is not None}
    return frozenset(path for path in found & set(desired.spark.revert) if path.startswith("/etc/netplan/"))


def _claims(desired: DesiredSpark, seen: Observation) -> tuple[Claim, ...]:
    files, connections, links = known(seen.netplan), known(seen.connections), known(seen.links)
    return port_of(desired.spark.management.interface, files, connections, links).claims


def _change(
    desired: DesiredSpark,
    document: NetplanDocument,
    link: Link,
    leaving: tuple[NetplanFile, ...],
    seen: Observation,
) -> GuardedChange | Refusal:
    files = known(seen.netplan)
    differences = _on_disk(document, leaving, files) + active_differences(desired.name, desired.spark.management, seen)
    spark, up = desired.spark, ToUp(uuid=document.uuid, interface=link.name)
    back = undoing(desired.name, link, up, seen)
    if isinstance(back, Refusal):
        return back
    found = next((file for file in files if file.path == document.path), None)
    address = spark.management.address
    return GuardedChange(
        subject=f"{desired.name} {link.name}",
        before=", ".join(found for _, found in differences),
        after=", ".join(expected for expected, _ in differences),
        reason=f"SSH comes in over it: undone after {spark.guard_seconds} s unless a fresh connection confirms it",
        documents=() if found is not None and is_durable(found, document) else (document,),
        removed=tuple(file.path for file in leaving),
        profiles=(up,),
        undoing=(back,),
        window_seconds=spark.guard_seconds,
        reach=() if address is None else (str(address.ip),),
    )


def _on_disk(document: NetplanDocument, leaving: tuple[NetplanFile, ...], files: tuple[NetplanFile, ...]) -> Pairs:
    found = next((file for file in files if file.path == document.path), None)
    pairs: Pairs = []
    if found is None or not is_durable(found, document):
        pairs.append((f"{document.path} {document.content_digest}", f"{document.path} {shown_file(found)}"))
    return pairs + [(f"no {file.path}", file.path) for file in leaving]


def _undeclared(desired: DesiredSpark, document: NetplanDocument, seen: Observation) -> Refusal | None:
    """The first thing that makes the connection and is neither ours nor to go, as a refusal."""
    going = leaves_with_management(desired, seen)
    for claim in _claims(desired, seen):
        in_run = claim.file is not None and claim.file.startswith("/run/netplan/")
        if claim.file == document.path or claim.file in going:
            continue
        if claim.lasting is Lasting.PERSISTENT or in_run:
            return _refusal(desired, claim)
    return None


def _refusal(desired: DesiredSpark, claim: Claim) -> Refusal:
    subject = f"{desired.name} {desired.spark.management.interface}"
    found = f"{claim.file} at line {claim.line}" if claim.line else str(claim.file)
    found = f"{found} ({claim.owner}): {claim.says}"
    expected = "no durable state but the roster's"
    if claim.file is None or "/netplan/" not in claim.file:
        hint = "let NetworkManager forget that profile from the host's console, or take address and dhcp out"
        return Refusal(code="undeclared_profile", subject=subject, expected=expected, found=found, hint=hint)
    in_etc = f'put "{claim.file}" into revert of {desired.name} in the roster, or take address and dhcp out'
    hint = in_etc if claim.file.startswith("/etc/") else both_ways(desired.name, claim.file)
    return Refusal(code="undeclared_netplan", subject=subject, expected=expected, found=found, hint=hint)


def _must_stay(host: str, file: NetplanFile, link: Link, seen: Observation) -> Refusal | None:
    """A refusal to take away a file that says more than what one interface is."""
    files, subject = known(seen.netplan), f"{host} {file.path}"
    others = [each for each in known(seen.links) if each.name not in (link.name, "lo") and each.kind is None]
    more = [
        f"{device.id} at line {device.line}"
        for device in file.devices
        if not binds_it(device, link.name, link.own_mac) or any(binds_it(device, o.name, o.own_mac) for o in others)
    ]
    if more:
        return Refusal(code="mixed_file", subject=subject, expected=f"a file for {link.name} alone",
                       found=", ".join(more),
                       hint=f"move the lines of {link.name} into a file of their own on the host")  # fmt: skip
    if renderer := renderer_rests_on(file, files):
        return Refusal(code="renderer_rests_on_file", subject=subject,
                       expected="a file without which every other keeps its renderer",
                       found=f"renderer: {renderer}, which no other file sets",
                       hint=f"set renderer: {renderer} in a file of its own on the host first")  # fmt: skip
    return None
