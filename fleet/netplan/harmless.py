"""What may leave a host of a netplan file, by allow-list: all that is not named here is redacted there.

A context is a place in the file: `@` is a definition, `@@` a section, `-` an item, `*` a key of the user's.
"""

from typing import Final

from fleet.netplan import vocabulary as words

LISTS: Final = (
    "addresses", "link-local", "optional-addresses", "interfaces", "wakeonwlan", "extensions", "checksums",
    "notifications", "port-range",
)  # fmt: skip
SECRET_OR_PERSONAL: Final = frozenset(
    {
        "apn",
        "username",
        "password",
        "pin",
        "number",
        "network-id",
        "device-id",
        "sim-id",
        "sim-operator-id",
        "key",
    }
)
_AUTH: Final = ["key-management", "method", "phase2-auth"]

LEAVES: Final[dict[str, list[str]]] = {
    "network": ["version", "renderer"],
    "network @@": ["renderer"],
    "@": sorted(words.DEVICE_SCALARS - SECRET_OR_PERSONAL),
    **{f"@ {name}": ["-"] for name in LISTS},
    "@ addresses - *": sorted(words.ADDRESS_OPTIONS),
    "@ routes -": sorted(words.ROUTE),
    "@ routing-policy -": sorted(words.ROUTING_POLICY),
    "@ match": sorted(words.MATCH),
    "@ match driver": ["-"],
    "@ nameservers addresses": ["-"],
    "@ nameservers search": ["-"],
    "@ dhcp4-overrides": sorted(set(words.DHCP_OVERRIDES) - {"hostname"}),
    "@ dhcp6-overrides": sorted(set(words.DHCP_OVERRIDES) - {"hostname"}),
    "@ ra-overrides": sorted(words.RA_OVERRIDES),
    "@ parameters": sorted(words.BOND_SCALARS | words.BRIDGE_SCALARS),
    "@ parameters arp-ip-targets": ["-"],
    "@ parameters path-cost": ["*"],
    "@ parameters port-priority": ["*"],
    "@ peers -": ["keepalive"],
    "@ peers - allowed-ips": ["-"],
    "@ auth": _AUTH,
    "@ networkmanager": ["uuid", "device"],
    "@ access-points *": ["band", "channel", "hidden", "mode"],
    "@ access-points * auth": _AUTH,
    "@ access-points * networkmanager": ["uuid", "device"],
    "@ networkmanager passthrough": ["*"],
    "@ access-points * networkmanager passthrough": ["*"],
}
"""By context, the keys whose scalar value may leave."""

WIRED_SECTIONS: Final = sorted(words.SECTIONS - {"wifis", "modems", "nm-devices"})
WIRED_TYPES: Final = [
    "ethernet", "802-3-ethernet", "vlan", "bond", "bridge", "dummy", "veth", "vrf", "infiniband", "wireguard",
    "vxlan", "ip-tunnel",
]  # fmt: skip
"""A profile's name leaves only where the file has no other type: a Wi-Fi profile's name is its SSID."""

PASSTHROUGH: Final = "|".join((
    r"connection\.(type|interface-name|master|controller|slave-type|port-type|multi-connect|metered|lldp)",
    r"connection\.autoconnect(-priority|-retries|-ports|-slaves)?",
    r"(ethernet|802-3-ethernet|infiniband)\.(mtu|mac-address|wake-on-lan|auto-negotiate|speed|duplex)",
    r"infiniband\.(transport-mode|parent|p-key)|vlan\.(id|parent|flags)|match\.(interface-name|driver)",
    r"ipv[46]\.(method|address(es)?\d*|gateway|routes?\d*(_options)?|route-metric|route-table|dad-timeout)",
    r"ipv[46]\.(dns|dns-search|dns-priority|never-default|may-fail|ignore-auto-routes|ignore-auto-dns)",
    r"ipv6\.(addr-gen-mode|ip6-privacy)|wifi-security\.key-mgmt|wireguard\.listen-port|vxlan\.(id|parent)",
    r"ip-tunnel\.(mode|parent)|vrf\.table|veth\.peer|bridge\.stp|bond\.(mode|miimon|lacp_rate|primary)",
))  # fmt: skip
"""NetworkManager's settings that may leave, name and value."""

FREE: Final = {
    "network @@": words.IDENTIFIER,
    "@ networkmanager passthrough": PASSTHROUGH,
    "@ access-points * networkmanager passthrough": PASSTHROUGH,
    "@ addresses -": r"[0-9A-Fa-f.:]{2,45}/[0-9]{1,3}",
    "@ parameters path-cost": words.IDENTIFIER,
    "@ parameters port-priority": words.IDENTIFIER,
    "@ access-points": r"(?!)",
}
"""Contexts whose keys are the user's own, and the pattern of those that may leave. SSIDs never do."""

ALLOWED: Final = {
    "sections": sorted(words.SECTIONS),
    "leaves": LEAVES,
    "free": FREE,
    "keys": sorted(words.KEYS),
    "wired_sections": WIRED_SECTIONS,
    "wired_types": WIRED_TYPES,
}
"""The argument of the reader on the host, which redacts everything when it is missing."""
