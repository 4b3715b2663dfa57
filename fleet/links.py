"""A host's network links and their addresses as the kernel has them; what made them so is not known here."""

import ipaddress
import json
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator

from fleet.link_route import LinkRoute, in_order, parse_routes
from fleet.record import VOLATILE, Record

FOREVER = 4294967295
"""What iproute2 prints for a lifetime without an end (2^32 - 1)."""


def canonical_cidr(address: str) -> str:
    """The one spelling of an address with a prefix; raises ValueError when it is none."""
    return str(ipaddress.ip_interface(address))


Cidr = Annotated[str, AfterValidator(canonical_cidr)]
"""Any address with a prefix, in its canonical spelling; a rail's address is stricter (`Interface4`)."""


def _by_value(addresses: "tuple[LinkAddress, ...]") -> "tuple[LinkAddress, ...]":
    return tuple(sorted(addresses, key=LinkAddress.order))


class LinkAddress(Record):
    """One address on a link, at run time: nothing here says that it survives a reboot."""

    address: Cidr
    """With the prefix of its network, `192.168.102.10/24`; with a peer it is a host address, /32 or /128."""
    peer: Cidr | None = None
    """The far end of a point-to-point address, with the prefix that belongs to it."""
    scope: str = "global"
    tentative: Annotated[bool, VOLATILE] = False
    """Duplicate address detection has not ended: no GID yet."""
    dadfailed: bool = False
    """Another host holds this address."""
    deprecated: Annotated[bool, VOLATILE] = False
    dynamic: bool = False
    """It has a lease or lifetime that ends (DHCP, router advertisement)."""
    label: str | None = None

    @property
    def is_usable(self) -> bool:
        """A new connection may start from it now."""
        return not (self.tentative or self.dadfailed or self.deprecated)

    @property
    def comes_and_goes(self) -> bool:
        """A lease runs out or is renewed, and what is on the link alone comes with each attempt to bring it up."""
        return self.dynamic or self.scope == "link"

    def order(self) -> tuple[int, int, int, str]:
        """By family, then number: the kernel's own order is one of events."""
        interface = ipaddress.ip_interface(self.address)
        return interface.version, int(interface.ip), interface.network.prefixlen, self.canonical


class Link(Record):
    """One network interface of a host, at run time."""

    name: str
    ifindex: Annotated[int, VOLATILE]
    """The kernel's number; another after a reboot, so nothing may depend on it."""
    altnames: tuple[str, ...] = ()
    mac: Annotated[str | None, VOLATILE] = None
    """The hardware address in use, in lower case; None where the link has none (tun, WireGuard). NetworkManager gives
    Wi-Fi another one for each scan (`wifi.scan-rand-mac-address`, NetworkManager.conf(5) 1.52)."""
    permanent_mac: Annotated[str | None, VOLATILE] = None
    """The address burnt in, where it differs from `mac` (a bond's port); None where it does not."""
    mtu: int
    up: Annotated[bool, VOLATILE]
    """Administratively up: NetworkManager sets it on all that it manages, Docker on its bridges."""
    carrier: Annotated[bool, VOLATILE]
    """The cable (or what stands for it) is live."""
    operstate: Annotated[str, VOLATILE]
    """The kernel's word; UNKNOWN is normal for lo, tun and WireGuard."""
    kind: str | None = None
    """vlan, bond, bridge, veth, … ; None for a physical interface."""
    master: str | None = None
    """The bond or bridge that it is a port of."""
    parent: str | None = None
    """The link it lies on (a VLAN's interface), where that has a name in this network namespace."""
    parent_index: Annotated[int | None, VOLATILE] = None
    """The parent's index where it lives in another network namespace."""
    addresses: Annotated[tuple[LinkAddress, ...], AfterValidator(_by_value)] = ()
    """A set, in order of number: two links with the same addresses are equal however they were added."""
    routes: Annotated[tuple[LinkRoute, ...], AfterValidator(in_order)] = ()
    """A set too; metrics are NetworkManager's own."""

    @property
    def comes_and_goes(self) -> bool:
        """One end of a container's cable lives as long as the container."""
        return self.kind == "veth"

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that a person or a file may call it by."""
        return (self.name, *self.altnames)

    @property
    def own_mac(self) -> str | None:
        """The address that a definition may match: the one burnt in, also where a bond lends it another."""
        return self.permanent_mac or self.mac

    def has_address(self, address: object) -> bool:
        """Is this address (`192.168.102.10/24`, prefix included) on the link and usable now?"""
        wanted = canonical_cidr(str(address))
        return any(a.address == wanted and a.peer is None and a.is_usable for a in self.addresses)

    @property
    def ipv4(self) -> tuple[str, ...]:
        """The IPv4 addresses a peer could use; what the kernel made up for itself (link scope) is no setting."""
        own = (each.address for each in self.addresses if each.scope == "global" and each.is_usable)
        return tuple(address for address in own if ipaddress.ip_interface(address).version == 4)


def find_link(links: Iterable[Link], name: str) -> Link | None:
    """The link of that name or alternative name; None when there is no such link."""
    links = tuple(links)
    by_name = next((link for link in links if link.name == name), None)
    return by_name or next((link for link in links if name in link.altnames), None)


def parse_links(text: str, routes: str = "[]") -> tuple[Link, ...]:
    """The links in the output of `ip -j -d addr show`, by name; raises ValueError when it is no such output.

    A filter of `ip` leaves `{}` where it dropped a link or an address (cases/053).

    + routes: the output of `ip -j -4 route show proto static`
    """
    found = json.loads(text)
    if not isinstance(found, list):
        raise ValueError(f"expected a list of links, found {type(found).__name__}")
    links = (_link(_object(each)) for each in found if each != {})
    by_link = parse_routes(routes)
    return tuple(link.replaced(routes=by_link.get(link.name, ())) for link in sorted(links, key=lambda link: link.name))


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, found {type(value).__name__}")
    return value


def _list(owner: dict[str, Any], key: str) -> list[Any]:
    value = owner.get(key, [])
    if not isinstance(value, list):
        raise ValueError(f"{key}: expected a list, found {type(value).__name__}")
    return value


def _field(owner: dict[str, Any], key: str) -> Any:
    if key not in owner:
        raise ValueError(f"link {owner.get('ifname', '?')}: expected {key}, found none")
    return owner[key]


def _link(found: dict[str, Any]) -> Link:
    flags = set(map(str, _list(found, "flags")))
    return Link(
        name=_field(found, "ifname"),
        ifindex=_field(found, "ifindex"),
        altnames=tuple(sorted(map(str, _list(found, "altnames")))),
        mac=_lower(found.get("address")),
        permanent_mac=_lower(found.get("permaddr")),
        mtu=_field(found, "mtu"),
        up="UP" in flags,
        carrier="LOWER_UP" in flags,
        operstate=found.get("operstate", "UNKNOWN"),
        kind=_object(found.get("linkinfo", {})).get("info_kind"),
        master=found.get("master"),
        parent=found.get("link"),
        parent_index=found.get("link_index"),
        addresses=tuple(_address(_object(each)) for each in _list(found, "addr_info") if each != {}),
    )


def _lower(value: Any) -> str | None:
    return None if value is None else str(value).lower()


def _address(found: dict[str, Any]) -> LinkAddress:
    """`address` inside `addr_info` is the peer, and the prefix is then the peer's (cases/055)."""
    local, prefix, peer = str(_field(found, "local")), _field(found, "prefixlen"), found.get("address")
    return LinkAddress(
        address=local if peer else f"{local}/{prefix}",
        peer=f"{peer}/{prefix}" if peer else None,
        scope=str(found.get("scope", "global")),
        tentative=bool(found.get("tentative")),
        dadfailed=bool(found.get("dadfailed")),
        deprecated=bool(found.get("deprecated")),
        dynamic=bool(found.get("dynamic")) or found.get("valid_life_time", FOREVER) != FOREVER,
        label=found.get("label"),
    )
