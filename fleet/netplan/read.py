"""From YAML nodes to settings, key by key in the order of the file, so that a key given twice merges.

What netplan rejects is left out here and named by `fleet.netplan.schema`.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

from fleet.keyfile import REDACTED
from fleet.netplan import scalars
from fleet.netplan.leaves import leaves
from fleet.netplan.settings import Match, NetplanSettings, WrittenRoute, joined_routes, merged
from fleet.netplan.tree import Mapping, Node, Scalar, Sequence, named, texts
from fleet.netplan.written import READ_KEYS

Reading = dict[str, Any]


def settings_of(section: str, node: Node) -> NetplanSettings:
    """Everything that one definition says."""
    readings = (_READERS[key](value) for key, value in named(node) if key in _READERS)
    parts = (NetplanSettings(**reading) for reading in (*readings, _others(section, node)))
    return reduce(merged, parts, NetplanSettings())


def _others(section: str, node: Node) -> Reading:
    found = tuple(leaves(section, node, READ_KEYS))
    values = {leaf.key: leaf.text for leaf in found if not leaf.is_item}
    items = dict.fromkeys((leaf.key, leaf.text) for leaf in found if leaf.is_item)
    return {"other_values": tuple(values.items()), "other_items": tuple(items)}


def text_of(node: Node) -> str | None:
    """A scalar's text, or None where it is no scalar or stayed on the host."""
    return node.text if isinstance(node, Scalar) else None


def _value(name: str, read: Callable[[str], Any]) -> Callable[[Node], Reading]:
    def reader(node: Node) -> Reading:
        text = text_of(node)
        value = None if text is None else read(text)
        return {} if value is None else {name: value}

    return reader


def _list(name: str) -> Callable[[Node], Reading]:
    return lambda node: {name: texts(node)} if isinstance(node, Sequence) else {}


def _addresses(node: Node) -> Reading:
    items = node.items if isinstance(node, Sequence) else ()
    written = [text for item in items for text in _address_texts(item)]
    return {"addresses": tuple(dict.fromkeys(found for text in written if (found := scalars.cidr(text))))}


def _address_texts(item: Node) -> tuple[str, ...]:
    return tuple(key for key, _ in named(item)) if isinstance(item, Mapping) else texts(item)


_MATCH: dict[str, str] = {"name": "name", "macaddress": "macaddress"}


def _match(node: Node) -> Reading:
    if not isinstance(node, Mapping):
        return {}
    found: Reading = {}
    for key, value in named(node):
        if key == "driver":
            found["drivers"] = tuple(pattern for text in texts(value) for pattern in text.split())
        elif key in _MATCH and (text := text_of(value)):
            found[_MATCH[key]] = text.lower() if key == "macaddress" else text
    return {"match": Match(**found)}


_ROUTE = {
    "to": _value("to", str), "via": _value("via", str), "from": _value("source", str),
    "metric": _value("metric", scalars.unsigned), "table": _value("table", scalars.unsigned),
    "scope": _value("scope", str), "type": _value("type", str), "on-link": _value("on_link", scalars.boolean),
    **{key: _value(key.replace("-", "_"), scalars.unsigned) for key in (
        "mtu", "congestion-window", "advertised-receive-window", "advertised-mss",
    )},
}  # fmt: skip


def _routes(node: Node) -> Reading:
    items = node.items if isinstance(node, Sequence) else ()
    found = [WrittenRoute(**_through(_ROUTE, item)) for item in items if isinstance(item, Mapping)]
    return {"routes": joined_routes((), tuple(route for route in found if route.to))}


def _through(readers: dict[str, Callable[[Node], Reading]], node: Node) -> Reading:
    found: Reading = {}
    for key, value in named(node):
        if key in readers:
            found.update(readers[key](value))
    return found


def _nested(readers: dict[str, Callable[[Node], Reading]]) -> Callable[[Node], Reading]:
    return lambda node: _through(readers, node)


def _passthrough(node: Node) -> Reading:
    """A null or a list is no setting; what stayed on the host is none that we read."""
    return {"passthrough": tuple((key, text) for key, value in named(node) if (text := text_of(value)) is not None)}


def _profile(node: Node) -> Reading:
    return {"profile": REDACTED if text_of(node) is None else text_of(node)}


_NETWORKMANAGER = {"uuid": _value("uuid", str), "name": _profile, "passthrough": _passthrough}


def _networkmanager(node: Node) -> Reading:
    return (
        {"networkmanager": True, **_through(_NETWORKMANAGER, node)} if isinstance(node, Mapping) and node.pairs else {}
    )


def _access_points(node: Node) -> Reading:
    """An access point may hold the profile; its name is the SSID."""
    found: Reading = {"access_points": ()}
    for _, point in node.pairs if isinstance(node, Mapping) else ():
        found["access_points"] += (_key_management(point),)
        found.update(_through({"networkmanager": _networkmanager}, point))
    return found


def _key_management(point: Node) -> str:
    keys = dict(named(point))
    if "password" in keys:
        return "psk"
    return next((text for key, value in named(keys.get("auth", point)) if key == "key-management"
                 and (text := text_of(value))), "none")  # fmt: skip


_READERS: dict[str, Callable[[Node], Reading]] = {
    **{key: _value(key.replace("-", "_"), str) for key in (
        "renderer", "set-name", "gateway4", "gateway6", "ipv6-address-generation", "ipv6-address-token",
        "activation-mode", "infiniband-mode", "link", "peer", "remote",
    )},
    **{key: _value(key, scalars.boolean) for key in ("dhcp4", "dhcp6", "wakeonlan")},
    "mtu": _value("mtu", scalars.unsigned),
    "id": _value("vlan_id", scalars.unsigned),
    "table": _value("table", scalars.unsigned),
    "mode": _value("tunnel_mode", str),
    "addresses": _addresses,
    "match": _match,
    "routes": _routes,
    "nameservers": _nested({"addresses": _list("nameservers"), "search": _list("search")}),
    "dhcp4-overrides": _nested({"use-routes": _value("use_routes4", scalars.boolean)}),
    "dhcp6-overrides": _nested({"use-routes": _value("use_routes6", scalars.boolean)}),
    "link-local": _list("link_local"),
    "interfaces": _list("interfaces"),
    "access-points": _access_points,
    "networkmanager": _networkmanager,
}  # fmt: skip
