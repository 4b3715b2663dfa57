"""Durable state that others have put on a fabric port: declared in the roster, or refused with both ways out."""

from collections.abc import Iterator

from fleet.declared import Declared, is_declarable
from fleet.desired import DesiredSpark
from fleet.hardware import INTERFACES
from fleet.links import Link
from fleet.mixed import beside, fabric_lines
from fleet.netplan.device import NetplanFile
from fleet.netplan.document import rail_path
from fleet.observation import Observation, known
from fleet.ownership import Claim, Lasting, Port, port_of
from fleet.refusal import Refusal
from fleet.unread import unread_profile

SECTIONS = ("netplan", "links", "connections")
"""The sections of an observation that these decisions rest on."""


def undeclared(desired: DesiredSpark, seen: Observation) -> tuple[Refusal, ...]:
    """A refusal for each port with durable state that nobody declared; one where it could not be looked at."""
    if blind := seen.unobserved(*SECTIONS):
        return (blind,)
    spark = desired.spark.declared
    found = (undeclared_on(desired.name, port, spark, desired.end_on(port) is not None, seen) for port in INTERFACES)
    return tuple(refusal for refusal in found if refusal is not None)


def undeclared_on(host: str, interface: str, declared: Declared, has_rail: bool, seen: Observation) -> Refusal | None:
    """The first thing on a port that is neither ours nor declared, as a refusal; None where there is nothing.

    The sections must have been observed. What is to be reverted is another step's concern.
    """
    files, connections, links = known(seen.netplan), known(seen.connections), known(seen.links)
    if unread := unread_profile(host, interface, connections, declared.revert):
        return unread
    for claim in _standing(port_of(interface, files, connections, links), host, has_rail):
        if claim.file in declared.revert:
            continue
        file = next((each for each in files if each.path == claim.file), None)
        if file is not None and (mixed := mixed_file(host, file, links)):
            return mixed
        if claim.file is None or declared.digest_of(claim.file) is None:
            return _refusal(host, interface, claim)
    return None


def _standing(port: Port, host: str, has_rail: bool) -> Iterator[Claim]:
    """What stands in the way of a port: durable state, and a file in /run beside a rail's document."""
    for claim in port.claims:
        is_ours = claim.file == rail_path(host, port.interface)
        in_run = has_rail and claim.file is not None and claim.file.startswith("/run/netplan/")
        if (claim.lasting is Lasting.PERSISTENT or in_run) and not (is_ours and has_rail):
            yield claim


def mixed_file(host: str, file: NetplanFile, links: tuple[Link, ...]) -> Refusal | None:
    """A refusal for a file that configures the fabric and something else."""
    others = beside(file, links)
    if not others:
        return None
    return Refusal(
        code="mixed_file",
        subject=f"{host} {file.path}",
        expected="a file for fabric ports alone",
        found=f"{', '.join(fabric_lines(file, links)) or 'a pattern that takes the ports'} beside {', '.join(others)}",
        hint="move the lines of the fabric into a file of their own on the host; one that mixes them is left alone",
    )


def _refusal(host: str, interface: str, claim: Claim) -> Refusal:
    if claim.file == rail_path(host, interface):
        return leftover_document(host, interface, claim.file)
    if claim.lasting is Lasting.EPHEMERAL:
        return Refusal(
            code="undeclared_netplan",
            subject=f"{host} {interface}",
            expected="no netplan file for it but ours",
            found=f"{claim.file}: {claim.says}, lost at the next boot",
            hint=f"remove {claim.file} on the host and run netplan generate",
        )
    return _durable(host, interface, claim)


def leftover_document(host: str, interface: str, path: str) -> Refusal:
    """A document of ours where there is no rail, or where an adopted file keeps the port: it is back at every boot."""
    return Refusal(
        code="leftover_document",
        subject=f"{host} {interface}",
        expected="no document of ours where the roster needs none",
        found=path,
        hint=f'put "{path}" into revert of {host} in the roster, or put the rail back',
    )


def _durable(host: str, interface: str, claim: Claim) -> Refusal:
    place = f"{claim.file} at line {claim.line}" if claim.line else f"{claim.file}"
    found = f"{place} ({claim.owner}): {claim.says}"
    expected, hint = "no durable state but the roster's", both_ways(host, claim.file)
    if claim.file is not None and claim.file.startswith("/etc/netplan/"):
        return Refusal(code="undeclared_netplan", subject=f"{host} {interface}", expected=expected, found=found,
                       hint=hint)  # fmt: skip
    return Refusal(code="undeclared_profile", subject=f"{host} {interface}", expected=expected, found=found, hint=hint)


def both_ways(host: str, path: str | None) -> str:
    """The two ways out: declare it as it is, or take it away."""
    if path is None or not is_declarable(path):
        return f"move {path} away on the host"
    return f'sparks adopt {host}   declares it as it is; or put "{path}" into revert of {host} in the roster'


def lost_at_next_boot(desired: DesiredSpark, seen: Observation) -> tuple[str, ...]:
    """What is on a port without a rail now and goes at the next boot; on a rail the steps say so."""
    if seen.unobserved(*SECTIONS):
        return ()
    files, connections, links = known(seen.netplan), known(seen.connections), known(seen.links)
    return tuple(
        f"{desired.name} {interface}: {claim.says}, {claim.owner}: lost at the next boot"
        for interface in INTERFACES
        if desired.end_on(interface) is None
        for claim in port_of(interface, files, connections, links).claims
        if claim.lasting is Lasting.EPHEMERAL
    )
