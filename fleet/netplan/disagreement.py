"""Where netplan's own merged view is not ours, value by value: no version of it may silently mean something else.

`netplan get` prints what it has parsed as one document. What it leaves out or spells in its own way there was
measured with 0.106 and 1.1.2 (2026-11): each key of the vocabulary alone, and many files together.
"""

from collections.abc import Iterator
from typing import Final

from fleet.keyfile import REDACTED
from fleet.netplan.device import NetplanDevice
from fleet.netplan.effective import NETWORKD, NETWORKMANAGER, EffectiveDevice, MergedNetplan
from fleet.netplan.settings import WrittenRoute
from fleet.netplan.written import ACCESS_POINTS, written
from fleet.record import Record

LEFT_OUT: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(("critical", "emit-lldp", "ignore-carrier", "optional"), frozenset({"false"})),
    **dict.fromkeys(("mtu", "ipv6-mtu"), frozenset({"0"})),
    "parameters.stp": frozenset({"true"}),
    "parameters.all-members-active": frozenset({"false"}),
    "dhcp-identifier": frozenset({"duid"}),
    "link-local": frozenset({"[ipv6]"}),
}
"""By key, the values that `netplan get` does not print: they are what it takes where no file says."""
ADDED: Final = {"auth.key-management": frozenset({"none"})}
"""By key, what it prints although no file says so."""
NEVER_PRINTED: Final = frozenset({"networkmanager.device", "networkmanager.stable-id"})
NOT_COMPARED: Final = NEVER_PRINTED | {ACCESS_POINTS, "renderer"}
"""Access points are told apart by their SSIDs, which stay on the host; who renders is compared as a whole."""
IN_ORDER: Final = frozenset({"nameservers.search", "routes"})
BY_FAMILY: Final = frozenset({"addresses", "nameservers.addresses"})
"""Lists in which order has a meaning; addresses are printed by family. The others are sets to netplan."""
SCOPES: Final = {"local": "host", "nat": "host", "anycast": "link", "broadcast": "link", "multicast": "link"}
"""By type of a route, its scope where none is given; `global` for the others."""


class Disagreement(Record):
    """One thing that netplan and we read differently."""

    id: str | None
    """The definition; None for all files as a whole."""
    key: str
    """As in `Setting.key`; `section` for the definition itself, `accepted` for whether it takes the files."""
    ours: tuple[str, ...]
    """One value, the items of a list, or nothing."""
    netplan: tuple[str, ...]


def disagreements(
    ours: MergedNetplan, renderer: str | None, theirs: tuple[NetplanDevice, ...]
) -> tuple[Disagreement, ...]:
    """Between our reading of the files, and netplan's document made from them."""
    by_id = {device.id: device for device in theirs}
    mine = {one.device.id: one for one in ours.devices if not one.device.id.startswith(REDACTED)}
    found = list(_differ(None, "renderer", (ours.renderer,), (renderer or NETWORKD,)))
    for id in dict.fromkeys((*mine, *(id for id in by_id if not id.startswith(REDACTED)))):
        one, other = mine.get(id), by_id.get(id)
        if one and other and one.device.section == other.section:
            found += _of_definition(one, other, renderer)
        else:
            found += _differ(id, "section", _section(one.device if one else None), _section(other))
    return tuple(found)


def _section(device: NetplanDevice | None) -> tuple[str, ...]:
    return (device.section,) if device else ()


def _of_definition(one: EffectiveDevice, other: NetplanDevice, renderer: str | None) -> Iterator[Disagreement]:
    is_networkmanagers = other.section == "nm-devices"
    default = NETWORKMANAGER if is_networkmanagers else renderer or NETWORKD
    yield from _differ(one.device.id, "renderer", (one.renderer,), (other.renderer or default,))
    mine, theirs = _comparable(one.device), _comparable(other)
    for key in dict.fromkeys((*mine, *theirs)):
        unprinted = is_networkmanagers and not key.startswith("networkmanager.")
        if not (unprinted or _goes_without_saying(key, mine.get(key), theirs.get(key))):
            yield from _differ(one.device.id, key, mine.get(key, ()), theirs.get(key, ()))


def _goes_without_saying(key: str, mine: tuple[str, ...] | None, theirs: tuple[str, ...] | None) -> bool:
    if mine and theirs:
        return False
    return set(mine or ()) <= LEFT_OUT.get(key, frozenset()) and set(theirs or ()) <= ADDED.get(key, frozenset())


def _comparable(device: NetplanDevice) -> dict[str, tuple[str, ...]]:
    routes = tuple(_short(route) for route in device.written.routes)
    whole = written(device.written.model_copy(update={"routes": routes}))
    found: dict[str, tuple[str, ...]] = {key: (value,) for key, value in whole.values.items()}
    has_options = any(key.startswith("addresses.") for key in found)
    for key, items in whole.items.items():
        found[key] = _ordered("" if key == "addresses" and has_options else key, dict.fromkeys(items))
    return {key: values for key, values in found.items() if key not in NOT_COMPARED}


def _short(route: WrittenRoute) -> WrittenRoute:
    """Without what it would be anyway; only some of that is printed."""
    usual = {"type": "unicast", "scope": SCOPES.get(route.type or "", "global"), "on_link": False}
    return WrittenRoute(**{field: value for field, value in route if value != usual.get(field)})


def _ordered(key: str, items: dict[str, None]) -> tuple[str, ...]:
    """Each item once, as 0.106 prints some twice. Addresses with options are printed before those without."""
    if key in IN_ORDER:
        return tuple(items)
    return tuple(sorted(items, key=lambda item: ":" in item) if key in BY_FAMILY else sorted(items))


def _differ(id: str | None, key: str, ours: tuple[str, ...], netplan: tuple[str, ...]) -> Iterator[Disagreement]:
    """What stayed on the host is not known to differ."""
    if ours != netplan and not any(REDACTED in value for value in (*ours, *netplan)):
        yield Disagreement(id=id, key=key, ours=ours, netplan=netplan)
