"""What stands in the way on a host, and on its fabric ports."""

HOST: dict[str, tuple[str, str]] = {
    "unobserved": (
        "a look failed, hung, or gave something unreadable; the sentence says which and why",
        "make the host answer; nothing is assumed instead",
    ),
    "another_machine": (
        "the machine-id is not the one in the roster: another host answers under that name",
        "check addresses and names, or correct `machine_id`",
    ),
}
"""About the host as a whole."""

FABRIC: dict[str, tuple[str, str]] = {
    "interface_missing": (
        "the port of a rail end is not on the host. A ConnectX-7 leaves PCI when no cable is in",
        "look at the cage, then at `lspci`",
    ),
    "no_carrier": (
        "the port is there and no cable is live",
        "plug the cable in, at both ends",
    ),
    "netplan_unreadable": (
        "netplan cannot read one of its files, and so reads none; the file and line are named, never quoted",
        "mend the file or move it away",
    ),
    "networkmanager_off": (
        "NetworkManager is stopped, or networking is switched off",
        "`systemctl start NetworkManager`, `nmcli networking on`",
    ),
    "unmanaged": (
        "NetworkManager does not manage the port",
        "look for `unmanaged-devices` in its configuration",
    ),
    "roce_device_missing": (
        "no RDMA device sits above the port",
        "load `mlx5_ib`; look at `rdma link`",
    ),
    "gid_missing": (
        "address and profile are right, and the RDMA device has no RoCE v2 GID for the address",
        "take the interface down and up while nothing uses RDMA",
    ),
    "transport_unavailable": (
        "`sparks env`: a rail of the Spark has no RoCE v2 GID, so no environment can be made from it",
        "converge the fabric first",
    ),
    "management_address_missing": (
        "`sparks env`: the ranks of a triangle or ring meet over management, and it has no IPv4 address",
        "look at the management connection",
    ),
}
"""About ports, documents, profiles and GIDs."""
