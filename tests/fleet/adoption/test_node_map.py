"""Another tool's node map becomes a roster, or every mistake in it is named: file, field, expected, found."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from fleet.adoption.node_map import read_node_map
from fleet.roster import Roster
from fleet.roster_error import RosterError
from fleet.shape import Shape

F0, F1 = ("rocep1s0f0", "roceP2p1s0f0"), ("rocep1s0f1", "roceP2p1s0f1")


def node(rank: int, peers: dict[str, tuple[str, str]], subnets: dict[str, str], **more: Any) -> dict[str, Any]:
    return {
        "name": f"dgx{rank + 1}", "rank": rank, "management_ip": f"192.0.2.{rank + 1}", "head": rank == 0,
        "roce_gid_index": 3, "roce_peer_hcas": {peer: list(devices) for peer, devices in peers.items()},
        "roce_subnets": subnets, **more,
    }  # fmt: skip


def ring(count: int = 4) -> dict[str, Any]:
    """As spark-ds41f's example: f0 to the next, f1 to the one before."""
    nodes = []
    for rank in range(count):
        onward, back = rank, (rank - 1) % count
        subnets = {F0[0]: f"10.40.{onward}.0/24", F0[1]: f"10.41.{onward}.0/24",
                   F1[0]: f"10.40.{back}.0/24", F1[1]: f"10.41.{back}.0/24"}  # fmt: skip
        nodes.append(node(rank, {str(back): F1, str((rank + 1) % count): F0}, subnets))
    return {"schema_version": 1, "ssh_user": "spark", "nodes": nodes}


def pair() -> dict[str, Any]:
    subnets = {F1[0]: "10.12.1.0/24", F1[1]: "10.12.2.0/24"}
    nodes = [node(0, {"1": F1}, subnets, management_interface="eno1"), node(1, {"0": F1}, subnets)]
    return {"schema_version": 1, "nodes": nodes}


def switched() -> dict[str, Any]:
    subnets = {F0[0]: "10.100.1.0/24", F0[1]: "10.100.2.0/24"}
    nodes = [node(rank, {}, subnets, roce_hcas=list(F0), nccl_hcas=list(F0)) for rank in range(3)]
    for each in nodes:
        del each["roce_peer_hcas"]
    return {"schema_version": 1, "nodes": nodes}


def read(values: dict[str, Any], pool: str | None = None) -> Roster:
    return Roster.read(read_node_map(values, "nodes.json", pool), "test")


@pytest.mark.parametrize(
    ("values", "shape", "rails"),
    [(ring(), Shape.RING, 8), (ring(3), Shape.TRIANGLE, 6), (ring(6), Shape.RING, 12), (pair(), Shape.PAIR, 2)],
)
def test_a_map_of_cables_is_a_fabric_in_the_order_of_its_ranks(
    values: dict[str, Any], shape: Shape, rails: int
) -> None:
    roster = read(values)
    (fabric,) = roster.fabrics.values()
    assert (fabric.shape, len(fabric.segments), fabric.gid_index) == (shape, rails, 3)
    assert fabric.sparks[0] == "dgx1"
    assert roster.enrolled == tuple(sorted(each["name"] for each in values["nodes"]))


def test_a_host_part_is_the_number_in_the_nodes_name_and_the_mtu_is_9000() -> None:
    for end in (end for segment in read(ring()).segments for end in segment.ends):
        assert str(end.address.ip).rpartition(".")[2] == end.spark.removeprefix("dgx")
        assert end.mtu == 9000


def test_a_map_of_a_switch_has_a_plane_for_each_twin() -> None:
    (fabric,) = read(switched()).fabrics.values()
    assert (fabric.shape, [len(plane.ends) for plane in fabric.planes]) == (Shape.SWITCH, [3, 3])


def test_the_management_interface_comes_along() -> None:
    assert read(pair()).sparks["dgx1"].management.interface == "eno1"


def test_an_index_that_differs_between_nodes_is_none_of_the_fabric() -> None:
    values = ring()
    values["nodes"][1]["roce_gid_index"] = 5
    assert next(iter(read(values).fabrics.values())).gid_index is None


def test_the_order_of_the_file_does_not_matter() -> None:
    values = ring()
    values["nodes"].reverse()
    assert read(values) == read(ring())


@pytest.mark.parametrize("count", [3, 4])
def test_a_map_without_subnets_takes_them_from_a_pool(count: int) -> None:
    values = ring(count)
    for each in values["nodes"]:
        del each["roce_subnets"]
    rows = read_node_map(values, "nodes.json", "10.10.0.0/16")
    (fabric,) = rows["fabrics"].values()
    assert fabric["cables"][0] == "dgx1.f0 - dgx2.f1"
    assert len(next(iter(read(values, "10.10.0.0/16").fabrics.values())).segments) == 2 * count
    with pytest.raises(RosterError, match=r"nodes\[0\].roce_subnets: expected the IPv4 network of each device"):
        read(values)


def test_a_switch_without_subnets_takes_them_from_a_pool() -> None:
    values = switched()
    for each in values["nodes"]:
        del each["roce_subnets"]
    (fabric,) = read_node_map(values, "nodes.json", "10.10.0.0/16")["fabrics"].values()
    assert fabric["cables"] == ["dgx1.f0 - switch1", "dgx2.f0 - switch1", "dgx3.f0 - switch1"]
    assert [len(plane.ends) for plane in read(values, "10.10.0.0/16").segments] == [3, 3]


def test_one_node_has_nothing_to_take_from_a_pool() -> None:
    with pytest.raises(RosterError, match=r"^nodes.json: nodes: expected two or more, as --pool is for what joins"):
        read({"nodes": [{"name": "dgx1", "rank": 0, "roce_peer_hcas": {}}]}, "10.10.0.0/16")


@pytest.mark.parametrize(("devices", "line"), [("rocep1s0f0", "a list of devices"), ([None], "one of rocep1s0f0")])
def test_devices_at_a_switch_are_named_by_their_own_key(devices: Any, line: str) -> None:
    values = switched()
    values["nodes"][0]["roce_hcas"] = devices
    with pytest.raises(RosterError) as error:
        read(values)
    assert error.value.lines[0].startswith(f"nodes.json: nodes[0].roce_hcas: expected {line}")


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda v: v.update(schema_version=2), "schema_version: expected 1, found 2"),
        (lambda v: v.update(nodes=[]), "nodes: expected a list of nodes, found []"),
        (lambda v: v["nodes"].__setitem__(0, "dgx1"), "nodes[0]: expected an object, found 'dgx1'"),
        (lambda v: v["nodes"][0].update(name="alpha"), "nodes[0].name: expected a host name that ends in the node's"),
        (lambda v: v["nodes"][0].pop("name"), "nodes[0].name: expected a host name that ends in the node's number"),
        (lambda v: v["nodes"][0].update(name="dgx2"), "nodes[].name: expected one of its own for each node"),
        (lambda v: v["nodes"][0].update(rank="0"), "nodes[0].rank: expected a whole number, found '0'"),
        (lambda v: v["nodes"][0].update(rank=7), "nodes[].rank: expected each of 0 to 3 once, found [1, 2, 3, 7]"),
        (lambda v: v["nodes"][0].update(roce_gid_index=-1), "nodes[0].roce_gid_index: expected a whole number of 0"),
        (lambda v: v["nodes"][0].pop("roce_peer_hcas"), "nodes[0]: expected either roce_peer_hcas (cables) or"),
        (lambda v: v["nodes"][0].update(roce_peer_hcas=[]), "nodes[0].roce_peer_hcas: expected devices by the rank"),
        (lambda v: v["nodes"][0]["roce_peer_hcas"].update({"1": "x"}), "roce_peer_hcas.1: expected a list of devices"),
        (lambda v: v["nodes"][0]["roce_peer_hcas"].update({"1": ["mlx5_0"]}), "expected one of rocep1s0f0, roceP2p1"),
        (lambda v: v["nodes"][0]["roce_peer_hcas"].update({"1": [["x"]]}), "roce_peer_hcas: expected one of"),
        (lambda v: v["nodes"][0]["roce_peer_hcas"].update({"2": list(F0)}), "roce_peer_hcas.2: expected rank 2 in"),
        (lambda v: v["nodes"][0]["roce_peer_hcas"].update({"4": []}), "peer_hcas.4: expected a rank of 0 to 3"),
        (lambda v: v["nodes"][0]["roce_peer_hcas"].update({"9" * 5000: []}), "expected a list of devices for a rank"),
        (lambda v: v["nodes"][0].update({"roce_peer_hcas": None, 3: ""}), "either roce_peer_hcas (cables"),
        (lambda v: v["nodes"][0].update(roce_peer_hcas=None, roce_hcas=[*F0]), "expected nodes that all"),
        (lambda v: v["nodes"][0].pop("roce_subnets"), "nodes[0].roce_subnets: expected the IPv4 network of"),
        (lambda v: v["nodes"][0]["roce_subnets"].pop(F0[0]), "roce_subnets.rocep1s0f0: expected a network for"),
        (lambda v: v["nodes"][0]["roce_subnets"].update({F0[0]: "10.40.0.1/24"}), "expected an IPv4 network, as"),
        (lambda v: v["nodes"][0]["roce_subnets"].update({F0[0]: 5}), "expected an IPv4 network, as 10.12.1.0/24"),
        (lambda v: v["nodes"][0]["roce_subnets"].update({F0[0]: "10.99.0.0/24"}), "expected two ends, found 1"),
        (lambda v: v["nodes"][0]["roce_subnets"].update({F0[0]: "10.40.0.0/255.255.255.0"}), "its prefix 1 to 31"),
        (lambda v: v["nodes"][0]["roce_subnets"].update({F0[0]: "10.40.0.1/32"}), "its prefix 1 to 31"),
        (lambda v: v["nodes"][0]["roce_peer_hcas"].update({"0": list(F0)}), "hcas.0: expected the rank of another"),
        (lambda v: v.update(schema_version=True), "schema_version: expected 1, found True"),
        (lambda v: v["nodes"][0].update(name="dgx99999999999"), "room for each node's number"),
        (lambda v: v["nodes"][0].update(management_interface="enp1s0f0np0"), "outside the fabric, found enp1s0f0np0"),
    ],
)  # fmt: skip
def test_every_mistake_is_named_with_file_and_field(change: Change, line: str) -> None:
    values = copy.deepcopy(ring())
    change(values)
    with pytest.raises(RosterError) as error:
        read(values)
    assert all(each.startswith("nodes.json: ") for each in error.value.lines)
    assert any(line in each for each in error.value.lines), error.value.lines


@pytest.mark.parametrize("values", [None, [], "x", {"hosts": []}])
def test_what_is_no_map_at_all_is_named(values: Any) -> None:
    with pytest.raises(RosterError, match=r"^nodes\.json: "):
        read_node_map(values, "nodes.json")


@pytest.mark.parametrize("pool", [None, "10.10.0.0/16"])
def test_a_key_without_a_value_says_nothing(pool: str | None) -> None:
    values = pair()
    for each in values["nodes"]:
        each["roce_hcas"] = None
        if pool:
            del each["roce_subnets"]
    assert [each.shape for each in read(values, pool).fabrics.values()] == [Shape.PAIR]


def test_a_pool_hides_no_cable_to_a_node_that_is_not_there() -> None:
    values = pair()
    for each in values["nodes"]:
        del each["roce_subnets"]
    values["nodes"][0]["roce_peer_hcas"]["2"] = list(F0)
    with pytest.raises(RosterError, match=r"^nodes\.json: dgx1\.roce_peer_hcas\.2: expected a rank of 0 to 1, found"):
        read(values, "10.10.0.0/16")


def test_a_pool_needs_both_twins_of_each_cable_and_no_subnets() -> None:
    values = ring()
    with pytest.raises(RosterError, match="expected none, as --pool gives them"):
        read(values, "10.10.0.0/16")
    for each in values["nodes"]:
        del each["roce_subnets"]
    values["nodes"][0]["roce_peer_hcas"]["1"] = [F0[0]]
    with pytest.raises(RosterError, match=r"dgx1.roce_peer_hcas.1: expected both devices of one cage"):
        read(values, "10.10.0.0/16")
