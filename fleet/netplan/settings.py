"""One definition as its files write it: what netplan's merge works on, before NetworkManager's defaults."""

from typing import Any, Final

from pydantic import SerializerFunctionWrapHandler, model_serializer

from fleet.netplan import scalars
from fleet.record import Record

FIRST_COUNTS: Final = frozenset({"peers"})
"""Lists that do not grow: netplan passes over those of a later file."""


class Match(Record):
    """`match:` as written; an empty one is not the same as none."""

    name: str | None = None
    drivers: tuple[str, ...] = ()
    macaddress: str | None = None
    names_by_id: bool = False
    """The name is the definition's id: `match:` came without one, after the definition had begun without it."""


class WrittenRoute(Record):
    """A route as written."""

    to: str | None = None
    via: str | None = None
    metric: int | None = None
    table: int | None = None
    source: str | None = None
    scope: str | None = None
    type: str | None = None
    on_link: bool | None = None
    mtu: int | None = None
    congestion_window: int | None = None
    advertised_receive_window: int | None = None
    advertised_mss: int | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells two routes apart. Of two that are one to netplan the first counts, whatever else they say."""
        return (scalars.default_destination(self.to or "", self.via), self.via, self.metric, self.table, self.source)


class NetplanSettings(Record):
    """Every setting that we read, None or empty where the file does not say. Printed without those."""

    renderer: str | None = None
    section_renderer: str | None = None
    """The renderer of the section where the definition first stands; netplan looks at no later one."""
    match: Match | None = None
    set_name: str | None = None
    dhcp4: bool | None = None
    dhcp6: bool | None = None
    use_routes4: bool | None = None
    use_routes6: bool | None = None
    mtu: int | None = None
    wakeonlan: bool | None = None
    gateway4: str | None = None
    gateway6: str | None = None
    ipv6_address_generation: str | None = None
    ipv6_address_token: str | None = None
    activation_mode: str | None = None
    infiniband_mode: str | None = None
    tunnel_mode: str | None = None
    vlan_id: int | None = None
    link: str | None = None
    peer: str | None = None
    remote: str | None = None
    table: int | None = None
    uuid: str | None = None
    profile: str | None = None
    addresses: tuple[str, ...] = ()
    routes: tuple[WrittenRoute, ...] = ()
    nameservers: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    link_local: tuple[str, ...] | None = None
    interfaces: tuple[str, ...] = ()
    access_points: tuple[str, ...] = ()
    """Their key management, one per access point; the SSIDs stay on the host."""
    networkmanager: bool | None = None
    """Is there a `networkmanager:` block with anything in it?"""
    passthrough: tuple[tuple[str, str], ...] = ()
    """NetworkManager's own settings, only those known to hold no secret; a later one replaces an earlier."""
    other_values: tuple[tuple[str, str], ...] = ()
    """What no decision of ours reads, by netplan's key, as `parameters.mode`."""
    other_items: tuple[tuple[str, str], ...] = ()
    """The same for lists, item by item."""

    @model_serializer(mode="wrap")
    def _only_what_is_written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        unwritten = {name for name, value in self if value is None or (value == () and name != "link_local")}
        return {name: value for name, value in handler(self).items() if name not in unwritten}

    @property
    def passthrough_values(self) -> dict[str, str]:
        """The passthrough settings by name."""
        return dict(self.passthrough)


def reopening(id: str, first: NetplanSettings, later: NetplanSettings) -> NetplanSettings:
    """What a definition says to an earlier one with its id, in the same file or another.

    The first one decides what an id means: without `match:` it is the interface's name, and a later
    `match: {}` keeps that; a definition that begins with `match: {}` is for every interface of its kind
    (cases 013 and 017). It also decides whose section's renderer holds, or that none does. Compared with
    `netplan get` of 0.106 and 1.1.2.
    """
    values = {name: value for name, value in written_values(later).items() if name != "section_renderer"}
    match = later.match
    if match is not None and first.match is None and match.name is None:
        values["match"] = match.model_copy(update={"name": id, "names_by_id": True})
    elif match is not None and first.match is not None and match.names_by_id:
        values["match"] = match.model_copy(update={"name": None, "names_by_id": False})
    return NetplanSettings(**values)


def reopened(id: str, first: NetplanSettings, later: NetplanSettings) -> NetplanSettings:
    """A definition joined with a later one that has its id."""
    return merged(first, reopening(id, first, later))


def written_values(settings: NetplanSettings) -> dict[str, Any]:
    """The settings that the file writes, by field."""
    return {name: value for name, value in settings if name in settings.model_fields_set}


def merged(first: NetplanSettings, later: NetplanSettings) -> NetplanSettings:
    """Two definitions joined: values replace, lists grow, passthrough settings join by name."""
    values = written_values(first)
    for name, value in written_values(later).items():
        values[name] = _joined(name, values.get(name), value)
    return NetplanSettings(**values)


def _joined(name: str, first: Any, later: Any) -> Any:
    match name, first:
        case _, None:
            return later
        case "passthrough" | "other_values", _:
            return tuple({**dict(first), **dict(later)}.items())
        case "routes", _:
            return joined_routes(first, later)
        case "other_items", _:
            kept = {key for key, _ in first} & FIRST_COUNTS
            return tuple(dict.fromkeys((*first, *(pair for pair in later if pair[0] not in kept))))
        case "match", _:
            return Match(**{**first.model_dump(exclude_defaults=True), **later.model_dump(exclude_defaults=True)})
        case "link_local", _:
            return later
        case "access_points", _:
            return (*first, *later)
    return tuple(dict.fromkeys((*first, *later))) if isinstance(later, tuple) else later


def joined_routes(first: tuple[WrittenRoute, ...], later: tuple[WrittenRoute, ...]) -> tuple[WrittenRoute, ...]:
    """Each route once, as the first one says it."""
    found: dict[tuple[object, ...], WrittenRoute] = {}
    for route in (*first, *later):
        found.setdefault(route.identity, route)
    return tuple(found.values())
