"""Files of others that are declared exactly as they are: are they, and do they give a rail's port what the rail is?"""

from fleet.declared import AdoptedFile, Declared
from fleet.desired import DesiredEnd
from fleet.keyfile import RUN_DIRECTORY
from fleet.links import canonical_cidr
from fleet.netplan.device import NetplanFile
from fleet.netplan.document import rail_path
from fleet.netplan.effective import NETWORKMANAGER, at_next_boot, effective
from fleet.observation import Observation, known
from fleet.ownership import Claim, Lasting, port_of
from fleet.record import Record
from fleet.refusal import Refusal

UNSET_MTU = 1500
"""What a ConnectX-7 port has where nobody sets it (the mlx5 driver's; seen on virtual Sparks too)."""


class Kept(Record):
    """A rail's port that an adopted file keeps: no document of ours is needed."""

    path: str
    name: str
    """The id of its definition, or the profile's name."""
    profile_file: str
    """Where NetworkManager has the profile: the keyfile itself, or what netplan generates."""


def adopted_files(host: str, declared: Declared, seen: Observation) -> tuple[Refusal, ...]:
    """A refusal for each adopted file that is gone or is not as it was; the sections must have been observed."""
    found = (_as_declared(host, each, seen) for each in declared.adopted)
    return tuple(refusal for refusal in found if refusal is not None)


def _as_declared(host: str, adopted: AdoptedFile, seen: Observation) -> Refusal | None:
    subject, digests = f"{host} {adopted.file}", content_digests(seen)
    if adopted.file not in digests:
        return Refusal(
            code="adopted_missing",
            subject=subject,
            expected="the adopted file on the host",
            found="none",
            hint=f"bring it back, or take it out of adopted of {host} in the roster",
        )
    if digests[adopted.file] == adopted.content_digest:
        return None
    return Refusal(
        code="adopted_changed",
        subject=subject,
        expected=f"the adopted file byte for byte, {adopted.content_digest}",
        found=str(digests[adopted.file]),
        hint=f"sparks adopt {host}   declares it as it is now",
    )


def content_digests(seen: Observation) -> dict[str, str | None]:
    """By path, the digest of each durable file that netplan or NetworkManager reads."""
    netplan = {file.path: file.content_digest for file in known(seen.netplan) if file.durable}
    return netplan | {file.path: file.content_digest for file in known(seen.connections).keyfiles}


def kept_by(end: DesiredEnd, seen: Observation) -> Kept | Refusal | None:
    """The adopted file that keeps the end's port; None where there is none, a refusal where it is not the rail.

    The sections must have been observed.
    """
    if not end.declared.adopted:
        return None
    files, connections, links = known(seen.netplan), known(seen.connections), known(seen.links)
    claims = [
        claim
        for claim in port_of(end.interface, files, connections, links).claims
        if claim.lasting is Lasting.PERSISTENT
        and claim.file is not None
        and claim.content_digest is not None
        and claim.content_digest == end.declared.digest_of(claim.file)
    ]
    if not claims:
        return None
    refusal = _several(end, claims) or _other_renderer(end, claims[0], files) or _other_rail(end, claims[0])
    return refusal or _kept(claims[0])


def _kept(claim: Claim) -> Kept:
    assert claim.file is not None
    generated = f"{RUN_DIRECTORY}/netplan-{claim.name}.nmconnection"
    is_netplan = claim.file.startswith("/etc/netplan/")
    return Kept(path=claim.file, name=claim.name, profile_file=generated if is_netplan else claim.file)


def _several(end: DesiredEnd, claims: list[Claim]) -> Refusal | None:
    if len(claims) == 1:
        return None
    return Refusal(
        code="adopted_several",
        subject=f"{end.spark} {end.interface}",
        expected="one adopted definition for the port of a rail",
        found=" and ".join(f"{claim.name} in {claim.file}" for claim in claims),
        hint="revert all but one: they compete for the port",
    )


def _other_renderer(end: DesiredEnd, claim: Claim, files: tuple[NetplanFile, ...]) -> Refusal | None:
    """After the next boot networkd has what is not NetworkManager's by then, whatever profile is up now."""
    found = effective(at_next_boot(files)).device(claim.name)
    if found is None or claim.file not in found.sources or found.renderer == NETWORKMANAGER:
        return None
    where = ", ".join(found.renderer_sources)
    return Refusal(
        code="adopted_renderer_differs",
        subject=f"{end.spark} {end.interface} renderer",
        expected=NETWORKMANAGER,
        found=f"{found.renderer} in {where}" if where else f"{found.renderer}, as no netplan file says another",
        hint=f"let the last file that sets a renderer say NetworkManager, or revert {claim.file}",
    )


def _other_rail(end: DesiredEnd, claim: Claim) -> Refusal | None:
    """The first thing that the file gives the port and that is not the rail's."""
    subject, place = f"{end.spark} {end.interface}", f"in {claim.file}"
    hint = f"correct the rail in the roster, or revert {claim.file}"
    wanted = canonical_cidr(str(end.address))
    own = [address for address in claim.addresses if ":" not in address]
    found = ", ".join([*own, *(["DHCP"] if claim.dhcp else [])]) or "none"
    if found != wanted:
        return Refusal(code="adopted_address_differs", subject=f"{subject} address", expected=wanted,
                       found=f"{found} {place}", hint=hint)  # fmt: skip
    mtu = claim.mtu or UNSET_MTU
    if mtu != end.mtu:
        return Refusal(code="adopted_mtu_differs", subject=f"{subject} mtu", expected=str(end.mtu),
                       found=f"{mtu} {place}", hint=hint)  # fmt: skip
    missing = [route for route in end.routes if (route.to, str(route.via)) not in claim.routes]
    if missing:
        return Refusal(code="adopted_routes_missing", subject=f"{subject} routes",
                       expected=f"{missing[0].to} via {missing[0].via}", found=f"no such route {place}",
                       hint=f"revert {claim.file}: our document has the routes of transit")  # fmt: skip
    return None


def in_the_way(end: DesiredEnd, seen: Observation) -> Refusal | None:
    """A refusal where our own document lies beside the adopted file that keeps the port: they would compete."""
    path = rail_path(end.spark, end.interface)
    if path not in content_digests(seen):
        return None
    return Refusal(
        code="leftover_document",
        subject=f"{end.spark} {end.interface}",
        expected="no document of ours beside the adopted file",
        found=path,
        hint=f"remove {path} on the host, or take the file out of adopted of {end.spark} in the roster",
    )
