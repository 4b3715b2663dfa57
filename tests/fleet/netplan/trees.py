"""Netplan directories that hypothesis makes up: files in three places that open the same few definitions again."""

from typing import Any

import yaml
from hypothesis import strategies as st

BOOLEANS = st.sampled_from(["true", "false", "yes", "no", "on", "off", "y", "n", "True"])
SMALL = st.sampled_from([1, 7, 50, 1500, 9000])
RENDERERS = st.sampled_from(["networkd", "NetworkManager"])
V4 = st.sampled_from(["10.0.0.1/24", "10.0.0.2/24", "10.0.0.1/16", "192.168.7.9/30"])
V6 = st.sampled_from(["fe80::1/64", "fd00::1/64", "FD00::1/64", "fd00:0::2/64"])
SERVERS = st.sampled_from(["1.1.1.1", "9.9.9.9", "fd00::53", "fd00::54"])
MAC = st.sampled_from(["00:11:22:33:44:55", "00:11:22:33:44:AA"])


def some(keys: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Any of the keys."""
    return st.fixed_dictionaries({}, optional=keys)


def several(items: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(items, min_size=1, max_size=3)


ROUTE = st.fixed_dictionaries(
    {
        "to": st.sampled_from(["default", "0.0.0.0/0", "10.9.0.0/16", "10.9.1.1"]),
        "via": st.sampled_from(["10.0.0.8", "10.0.0.9"]),
    },
    optional={
        "metric": SMALL, "table": SMALL, "on-link": BOOLEANS, "mtu": SMALL, "from": st.just("10.0.0.1"),
        "scope": st.sampled_from(["global", "link"]), "type": st.sampled_from(["unicast", "blackhole"]),
    },
)  # fmt: skip
POLICY = st.fixed_dictionaries(
    {"from": st.sampled_from(["10.0.0.0/8", "10.1.0.0/16"]), "table": SMALL}, optional={"priority": SMALL}
)
OVERRIDES = some({
    "use-routes": BOOLEANS, "use-dns": BOOLEANS, "route-metric": SMALL, "use-mtu": BOOLEANS, "send-hostname": BOOLEANS,
})  # fmt: skip
PASSTHROUGH = st.dictionaries(
    st.sampled_from(["ipv4.method", "ipv4.address1", "ethernet.mtu", "ipv4.dns", "ipv6.method"]),
    st.sampled_from(["manual", "10.0.0.5/24,10.0.0.1", "1400", ""]),
    max_size=3,
)
COMMON = {
    "dhcp4": BOOLEANS, "dhcp6": BOOLEANS, "mtu": st.sampled_from([1400, "09000", 9000]), "optional": BOOLEANS,
    "critical": BOOLEANS, "accept-ra": BOOLEANS, "ipv6-privacy": BOOLEANS, "ignore-carrier": BOOLEANS,
    "addresses": several(V4 | V6),
    "nameservers": some({"addresses": several(SERVERS), "search": several(st.sampled_from(["a", "b"]))}),
    "routes": several(ROUTE), "routing-policy": several(POLICY),
    "link-local": st.lists(st.sampled_from(["ipv4", "ipv6"]), max_size=2),
    "dhcp4-overrides": OVERRIDES, "dhcp6-overrides": OVERRIDES, "gateway4": st.just("10.0.0.9"),
    "dhcp-identifier": st.sampled_from(["mac", "duid"]), "macaddress": MAC, "renderer": RENDERERS,
    "activation-mode": st.just("manual"),
    "optional-addresses": several(st.sampled_from(["dhcp4", "ipv6-ra"])),
}  # fmt: skip
NETWORKMANAGER = some(
    {"uuid": st.sampled_from(["u1", "u2"]), "name": st.sampled_from(["one", "two"]), "passthrough": PASSTHROUGH}
)
ETHERNET = some({
    **COMMON, "wakeonlan": BOOLEANS, "emit-lldp": BOOLEANS,
    "match": some({"name": st.sampled_from(["a", "en*"]), "macaddress": MAC}),
    "auth": some({"key-management": st.just("802.1x"), "method": st.just("peap"), "identity": st.just("x")}),
    "infiniband-mode": st.just("connected"), "receive-checksum-offload": BOOLEANS,
})  # fmt: skip
BOND = some({
    **COMMON, "interfaces": st.just(["p0"]),
    "parameters": some({
        "mode": st.sampled_from(["802.3ad", "active-backup"]), "mii-monitor-interval": SMALL,
        "lacp-rate": st.just("fast"), "all-slaves-active": BOOLEANS, "packets-per-slave": SMALL,
        "gratuitious-arp": SMALL,
    }),
})  # fmt: skip
BRIDGE = some({**COMMON, "parameters": some({"priority": SMALL, "stp": BOOLEANS, "forward-delay": SMALL})})
VLAN = st.fixed_dictionaries({"id": st.sampled_from([5, 6]), "link": st.just("p1")}, optional=COMMON)
TUNNEL = st.fixed_dictionaries(
    {"mode": st.sampled_from(["gre", "ipip"]), "local": st.just("10.0.0.1"), "remote": st.just("10.0.0.2")},
    optional=COMMON,
)

SECTION = st.one_of(
    st.tuples(st.just("ethernets"), st.sampled_from(["e0", "e1"]), ETHERNET),
    st.tuples(st.just("ethernets"), st.sampled_from(["e0", "e1"]), ETHERNET),
    st.tuples(st.just("bonds"), st.just("b0"), BOND),
    st.tuples(st.just("bridges"), st.just("br0"), BRIDGE),
    st.tuples(st.just("vlans"), st.just("v0"), VLAN),
    st.tuples(st.just("tunnels"), st.just("t0"), TUNNEL),
)


def _line(key: str, value: Any, indent: int) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=9999).removesuffix("\n").removesuffix("\n...")
    return f"{' ' * indent}{key}: {text}\n"


@st.composite
def _file(draw: st.DrawFn, networkmanager: bool) -> str:
    """One file; a definition may stand in it twice, as may a section."""
    text = "network:\n  version: 2\n"
    if renderer := draw(st.none() | RENDERERS):
        text += _line("renderer", renderer, 2)
    for section, id, definition in draw(st.lists(SECTION, max_size=3)):
        text += f"  {section}:\n"
        if renderer := draw(st.none() | st.none() | RENDERERS):
            text += _line("renderer", renderer, 4)
        own = {"renderer": "NetworkManager", "networkmanager": draw(NETWORKMANAGER)} if networkmanager else {}
        text += _line(id, {**definition, **own}, 4)
    return text


PLACES = st.sampled_from(["lib", "etc", "etc", "etc", "run"])
NAMES = st.sampled_from(["05-a.yaml", "10-b.yaml", "9-c.yaml", "90-NM-d.yaml"])
BASE = {"lib/netplan/00-base.yaml": "network: {ethernets: {p0: {}, p1: {}}}\n"}
"""What ports and parents are made of."""


@st.composite
def trees(draw: st.DrawFn) -> dict[str, str]:
    """By path below the root, the text of each file. In some trees every definition is NetworkManager's own."""
    paths = st.builds("{}/netplan/{}".format, PLACES, NAMES)
    return BASE | draw(st.dictionaries(paths, _file(draw(st.booleans())), min_size=1, max_size=4))
