"""Is the management connection active: the kernel and NetworkManager have now what the roster says."""

from fleet.applied import AppliedIp4
from fleet.connections import Connections
from fleet.desired import DesiredSpark
from fleet.keyfile import Settings
from fleet.links import Link, canonical_cidr, find_link
from fleet.management import Management
from fleet.netplan.management import management_document
from fleet.observation import Observation, known
from fleet.refusal import Refusal

SECTIONS = ("netplan", "links", "connections", "session", "guard", "management")
"""The sections of an observation that decisions about it rest on."""

Pairs = list[tuple[str, str]]
"""What was expected and what was found, of each thing that differs."""


def management_difference(desired: DesiredSpark, seen: Observation) -> Refusal | None:
    """What is not active yet as declared, or could not be observed; None when all is."""
    if blind := seen.unobserved(*SECTIONS):
        return blind
    wanted = desired.spark.management
    if find_link(known(seen.links), wanted.interface) is None:
        return interface_missing(desired.name, wanted.interface, known(seen.links))
    differences = active_differences(desired.name, wanted, seen)
    if not differences:
        return None
    return Refusal(
        code="not_active",
        subject=f"{desired.name} {wanted.interface}",
        expected=", ".join(expected for expected, _ in differences),
        found=", ".join(found for _, found in differences),
    )


def interface_missing(spark: str, interface: str, links: tuple[Link, ...]) -> Refusal | None:
    """A refusal where the host has no such interface."""
    if find_link(links, interface) is not None:
        return None
    return Refusal(
        code="interface_missing",
        subject=f"{spark} {interface}",
        expected="the interface on the host",
        found=f"only {', '.join(sorted(link.name for link in links))}",
    )


def active_differences(host: str, wanted: Management, seen: Observation) -> Pairs:
    """What is not active as declared; the sections must have been observed and the interface be there."""
    link = find_link(known(seen.links), wanted.interface)
    assert link is not None
    applied = known(seen.management)
    pairs = [
        (_addresses(wanted), _found_addresses(wanted, link)),
        ("our profile up", _profile(host, wanted, known(seen.connections))),
    ]
    if wanted.mtu is not None:
        pairs.append((f"mtu {wanted.mtu}", f"mtu {link.mtu}"))
    if wanted.address is not None:
        declared = AppliedIp4(
            gateway=None if wanted.gateway is None else str(wanted.gateway),
            nameservers=tuple(map(str, wanted.nameservers)),
        )
        pairs += list(zip(_served(declared), _served(applied), strict=True))
    return [(expected, found) for expected, found in pairs if expected != found]


def _addresses(wanted: Management) -> str:
    return "an address by DHCP" if wanted.address is None else f"addresses {canonical_cidr(str(wanted.address))}"


def _found_addresses(wanted: Management, link: Link) -> str:
    leased = {each.address for each in link.addresses if each.dynamic}
    if wanted.dhcp and link.ipv4 and leased.issuperset(link.ipv4):
        return _addresses(wanted)
    return f"addresses {' '.join(link.ipv4) or 'none'}"


def _served(ip4: AppliedIp4) -> tuple[str, str]:
    return f"gateway {ip4.gateway or 'none'}", f"name servers {' '.join(ip4.nameservers) or 'none'}"


def _profile(host: str, wanted: Management, connections: Connections) -> str:
    ours = connections.profile(management_document(host, wanted).uuid)
    if ours is None or not ours.is_active or ours.device != wanted.interface:
        other = connections.active_profile(wanted.interface)
        return f"{other.name} up" if other else "no profile up"
    stored = ours.stored
    addresses = () if wanted.address is None else (canonical_cidr(str(wanted.address)),)
    method = "auto" if wanted.dhcp else "manual"
    if isinstance(stored, Settings) and (stored.ipv4_method, stored.ipv4_addresses, stored.mtu) != (
        method, addresses, wanted.mtu
    ):  # fmt: skip
        return "our profile up with older settings"
    return "our profile up"
