"""The transport environment follows from the shape and from what a Spark has, never from another Spark."""

import re
from typing import Any

import pytest
from hypothesis import given

from fleet.cluster import choose_cluster
from fleet.observation import Observation, known
from fleet.record import Unobserved
from fleet.roster import Roster
from fleet.roster_error import RosterError
from fleet.transport import Environment, transport_environment
from tests.fleet import observed
from tests.fleet.strategies import cabled_rosters
from tests.fleet.test_shapes import RING, site


def on(roster: Roster, name: str, seen: Observation, cluster: str | None = None) -> Any:
    chosen = choose_cluster(roster.clusters, roster.fabrics, name, cluster)
    return transport_environment(chosen, roster.fabrics, name, "enP7s7", seen)


def converged(roster: Roster, name: str) -> Observation:
    seen = observed.as_desired(roster.desired_for(name).rail_ends, name)
    return observed.with_link(seen, observed.link("enP7s7", addresses=["192.0.2.7/24"]))


def environment(roster: Roster, name: str, seen: Observation | None = None) -> Environment:
    outcome = on(roster, name, seen or converged(roster, name))
    assert isinstance(outcome, dict), outcome
    return outcome


def moved(seen: Observation, interface: str, index: int) -> Observation:
    """A Spark on which the GID of one twin has moved, as after a link flap (cases/062)."""
    gids = tuple(
        gid.model_copy(update={"index": index}) if gid.netdev == interface else gid for gid in known(seen.roce_gids)
    )
    return seen.model_copy(update={"roce_gids": gids})


@given(cabled_rosters())
def test_every_spark_names_exactly_its_own_devices(values: dict[str, Any]) -> None:
    roster = Roster.read(values, "x")
    for name in roster.sparks:
        found = environment(roster, name)
        devices = [f"{end.twin.rdma_device}:1" for end in roster.desired_for(name).rail_ends]
        assert found["NCCL_IB_HCA"] == "=" + ",".join(devices)
        assert found["UCX_NET_DEVICES"] == ",".join(devices)
        assert found["NCCL_IB_GID_INDEX"] == "3"
        assert all(re.fullmatch(r"[A-Za-z0-9=:,._-]+", value) for value in found.values())


@given(cabled_rosters())
def test_ranks_meet_at_an_address_that_all_of_them_can_reach(values: dict[str, Any]) -> None:
    roster = Roster.read(values, "x")
    (fabric,) = roster.fabrics.values()
    for name in roster.sparks:
        found = environment(roster, name)
        if fabric.shape in ("pair", "switch"):
            assert found["VLLM_HOST_IP"] == str(roster.desired_for(name).rail_ends[0].address.ip)
        else:
            assert (found["GLOO_SOCKET_IFNAME"], found["VLLM_HOST_IP"]) == ("enP7s7", "192.0.2.7")
        assert found["RAY_NODE_IP_ADDRESS"] == found["RAY_OVERRIDE_NODE_IP_ADDRESS"] == found["VLLM_HOST_IP"]


def test_an_index_is_pinned_only_where_every_device_agrees() -> None:
    roster = Roster.read(site("ring", RING), "x")
    seen = converged(roster, "s2")
    apart = moved(seen, "enP2p1s0f1np1", 4)
    found = environment(roster, "s2", apart)
    assert "NCCL_IB_GID_INDEX" not in found
    assert (found["NCCL_IB_ROCE_VERSION_NUM"], found["NCCL_IB_ADDR_FAMILY"]) == ("2", "AF_INET")
    assert environment(roster, "s3")["NCCL_IB_GID_INDEX"] == "3", "another Spark's table changed this one's"


def test_only_a_ring_keeps_to_its_neighbours() -> None:
    ring = environment(Roster.read(site("ring", RING), "x"), "s1")
    pair = environment(Roster.read(site("pair", ["s1.f0 - s2.f0"]), "x"), "s1")
    assert (ring["NCCL_ALGO"], ring["NCCL_MAX_NCHANNELS"], ring["NCCL_RUNTIME_CONNECT"]) == ("Ring", "1", "1")
    assert ring["NCCL_CROSS_NIC"] == "1"
    assert "NCCL_ALGO" not in pair
    assert pair["NCCL_CROSS_NIC"] == "0"


def test_a_lone_spark_meets_itself() -> None:
    roster = Roster.read({"sparks": {"s1": {"enrolled": True}}}, "x")
    found = environment(roster, "s1")
    assert found["VLLM_HOST_IP"] == "127.0.0.1"
    assert not any(name.startswith("NCCL_IB") for name in found)


def test_what_a_spark_lacks_is_refused_all_at_once() -> None:
    roster = Roster.read(site("ring", RING), "x")
    refusals = on(roster, "s1", observed.blank("s1"))
    assert {refusal.code for refusal in refusals} == {"transport_unavailable", "management_address_missing"}
    assert len(refusals) == 5
    blind = converged(roster, "s1").model_copy(update={"roce_gids": Unobserved(reason="closed")})
    (refusal,) = on(roster, "s1", blind)
    assert refusal.code == "unobserved"


TWO = {"a": {"enrolled": True}, "b": {"enrolled": True}, "c": {"enrolled": True}}
SWITCH = {"shape": "switch", "cables": [f"{n}.f0 - leaf" for n in "abc"], "pool": "10.0.0.0/16", "mtu": 9000}
PAIR = {"shape": "pair", "cables": ["a.f1 - b.f1"], "pool": "10.1.0.0/16", "mtu": 9000, "first_rail": 9}


def test_a_cluster_chooses_among_fabrics() -> None:
    values = {
        "sparks": TWO,
        "fabrics": {"switch": SWITCH, "dac": PAIR},
        "clusters": {
            "two": {"fabric": "dac", "sparks": ["a", "b"]},
            "three": {"fabric": "switch", "sparks": ["c", "a", "b"]},
            "one": {"fabric": "switch", "sparks": ["c"]},
        },
    }
    roster = Roster.read(values, "x")
    seen = converged(roster, "a")
    assert on(roster, "a", seen, "two")["NCCL_IB_HCA"] == "=rocep1s0f1:1,roceP2p1s0f1:1"
    assert on(roster, "a", seen, "three")["NCCL_IB_HCA"] == "=rocep1s0f0:1,roceP2p1s0f0:1"
    assert "NCCL_IB_HCA" not in on(roster, "c", converged(roster, "c"), "one")
    assert roster.clusters["three"].rank_of("c") == 0
    for name, sentence in ((None, "expected a cluster by name"), ("four", "expected one of"), ("one", "with a")):
        with pytest.raises(ValueError, match=sentence):
            on(roster, "a", seen, name)


@pytest.mark.parametrize(
    ("cluster", "sentence"),
    [
        ({"fabric": "wifi", "sparks": ["a", "b"]}, "clusters.x.fabric: expected one of dac, switch, found wifi"),
        ({"fabric": "dac", "sparks": ["a", "c"]}, "clusters.x.sparks: expected sparks of dac, found c"),
        ({"fabric": "switch", "sparks": ["a", "a"]}, "expected each spark once, found a again"),
        ({"sparks": ["a", "b"]}, "expected one of dac, switch, found none"),
        ({"fabric": "dac", "sparks": []}, "clusters.x.sparks: expected"),
    ],
)
def test_a_cluster_that_cannot_be_is_refused(cluster: dict[str, Any], sentence: str) -> None:
    values = {"sparks": TWO, "fabrics": {"switch": SWITCH, "dac": PAIR}, "clusters": {"x": cluster}}
    with pytest.raises(RosterError, match=re.escape(sentence)):
        Roster.read(values, "x")


def test_a_ring_is_served_whole_and_in_cable_order() -> None:
    values = site("ring", RING)
    for order in (["s2", "s3", "s4", "s1"], ["s1", "s4", "s3", "s2"]):
        Roster.read(values | {"clusters": {"x": {"fabric": "x", "sparks": order}}}, "x")
    for order in (["s1", "s3", "s2", "s4"], ["s1", "s2"]):
        with pytest.raises(RosterError, match="expected all of s1, s2, s3, s4 in cable order"):
            Roster.read(values | {"clusters": {"x": {"fabric": "x", "sparks": order}}}, "x")
