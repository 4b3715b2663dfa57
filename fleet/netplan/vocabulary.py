"""The keys that netplan knows, and what it expects under each.

Found by asking libnetplan 1.1.2 about every word in it, section by section (2026-11). An older netplan knows
fewer; our reading is as liberal as this one.
"""

from typing import Final

from fleet.netplan.scalars import KINDS

IDENTIFIER: Final = r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,63}"


def _keys(kind: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), kind)


COMMON: Final = {
    **_keys("bool", "accept-ra critical dhcp4 dhcp6 hairpin ignore-carrier ipv6-privacy"),
    **_keys("bool", "neigh-suppress optional port-mac-learning"),
    **_keys("uint", "mtu ipv6-mtu"),
    "activation-mode": "one:manual|off", "dhcp-identifier": "one:mac|duid", "ipv6-address-token": "ipv6",
    "ipv6-address-generation": "one:eui64|stable-privacy", "link-local": "list:ipv4|ipv6",
    "optional-addresses": "list:ipv4-ll|ipv6-ra|dhcp4|dhcp6|static",
    **_keys("overrides", "dhcp4-overrides dhcp6-overrides"),
    "macaddress": "own_address", "renderer": "renderer", "gateway4": "ipv4", "gateway6": "ipv6",
    "addresses": "addresses", "nameservers": "nameservers", "routes": "routes",
    "ra-overrides": "ra_overrides",
    "routing-policy": "routing_policy", "networkmanager": "networkmanager", "openvswitch": "anything_mapped",
}  # fmt: skip

PHYSICAL: Final = {
    **_keys("bool", "emit-lldp wakeonlan generic-receive-offload generic-segmentation-offload"),
    **_keys("bool", "large-receive-offload receive-checksum-offload tcp-segmentation-offload"),
    **_keys("bool", "tcp6-segmentation-offload transmit-checksum-offload"),
    "match": "match", "set-name": "text",
    "wakeonwlan": "list:any|disconnect|magic_pkt|gtk_rekey_failure|eap_identity_req|four_way_handshake"
    "|rfkill_release|tcp|default",
}  # fmt: skip

ETHERNET: Final = {
    **PHYSICAL, "auth": "auth", "delay-virtual-functions-rebind": "bool",
    "embedded-switch-mode": "one:switchdev|legacy", "infiniband-mode": "one:datagram|connected",
    "link": "text", "virtual-function-count": "uint",
}  # fmt: skip

TUNNEL: Final = {
    **_keys("bool", "arp-proxy do-not-fragment mac-learning short-circuit"),
    **_keys("ip", "local remote"),
    "link": "text",
    "mode": "one:ipip|gre|sit|isatap|vti|ip6ip6|ipip6|ip6gre|vti6|gretap|ip6gretap|vxlan|wireguard",
    **_keys("uint", "ageing aging flow-label id limit mark port ttl type-of-service"),
    **_keys("strings", "checksums extensions notifications port-range"),
    **_keys("anything", "key keys"),
    "peers": "peers",
}

MODEM: Final = {
    **PHYSICAL, "auto-config": "bool",
    **_keys("text", "apn device-id network-id number password pin sim-id sim-operator-id username"),
}  # fmt: skip

SECTION_KEYS: Final[dict[str, dict[str, str]]] = {
    "ethernets": ETHERNET,
    "wifis": {**PHYSICAL, "auth": "auth", "access-points": "access_points", "regulatory-domain": "text"},
    "bonds": {"interfaces": "strings", "parameters": "bond_parameters"},
    "bridges": {"interfaces": "strings", "parameters": "bridge_parameters"},
    "vlans": {"id": "uint", "link": "text"},
    "tunnels": TUNNEL,
    "modems": MODEM,
    "dummy-devices": {},
    "virtual-ethernets": {"peer": "text"},
    "vrfs": {"interfaces": "strings", "table": "uint"},
    "nm-devices": ETHERNET,
}
"""Beyond COMMON, by the section a definition stands in."""

NETWORK: Final = {"version": "version", "renderer": "renderer", "openvswitch": "anything_mapped"}
MATCH: Final = {"name": "name", "macaddress": "hardware_address", "driver": "anything"}
NAMESERVERS: Final = {"addresses": "ip_list", "search": "strings"}
ROUTE: Final = {
    **_keys("uint", "advertised-mss advertised-receive-window congestion-window metric mtu table"),
    **_keys("text", "from to via"), "on-link": "bool", "scope": "one:global|link|host",
    "type": "one:unicast|anycast|blackhole|broadcast|local|multicast|nat|prohibit|throw|unreachable|xresolve",
}  # fmt: skip
ROUTING_POLICY: Final = {**_keys("uint", "mark priority table type-of-service"), **_keys("text", "from to")}
DHCP_OVERRIDES: Final = {
    **_keys("bool", "send-hostname use-dns use-hostname use-mtu use-ntp use-routes"),
    "route-metric": "uint", "use-domains": "text", "hostname": "text",
}  # fmt: skip
RA_OVERRIDES: Final = {"use-dns": "bool", "use-domains": "text", "table": "uint"}
NETWORKMANAGER: Final = {**_keys("text", "uuid name device stable-id"), "passthrough": "passthrough"}
AUTH: Final = {
    "key-management": "one:none|psk|eap|sae|802.1x|eap-sha256|eap-suite-b-192|psk-sha256",
    "method": "one:tls|peap|leap|pwd|ttls",
    **_keys("text", "phase2-auth identity anonymous-identity password ca-certificate client-certificate"),
    **_keys("text", "client-key client-key-password"),
}
ACCESS_POINT: Final = {
    **_keys("text", "bssid password"), "band": "one:5GHz|5G|2.4GHz|2.4G",
    "channel": "uint", "hidden": "bool", "auth": "auth",
    "networkmanager": "networkmanager", "mode": "one:infrastructure|adhoc|ap",
}  # fmt: skip
PEER: Final = {"allowed-ips": "strings", "endpoint": "text", "keepalive": "uint", "keys": "peer_keys"}
PEER_KEYS: Final = _keys("text", "public shared")
BOND: Final = {
    **_keys("bool", "all-members-active all-slaves-active"),
    **_keys("uint", "gratuitious-arp gratuitous-arp min-links packets-per-member packets-per-slave"),
    **_keys("uint", "resend-igmp"),
    **_keys("text", "ad-select arp-all-targets arp-interval arp-validate down-delay fail-over-mac-policy"),
    **_keys("text", "lacp-rate learn-packet-interval mii-monitor-interval primary primary-reselect-policy"),
    "mode": "one:balance-rr|active-backup|balance-xor|broadcast|802.3ad|balance-tlb|balance-alb|balance-tcp"
    "|balance-slb",
    **_keys("text", "transmit-hash-policy up-delay"), "arp-ip-targets": "ip_list",
}  # fmt: skip
BRIDGE: Final = {
    **_keys("text", "ageing-time aging-time forward-delay hello-time max-age"),
    "priority": "uint", "stp": "bool",
    **_keys("scalars_by_name", "path-cost port-priority"),
}  # fmt: skip

SYNONYMS: Final = {
    "all-slaves-active": "all-members-active", "packets-per-slave": "packets-per-member",
    "gratuitious-arp": "gratuitous-arp", "aging": "ageing", "aging-time": "ageing-time",
}  # fmt: skip
"""Two spellings of one key, the older first: whichever is later wins."""
ADDRESS_OPTIONS: Final = {"label": "text", "lifetime": "one:0|forever"}

BELOW: Final = {
    "match": MATCH, "nameservers": NAMESERVERS, "overrides": DHCP_OVERRIDES, "ra_overrides": RA_OVERRIDES,
    "networkmanager": NETWORKMANAGER, "auth": AUTH, "peer_keys": PEER_KEYS, "bond_parameters": BOND,
    "bridge_parameters": BRIDGE,
}  # fmt: skip
"""What stands under a key of that kind: a mapping with these keys."""
ITEMS: Final = {"routes": ROUTE, "routing_policy": ROUTING_POLICY, "peers": PEER}
"""What stands under a key of that kind: a list of mappings with these keys."""

SECTIONS: Final = frozenset(SECTION_KEYS)


def scalars(keys: dict[str, str]) -> frozenset[str]:
    """The keys under which a single value stands."""
    return frozenset(key for key, kind in keys.items() if kind in KINDS or kind.startswith("one:"))


DEVICE_SCALARS: Final = scalars(COMMON).union(*(scalars(keys) for keys in SECTION_KEYS.values()))
BOND_SCALARS: Final = scalars(BOND)
BRIDGE_SCALARS: Final = scalars(BRIDGE)
_OTHER: Final = frozenset({"network", "input", "output", "private", "private-key-flags", "<<"})
KEYS: Final = _OTHER.union(
    NETWORK, SECTION_KEYS, COMMON, ACCESS_POINT, ADDRESS_OPTIONS,
    *SECTION_KEYS.values(), *BELOW.values(), *ITEMS.values(),
)  # fmt: skip
"""Every word that netplan knows as a key, and `<<`, which people take for one."""
