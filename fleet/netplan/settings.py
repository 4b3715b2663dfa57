"""One definition as its files write it: what netplan's merge works on, before NetworkManager's defaults."""

from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer

from fleet.record import Record


class Match(Record):
    """`match:` as written; an empty one is not the same as none."""

    name: str | None = None
    drivers: tuple[str, ...] = ()
    macaddress: str | None = None


class WrittenRoute(Record):
    """A route as written: netplan compares these, so `default` and `0.0.0.0/0` are two."""

    to: str | None = None
    via: str | None = None
    metric: int | None = None
    table: int | None = None
    source: str | None = None
    scope: str | None = None
    type: str | None = None
    on_link: bool | None = None


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

    @model_serializer(mode="wrap")
    def _only_what_is_written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        unwritten = {name for name, value in self if value is None or (value == () and name != "link_local")}
        return {name: value for name, value in handler(self).items() if name not in unwritten}

    @property
    def passthrough_values(self) -> dict[str, str]:
        """The passthrough settings by name."""
        return dict(self.passthrough)


def reopened(id: str, first: NetplanSettings, later: NetplanSettings) -> NetplanSettings:
    """A definition and a later one with its id, in the same file or another.

    The first one decides what an id means: without `match:` it is the interface's name, and a later
    `match: {}` keeps that; a definition that begins with `match: {}` is for every interface of its kind
    (netplan 0.106 and 1.1.2; cases 013 and 017).
    """
    if first.match is None and later.match is not None and later.match.name is None:
        named = later.match.model_copy(update={"name": id})
        later = NetplanSettings(**{**written_values(later), "match": named})
    return merged(first, later)


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
        case "passthrough", _:
            return tuple({**dict(first), **dict(later)}.items())
        case "match", _:
            return Match(**{**first.model_dump(exclude_defaults=True), **later.model_dump(exclude_defaults=True)})
        case "link_local", _:
            return later
        case "access_points", _:
            return (*first, *later)
    return tuple(dict.fromkeys((*first, *later))) if isinstance(later, tuple) else later
