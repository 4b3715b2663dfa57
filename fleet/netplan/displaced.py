"""Which of a definition's plain settings NetworkManager never sees, since a passthrough setting takes their place."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from fleet.netplan import scalars
from fleet.netplan.settings import NetplanSettings
from fleet.netplan.written import key_of, route_text

SINGLE: Final = {
    "dhcp4": ("ipv4.method",), "dhcp6": ("ipv6.method",), "gateway4": ("ipv4.gateway",), "gateway6": ("ipv6.gateway",),
    "mtu": ("ethernet.mtu", "802-3-ethernet.mtu", "infiniband.mtu"), "wakeonlan": ("ethernet.wake-on-lan",),
    "dhcp4-overrides.use-routes": ("ipv4.never-default",), "dhcp6-overrides.use-routes": ("ipv6.never-default",),
    "match.name": ("connection.interface-name",), "activation-mode": ("connection.autoconnect",),
    "id": ("vlan.id",), "link": ("vlan.parent", "vxlan.parent", "ip-tunnel.parent"),
}  # fmt: skip
"""By plain key, the passthrough settings that netplan writes in its place (cases 011 and 019)."""

Place = tuple[str, str | None]
"""A key, and the item where it is a list."""


def numbered(names: Iterable[str], prefix: str) -> Iterator[tuple[int, str]]:
    """The settings that stand for the n-th of a list: `ipv4.address1`, and its older spellings."""
    for name in names:
        if found := re.fullmatch(re.escape(prefix) + r"(?:es|s)?(\d*)", name):
            yield int(found[1] or 1), name


def displaced(settings: NetplanSettings) -> dict[Place, str]:
    """By place, the passthrough setting that NetworkManager runs instead; the plain one changes nothing."""
    names = settings.passthrough_values
    found: dict[Place, str] = {
        (key, None): name for key, winners in SINGLE.items() for name in winners if name in names
    }
    for version in (4, 6):
        addresses = [one for one in settings.addresses if _version(one) == version]
        routes = [route for route in settings.routes if _version(_destination(route.to, route.via)) == version]
        found |= _in_turn("addresses", addresses, numbered(names, f"ipv{version}.address"))
        found |= _in_turn("routes", map(route_text, routes), numbered(names, f"ipv{version}.route"))
        servers = [one for one in settings.nameservers if _version(one) == version]
        dns = f"ipv{version}.dns"
        found |= {(key_of("nameservers"), server): dns for server in servers if dns in names}
    return found


def _in_turn(key: str, items: Iterable[str], winners: Iterable[tuple[int, str]]) -> dict[Place, str]:
    by_place = dict(enumerate(items, 1))
    return {(key, by_place[place]): name for place, name in winners if place in by_place}


def _destination(to: str | None, via: str | None) -> str:
    return scalars.default_destination(to or "", via)


def _version(address: str) -> int:
    return 6 if ":" in address else 4
