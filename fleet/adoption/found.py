"""The rail ends that a host has now, whoever made them, and what on its ports cannot be a rail end."""

import ipaddress
from collections.abc import Iterable, Iterator

from pydantic import ValidationError

from fleet.adopted import UNSET_MTU
from fleet.links import Link, find_link
from fleet.observation import Observation, known
from fleet.ownership import Claim, Lasting, Port, ports
from fleet.rail import RailEnd
from fleet.record import Record
from fleet.roster_error import sentence_of


class FoundEnd(Record):
    """One IPv4 address on one port."""

    end: RailEnd
    is_durable: bool
    """Does a file bring it back after a boot?"""


class Found(Record):
    """What the ports of a host give to rails, and one line for each thing that no rail can say."""

    ends: tuple[FoundEnd, ...]
    problems: tuple[str, ...]


def found_on(host: str, seen: Observation, reverted: tuple[str, ...] = ()) -> Found:
    """The rail ends of a host whose netplan, links and connections were observed.

    What comes from a file that the roster reverts is not there to stay, and so is none.
    """
    links = known(seen.links)
    ends: list[FoundEnd] = []
    problems: list[str] = []
    for port in ports(known(seen.netplan), known(seen.connections), links).ports:
        link = find_link(links, port.interface)
        problems += _not_a_rail(host, port, link, links)
        try:
            ends += _ends(host, port, link, reverted)
        except ValidationError as error:
            problems += [f"{host} {port.interface}: {sentence_of(each)}" for each in error.errors(include_url=False)]
        except ValueError as error:
            problems.append(f"{host} {port.interface}: {error}")
    return Found(ends=tuple(ends), problems=tuple(problems))


def _ends(host: str, port: Port, link: Link | None, reverted: tuple[str, ...]) -> Iterator[FoundEnd]:
    """At most one; raises ValueError for several addresses, and ValidationError for one that no rail can have."""
    stays = [each for each in port.claims if each.lasting is Lasting.PERSISTENT and each.file not in reverted]
    durable = _ipv4(stays)
    passing = _ipv4(each for each in port.claims if each.lasting is Lasting.EPHEMERAL)
    addresses = durable or passing
    if len(addresses) > 1:
        raise ValueError(f"expected one IPv4 address for a rail, found {' and '.join(sorted(addresses))}")
    for address, claim in addresses.items():
        mtu = (claim.mtu if durable or link is None else link.mtu) or UNSET_MTU
        end = RailEnd.model_validate({"spark": host, "interface": port.interface, "address": address, "mtu": mtu})
        yield FoundEnd(end=end, is_durable=bool(durable))


def _ipv4(claims: Iterable[Claim]) -> dict[str, Claim]:
    return {
        address: claim
        for claim in claims
        for address in claim.addresses
        if ipaddress.ip_interface(address).version == 4
    }


def _not_a_rail(host: str, port: Port, link: Link | None, links: tuple[Link, ...]) -> Iterator[str]:
    """What lies on a port or beside an IPv4 address, and what nobody could look into."""
    subject = f"{host} {port.interface}"
    if link is not None and link.master is not None:
        yield f"{subject}: expected a port of its own, found it in {link.master}; rails are on the ports themselves"
    for each in links:
        if each.parent == port.interface:
            yield f"{subject}: expected nothing on top of it, found {each.name}; rails are on the ports themselves"
    for claim in port.claims:
        if claim.lasting is Lasting.UNKNOWN and claim.is_bound:
            yield f"{subject}: expected a file that can be read, found {claim.file}: {claim.name}"
        sixes = [each for each in claim.addresses if ipaddress.ip_interface(each).version == 6]
        if sixes and claim.lasting is Lasting.EPHEMERAL:
            yield f"{subject}: expected IPv4 on a rail, found {', '.join(sixes)}, lost at the next boot"
