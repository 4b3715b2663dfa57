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
    "device_missing": (
        "the network device of a rail end is not on PCI. `dgx-spark-mlnx-hotplug` takes a ConnectX-7 off PCI while "
        "no cable is in; `/sys/devices/platform/MTKP0001:00/pcie_hotplug/debug_state` is 1 while it sees one",
        "plug the cable in at both ends, and restart both Sparks with it in: one that came back while they ran can "
        "stay at 13 Gb/s. A board with other PCI addresses names them in the roster (`pci`)",
    ),
    "interface_missing": (
        "the device is on PCI and has no interface of the name: no driver has taken it, or it has another name",
        "load the driver, or look for what names it: a rule of udev, a `.link` file",
    ),
    "no_carrier": (
        "the port is there and up, and no cable is live; the rail and both its ends are named",
        "plug the cable in, at both ends",
    ),
    "port_down": (
        "somebody disconnected the port with `nmcli device disconnect`; or it was brought up and is down again. "
        "A port that is merely down is a step and no refusal",
        "`nmcli device set PORT autoconnect yes` once it may come up, or take the rail out of the roster",
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
        "the RDMA device has a RoCE v2 GID for the address, and its port is not ACTIVE",
        "look at `rdma link`; the port follows its interface within a second",
    ),
    "gid_index_taken": (
        "another GID stands at the index that the fabric declares (`gid_index`); no repair of ours can move it",
        "declare another index, or take away what holds that one",
    ),
    "rdma_in_use": (
        "a rail must be brought up again, which takes its GIDs away, and processes (or a kernel module, as rpcrdma) "
        "work with its RDMA device; they are named with their pids",
        "stop them and run again: `pyinfra INV fact facts.roce.RdmaUse` shows who holds what",
    ),
    "transport_unavailable": (
        "`sparks env`: a rail of the Spark has no RoCE v2 GID, so no environment can be made from it. Of a deployment: "
        "its Sparks are not known to reach each other by that transport under this kernel release, or are known not to",
        "converge the fabric first; or what it says would help",
    ),
    "management_address_missing": (
        "`sparks env`: the ranks of a triangle or ring meet over management, and it has no IPv4 address",
        "look at the management connection",
    ),
}
"""About ports, documents, profiles and GIDs."""
