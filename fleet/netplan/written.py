"""What a definition writes, flat: every value under the key by which netplan's files say it."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from fleet.netplan.settings import Match, NetplanSettings, WrittenRoute

KEYS: Final = {
    "use_routes4": "dhcp4-overrides.use-routes", "use_routes6": "dhcp6-overrides.use-routes",
    "tunnel_mode": "mode", "vlan_id": "id", "uuid": "networkmanager.uuid", "profile": "networkmanager.name",
    "nameservers": "nameservers.addresses", "search": "nameservers.search",
    "passthrough": "networkmanager.passthrough",
}  # fmt: skip
"""By field of the settings, netplan's key where it is not the field's own name."""
NOT_WRITTEN: Final = frozenset({"section_renderer", "networkmanager", "other_values", "other_items"})
"""Fields that say something about the definition, or that hold keys of their own."""


def key_of(field: str) -> str:
    """The key that a field of the settings is read from."""
    return KEYS.get(field, field.replace("_", "-"))


READ_KEYS: Final = frozenset(key_of(field) for field in NetplanSettings.model_fields if field not in NOT_WRITTEN)
"""The keys whose values have a field of their own."""
ACCESS_POINTS: Final = key_of("access_points")


class Written(NamedTuple):
    """Single values by key, where a later file replaces; and the items of lists, where it adds."""

    values: dict[str, str]
    items: dict[str, tuple[str, ...]]


def written(settings: NetplanSettings) -> Written:
    """Every value of the settings. Of access points only how they are joined: their names stay on the host."""
    values, items = dict(settings.other_values), _grouped(settings.other_items)
    for field, value in settings:
        if field in NOT_WRITTEN or value is None:
            continue
        if field in ("match", "passthrough", "link_local"):
            values |= _AS_VALUES[field](value)
        elif isinstance(value, tuple):
            items[key_of(field)] = tuple(one if isinstance(one, str) else route_text(one) for one in value)
        else:
            values[key_of(field)] = _text(value)
    return Written(values, {key: found for key, found in items.items() if found})


def _grouped(pairs: tuple[tuple[str, str], ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key, text in pairs:
        found[key] = (*found.get(key, ()), text)
    return found


def _of_match(match: Match) -> dict[str, str]:
    """`match: {}` says something: any interface of the kind."""
    found = {"match.name": match.name, "match.macaddress": match.macaddress, "match.driver": " ".join(match.drivers)}
    return {key: text for key, text in found.items() if text} or {"match": "{}"}


def _of_link_local(families: tuple[str, ...]) -> dict[str, str]:
    """A later file replaces the list; an empty one is a value."""
    return {"link-local": f"[{', '.join(sorted(set(families)))}]"}


def _of_passthrough(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {f"{key_of('passthrough')}.{name}": text for name, text in pairs}


_AS_VALUES: Final[dict[str, Callable[[Any], dict[str, str]]]] = {
    "match": _of_match,
    "link_local": _of_link_local,
    "passthrough": _of_passthrough,
}


def route_text(route: WrittenRoute) -> str:
    """A route on one line, by netplan's keys."""
    pairs = ((field, value) for field, value in route if value is not None)
    said = (f"{'from' if field == 'source' else field.replace('_', '-')}: {_text(value)}" for field, value in pairs)
    return f"{{{', '.join(said)}}}"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
