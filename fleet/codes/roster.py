"""Why a roster cannot be: the walls of the model."""

ROSTER: dict[str, tuple[str, str]] = {
    "not_a_fabric_port": (
        "an end of a rail, or a key of `pci`, names an interface that is no ConnectX-7 twin",
        "name one of the four; case matters",
    ),
    "interface_name": (
        "not a name that a network interface can have",
        "1 to 15 letters, digits, `_`, `.`, `-`",
    ),
    "cidr": (
        "not an IPv4 address with its prefix",
        "write it as `192.168.102.10/24`",
    ),
    "prefix": (
        "a prefix that cannot be answered exactly (0, 32), or IPv6 where IPv4 is required",
        "a prefix of 1 to 31",
    ),
    "unusable_address": (
        "loopback, multicast, or reserved: no peer can have it",
        "another address",
    ),
    "host_address": (
        "the network's own address, or its broadcast address",
        "a host's address",
    ),
    "address": (
        "not an IP address",
        "write one out",
    ),
    "ipv4": (
        "IPv6 where IPv4 is required",
        "an IPv4 address",
    ),
    "listed_twice": ("a list has one thing more than once", "take it out but for one; the sentence names it"),
    "neighbour_name": ("a neighbour with other than one name", "exactly one of `unit`, `container` and `program`"),
    "rail_ends": (
        "a rail with other than two ends, or a switch plane with none",
        "one end for each Spark",
    ),
    "rail_to_itself": (
        "a Spark is at two ends of one rail",
        "name the other Spark",
    ),
    "split_subnet": (
        "ends of one rail in different networks, or at different prefixes",
        "one network at every end",
    ),
    "shared_address": (
        "two ends of one rail with one address",
        "an address for each",
    ),
    "unequal_mtu": (
        "ends of one rail with different MTUs: large packets vanish one way",
        "one MTU at every end",
    ),
    "twins_not_reciprocal": (
        "a rail that joins twin `enp1…` to twin `enP2p1…`",
        "the same twin at both ends; cages may differ in a ring",
    ),
    "crossed_rail": (
        "in a pair or on a switch, ends on different interfaces: it passes a jumbo ping, and NCCL cannot select it",
        "the same interface at every end, or another cage for the cable",
    ),
    "rails_of_a_cable": (
        "a cable with no rail, or with more than its two twins can carry",
        "one or two rails",
    ),
    "two_cables": (
        "rails of one cable that join other Sparks",
        "a cable for each two Sparks",
    ),
    "two_cages": (
        "rails of one cable on two cages of a Spark",
        "both twins of one cage",
    ),
    "shared_interface": (
        "rails of one cable on one interface",
        "both twins of the cage",
    ),
    "cage_reused": (
        "two cables in one cage",
        "another cage",
    ),
    "interface_reused": (
        "two rails on one interface",
        "another interface",
    ),
    "rail_number": (
        "a rail number that stands twice in the site",
        "a number of its own; `first_rail` in the short notation",
    ),
    "shared_subnet": (
        "two rails in one subnet, or one inside the other",
        "a subnet each; another `pool`",
    ),
    "spark_in_two_pairs": (
        "a Spark with two cables in shape `pair`. A second cable adds nothing between two Sparks",
        "shape `triangle` or `ring`, or one cable",
    ),
    "shape_cables": (
        "a triangle without three cables, a ring with fewer than four",
        "the shape that the cables make",
    ),
    "cable_order": (
        "in a triangle or ring, a cable that does not go on where the one before ended: ranks follow cable order",
        "list the cables in order, once around",
    ),
    "ring_open": (
        "the last cable does not come back to the first Spark",
        "add the cable that closes it",
    ),
    "ring_crossing": (
        "a Spark is passed twice",
        "two cables for each Spark",
    ),
    "cables_in_shape": (
        "cables in shape `single` or `switch` (written out: `planes`)",
        "the shape that the cables make",
    ),
    "planes_in_shape": (
        "planes in a shape without a switch",
        "shape `switch`",
    ),
    "transit_without_ring": (
        "`transit` where every Spark has a cable to every other, or none",
        "take it out",
    ),
    "switch_is_spark": ("a switch with the name of a Spark", "the switch's own name, or the shape of the cables"),
    "unknown_spark": (
        "a Spark that `sparks` does not name",
        "add it, or correct the name",
    ),
    "unknown_fabric": (
        "a cluster of a fabric that is not there",
        "one of `fabrics`",
    ),
    "cluster_spark_twice": (
        "a cluster that names a Spark twice",
        "name it once",
    ),
    "cluster_outside_fabric": (
        "a cluster with a Spark that is not in its fabric",
        "Sparks of that fabric",
    ),
    "cluster_not_joined": (
        "a cluster whose Sparks are not neighbours in the order of their ranks",
        "what the sentence says",
    ),
    "unknown_cluster": (
        "an assembly on a cluster that is not there",
        "one of `clusters`",
    ),
    "assembly_name_taken": (
        "an assembly with the name of a Spark or of a deployment: `sparks fit NAME` could mean either",
        "another name",
    ),
    "assembly_spare": (
        "a Spark could not join an assembly: it is in it already, or not on its switch",
        "what the sentence says",
    ),
    "deployment_not_enrolled": (
        "a deployment on a Spark that is only named",
        "enrol it, or another Spark",
    ),
    "spark_serves_twice": (
        "two deployments on one Spark",
        "one of them",
    ),
    "pci_reused": (
        "two ConnectX-7 twins of a Spark at one PCI address",
        "an address for each under `pci`",
    ),
    "management_on_fabric": (
        "the management interface is a ConnectX-7 twin",
        "the interface that carries SSH",
    ),
    "management_twice": (
        "DHCP and an address",
        "one of them",
    ),
    "management_incomplete": (
        "a router, name servers or MTU without what they belong to",
        "an `address`, or `dhcp`",
    ),
    "gateway_outside": (
        "a router outside the management network, or the host itself",
        "a router in its network",
    ),
    "management_shared": (
        "two Sparks with one management address",
        "an address each",
    ),
    "management_in_rail": (
        "a management address in the network of a rail",
        "another network for one of them",
    ),
}
"""Walls, by code: what it means, and what to do."""
