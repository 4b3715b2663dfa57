"""Files of others that the roster wants gone: a step for each that is there, or why it must be left alone."""

from collections.abc import Iterable
from typing import Literal

from fleet.adopted import adopted_files
from fleet.connections import Profile
from fleet.desired import DesiredSpark
from fleet.foreign import SECTIONS, mixed_file, undeclared
from fleet.hardware import INTERFACES
from fleet.links import find_link
from fleet.management_step import leaves_with_management
from fleet.mixed import renderer_rests_on
from fleet.netplan.device import NetplanFile
from fleet.netplan.records import ErrorKind
from fleet.observation import Observation, known
from fleet.ownership import Claim, origin_of, port_of
from fleet.rail_document import unreadable
from fleet.record import Digest
from fleet.refusal import Refusal
from fleet.step import Effect, Step

KEPT_IN = "/var/lib/sparks/reverted"
"""Where a copy of each removed file stays on the host, for root alone."""


class RemoveFile(Step):
    """Take one file of another owner away, keep a copy, and let NetworkManager forget what came from it."""

    kind: Literal["remove_file"] = "remove_file"
    effect: Effect = Effect.REMOVE
    path: str
    content_digest: Digest | None
    """What is removed, byte for byte; None where its digest may not be told."""
    ports: tuple[str, ...]
    down: tuple[str, ...]
    """The profiles that came from it and are up on ports without a rail, by uuid."""
    addresses: tuple[tuple[str, str], ...]
    """Port and address of what it gave to ports without a rail: gone afterwards."""


class ReloadProfiles(Step):
    """Let NetworkManager forget profiles whose file is gone already: a run was killed in between."""

    kind: Literal["reload_profiles"] = "reload_profiles"
    effect: Effect = Effect.REMOVE
    down: tuple[str, ...]


Outcome = RemoveFile | ReloadProfiles | Refusal


def declared_refusals(desired: DesiredSpark, seen: Observation) -> tuple[Refusal, ...]:
    """What of others' files nobody declared, and what is not as it was declared."""
    refusals = undeclared(desired, seen)
    if seen.unobserved(*SECTIONS):
        return refusals
    return (*refusals, *adopted_files(desired.name, desired.spark.declared, seen))


def revert_steps(desired: DesiredSpark, seen: Observation) -> tuple[Outcome, ...]:
    """A step or a refusal for each file to be reverted that is there; none where all are gone."""
    if not desired.spark.revert:
        return ()
    if blind := seen.unobserved(*SECTIONS, "session"):
        return (blind,)
    outcomes = tuple(each for path in desired.spark.revert if (each := _removal(desired, path, seen)) is not None)
    forgotten = _reload(desired, seen)
    return outcomes or ((forgotten,) if forgotten else ())


def _removal(desired: DesiredSpark, path: str, seen: Observation) -> RemoveFile | Refusal | None:
    if path in leaves_with_management(desired, seen):
        return None
    file = next((each for each in known(seen.netplan) if each.path == path), None)
    if file is not None:
        return _refused(desired, file, seen) or _step(desired, path, file.content_digest, seen)
    keyfile = next((each for each in known(seen.connections).keyfiles if each.path == path), None)
    return None if keyfile is None else _step(desired, path, keyfile.content_digest, seen)


def _refused(desired: DesiredSpark, file: NetplanFile, seen: Observation) -> Refusal | None:
    """Why a netplan file must be left alone, one that binds no port of the fabric excepted."""
    host = desired.name
    files, links = known(seen.netplan), known(seen.links)
    is_told = file.error is None or file.error.kind is ErrorKind.REJECTED
    refusal = unreadable(host, [each for each in files if each.path != file.path or not is_told])
    if refusal is not None or not _claims(file.path, seen):
        return refusal
    if mixed := mixed_file(host, file, links):
        return mixed
    kept = [each for each in files if each.path == file.path or each.path not in desired.spark.revert]
    if renderer := renderer_rests_on(file, kept):
        return Refusal(
            code="renderer_rests_on_file",
            subject=f"{host} {file.path}",
            expected="a file without which every other keeps its renderer",
            found=f"renderer: {renderer}, which no other file sets",
            hint=f"set renderer: {renderer} in a file of its own on the host first",
        )
    return None


def _step(desired: DesiredSpark, path: str, digest: str | None, seen: Observation) -> RemoveFile | Refusal:
    claims = _claims(path, seen)
    if not claims:
        return _needs_guard(desired.name, path, "one that binds none of them")
    carriers = [port for port, _ in claims if known(seen.session).may_be_carried_by(port, known(seen.links))]
    if carriers:
        return _needs_guard(desired.name, path, f"one for {', '.join(carriers)}, over which SSH may come in")
    idle = [port for port, _ in claims if desired.end_on(port) is None]
    return RemoveFile(
        subject=f"{desired.name} {path}",
        before=f"{digest or 'a file'} ({claims[0][1].owner})",
        after=f"absent, a copy in {KEPT_IN}",
        reason=f"reverted in the roster: {'; '.join(f'{port} {claim.says}' for port, claim in claims)}",
        path=path,
        content_digest=digest,
        ports=tuple(port for port, _ in claims),
        down=_up_from(path, idle, seen),
        addresses=tuple((port, address) for port, claim in claims if port in idle for address in claim.addresses),
    )


def _needs_guard(host: str, path: str, found: str) -> Refusal:
    return Refusal(
        code="removal_needs_guard",
        subject=f"{host} {path}",
        expected="a file for ports of the fabric that do not carry SSH",
        found=found,
        hint="say in the roster what management shall be instead, come in over another interface, "
        "or take the file out of revert",
    )


def _claims(path: str, seen: Observation) -> list[tuple[str, Claim]]:
    """What a file gives to each port."""
    files, connections, links = known(seen.netplan), known(seen.connections), known(seen.links)
    found = [(port, claim) for port in INTERFACES for claim in port_of(port, files, connections, links).claims]
    return [(port, claim) for port, claim in found if claim.file == path and claim.is_bound]


def _up_from(path: str, ports: Iterable[str], seen: Observation) -> tuple[str, ...]:
    files, connections = known(seen.netplan), known(seen.connections)
    ids = {device.id for file in files if file.path == path for device in file.devices}
    up = [profile for port in ports if (profile := connections.active_profile(port)) is not None]
    return tuple(each.uuid for each in up if each.filename == path or origin_of(each, files) in ids)


def _reload(desired: DesiredSpark, seen: Observation) -> ReloadProfiles | None:
    left = [each for each in known(seen.connections).profiles if _is_left(each, desired, seen)]
    if not left:
        return None
    names = ", ".join(sorted(each.name for each in left))
    return ReloadProfiles(
        subject=f"{desired.name} NetworkManager",
        before=f"{names} loaded, without the file",
        after="forgotten",
        reason="the file is reverted, its profile is still there",
        down=tuple(each.uuid for each in left if each.is_active and desired.end_on(each.device or "") is None),
    )


def _is_left(profile: Profile, desired: DesiredSpark, seen: Observation) -> bool:
    """Is it the profile of a file that is gone: one of the reverted keyfiles, or a netplan file's on a port?"""
    files, connections = known(seen.netplan), known(seen.connections)
    if profile.filename in desired.spark.revert:
        return all(keyfile.path != profile.filename for keyfile in connections.keyfiles)
    ports = {profile.device, profile.settings.interface if profile.settings else None}
    return profile.storage == "netplan" and origin_of(profile, files) is None and not ports.isdisjoint(INTERFACES)


def still_there(desired: DesiredSpark, removed: Iterable[Step], seen: Observation) -> Refusal | None:
    """What is left after removing, as a refusal to call it done: file, profile or address; None when all are gone."""
    for outcome in revert_steps(desired, seen):
        if isinstance(outcome, Refusal):
            return outcome
        return Refusal(code="not_reverted", subject=outcome.subject, expected=outcome.after, found=outcome.before)
    links = known(seen.links)
    for step in removed:
        for port, address in step.addresses if isinstance(step, RemoveFile) else ():
            link = find_link(links, port)
            if link is not None and link.has_address(address):
                return Refusal(code="not_reverted", subject=f"{desired.name} {port}", expected=f"{address} gone",
                               found="it still there")  # fmt: skip
    return None
