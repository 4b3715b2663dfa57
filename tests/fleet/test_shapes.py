"""Every shape that labs cable: what it lets stand, what it does not, and what follows from the cables alone."""

import copy
from ipaddress import ip_interface, ip_network
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.plan import Plan
from fleet.roster import Roster
from fleet.roster_error import RosterError
from tests.fleet import observed
from tests.fleet.observed import plan_of
from tests.fleet.strategies import cabled_rosters


def site(shape: str, cables: list[str], count: int = 4, **fabric: Any) -> dict[str, Any]:
    values = {"shape": shape, "cables": cables, "pool": "10.0.0.0/16", "mtu": 9000} | fabric
    return {"sparks": {f"s{n}": {"enrolled": True} for n in range(1, count + 1)}, "fabrics": {"x": values}}


RING = ["s1.f1 - s2.f0", "s2.f1 - s3.f0", "s3.f1 - s4.f0", "s4.f1 - s1.f0"]
TRIANGLE = ["s1.f1 - s2.f0", "s2.f1 - s3.f0", "s3.f1 - s1.f0"]

WRONG = {
    "a pair between f0 and f1": (site("pair", ["s1.f0 - s2.f1"]), "expected one interface at every end"),
    "a spark in two pairs": (site("pair", ["s1.f0 - s2.f0", "s1.f1 - s3.f1"]), "s1: expected one cable for a spark"),
    "a triangle of two cables": (site("triangle", TRIANGLE[:2]), "expected three cables in a triangle, found 2"),
    "a ring of three": (site("ring", TRIANGLE), "expected four cables or more in a ring, found 3"),
    "an open ring": (site("ring", [*RING[:3], "s4.f1 - s5.f0"], 5), "expected it to close the ring at s1, found s5"),
    "cables out of order": (site("ring", [RING[0], RING[2], RING[1], RING[3]]), "expected it to go on from s2"),
    "a ring with a cable too many": (
        site("ring", ["s1.f1 - s2.f0", "s2.f1 - s1.f0", "s1.f1 - s2.f0", "s2.f1 - s1.f0"], 2),
        "expected",
    ),
    "a cage with two cables": (site("ring", [*RING[:3], "s4.f0 - s1.f0"]), "s4.f0: expected one cable for a cage"),
    "a cable to itself": (site("pair", ["s1.f0 - s1.f0"]), "expected another spark at each end, found s1 2 times"),
    "cables in a single": (site("single", ["s1.f0 - s2.f0"]), "expected none in shape single"),
    "transit without a ring": (
        site("pair", ["s1.f0 - s2.f0"], transit=True),
        "transit: expected it only in",
    ),
    "sparks on other ports of a switch": (
        site("switch", ["s1.f0 - leaf", "s2.f1 - leaf"]),
        "expected one interface at every end",
    ),
    "a cage on two switches": (site("switch", ["s1.f0 - leaf", "s1.f0 - spine"]), "expected one cable for a cage"),
    "an unknown spark": (site("pair", ["s1.f0 - zed.f0"]), "found zed"),
    "no cage": (site("pair", ["s1 - s2"]), "cables[0]: expected a cable as 'dgx1.f1 - dgx2.f0', found 's1 - s2'"),
    "a cage nobody has": (site("pair", ["s1.f2 - s2.f2"]), "expected a cable as"),
    "a switch in a pair": (site("pair", ["s1.f0 - leaf"]), "expected a cable as"),
    "a spark where a switch belongs": (site("switch", ["s1.f0 - s2.f0"]), "expected a cable as 'dgx1.f0 - switch1'"),
    "a cable that is no text": (site("pair", ["s1.f0 - s2.f0", 7]), "cables[1]: expected a cable as"),  # type: ignore[list-item]
    "a number twice": (site("pair", ["1: s1.f0 - s2.f0", "1: s3.f0 - s4.f0"]), "cables[1]: expected a number of its"),
    "no pool": (site("pair", ["s1.f0 - s2.f0"], pool=None), "pool: expected a value, or the key left out, found None"),
    "a pool of IPv6": (site("pair", ["s1.f0 - s2.f0"], pool="fd00::/8"), "pool: expected an IPv4 network"),
    "a pool that is an address": (
        site("pair", ["s1.f0 - s2.f0"], pool="10.0.0.1/16"),
        "pool: expected an IPv4 network",
    ),
    "a pool too small for the prefix": (site("pair", ["s1.f0 - s2.f0"], pool="10.0.0.0/25"), "pool: expected an IPv4"),
    "a pool without room": (
        site("ring", RING, pool="10.0.0.0/22"),
        "expected room for 5 subnets of /24, found 4",
    ),
    "a subnet without room": (
        site("switch", [f"s{n}.f0 - leaf" for n in range(1, 5)], prefix=30),
        "prefix: expected room for 3 addresses",
    ),
    "a prefix that is no number": (site("pair", ["s1.f0 - s2.f0"], prefix="24"), "prefix: expected a whole number"),
    "a host prefix": (site("pair", ["s1.f0 - s2.f0"], prefix=32), "prefix: expected a whole number of 1 to 31"),
    "no MTU": (site("pair", ["s1.f0 - s2.f0"], mtu=None), "mtu: expected a value, or the key left out, found None"),
    "a pool with a mask": (
        site("pair", ["s1.f0 - s2.f0"], pool="10.0.0.0/255.255.0.0"),
        "pool: expected an IPv4 network of /24 or larger, as 10.10.0.0/16, found '10.0.0.0/255.255.0.0'",
    ),
    "a switch that is a spark": (
        site("switch", ["s1.f0 - s2", "s3.f0 - s2"]),
        "rail 1: expected a switch, found the spark s2 [switch_is_spark]",
    ),
    "an endless cable": (site("pair", ["s1.f0 - " + "s" * 10**5]), "expected a cable as 'dgx1.f1 - dgx2.f0', found"),
    "an unknown key": (site("pair", ["s1.f0 - s2.f0"], speed=200), "fabrics.x.speed: expected no such key"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_fabric_that_cannot_be_says_where_and_why(case: str) -> None:
    values, sentence = WRONG[case]
    with pytest.raises(RosterError) as caught:
        Roster.read(values, "group_data/x.py")
    assert any(sentence in line and line.startswith("group_data/x.py: roster") for line in caught.value.lines), (
        caught.value.lines
    )


@pytest.mark.parametrize("fabric", [{"mtu": "x"}, {"pool": 5}, {"cables": ["x"]}, {"prefix": 32}])
def test_each_complaint_about_a_short_fabric_is_a_line_of_its_own(fabric: dict[str, Any]) -> None:
    values = site("pair", ["s1.f0 - s2.f0"])
    values["fabrics"] = dict.fromkeys("xy", values["fabrics"]["x"] | fabric)
    with pytest.raises(RosterError) as caught:
        Roster.read(values, "x.py")
    (key,) = fabric
    places = [line.split(key)[0] for line in caught.value.lines]
    assert places == [f"x.py: roster.fabrics.{name}." for name in "xy"]
    assert all(len(line) < 200 for line in caught.value.lines)


def test_fabrics_of_one_site_stand_apart() -> None:
    values = site("pair", ["s1.f0 - s2.f0"])
    other = copy.deepcopy(values["fabrics"]["x"]) | {"cables": ["s1.f1 - s2.f1"], "first_rail": 11}
    for changes, sentence in (
        ({}, "expected a subnet each"),
        ({"pool": "10.1.0.0/16", "first_rail": 1}, "rail 1: expected a rail number of its own"),
        ({"pool": "10.1.0.0/16", "cables": ["s1.f0 - s3.f0"]}, "s1.f0: expected one cable for a cage"),
    ):
        with pytest.raises(RosterError) as caught:
            Roster.read(values | {"fabrics": values["fabrics"] | {"y": other | changes}}, "x")
        assert sentence in str(caught.value)
    assert Roster.read(values | {"fabrics": values["fabrics"] | {"y": other | {"pool": "10.1.0.0/16"}}}, "x")


@given(cabled_rosters())
def test_addresses_are_unique_and_subnets_disjoint(values: dict[str, Any]) -> None:
    roster = Roster.read(values, "x")
    ends = [end for segment in roster.segments for end in segment.ends]
    assert len({str(end.address.ip) for end in ends}) == len(ends)
    assert len({(end.spark, end.interface) for end in ends}) == len(ends)
    subnets = [ip_network(segment.subnet) for segment in roster.segments]
    assert not any(one.overlaps(other) for one, other in combinations(subnets, 2))
    assert all(ip_interface(str(end.address)).network in subnets for end in ends)
    for name in roster.sparks:
        cages = [(end.twin.cage, str(end.address.cidr)) for end in ends if end.spark == name]
        assert len(set(cages)) == len(cages), "both twins of a cage share a subnet"


@given(cabled_rosters())
def test_every_spark_has_a_rank_and_every_end_its_peers(values: dict[str, Any]) -> None:
    roster = Roster.read(values, "x")
    (fabric,) = roster.fabrics.values()
    assert sorted(fabric.sparks) == sorted(roster.sparks)
    for name in roster.sparks:
        for end in roster.desired_for(name).rail_ends:
            assert end.peers
            assert all(peer.spark != name and peer.address.cidr == end.address.cidr for peer in end.peers)


@given(cabled_rosters(shapes=("pair", "switch")), st.data())
def test_a_cable_that_is_appended_moves_no_address(values: dict[str, Any], data: st.DataObject) -> None:
    fabric = values["fabrics"]["all"]
    kept = data.draw(st.integers(1, len(fabric["cables"])))
    before = Roster.read(values | {"fabrics": {"all": fabric | {"cables": fabric["cables"][:kept]}}}, "x")
    after = Roster.read(values, "x")
    for name in before.sparks:
        few = {(end.interface, str(end.address)) for end in before.desired_for(name).rail_ends}
        assert few <= {(end.interface, str(end.address)) for end in after.desired_for(name).rail_ends}


def test_a_triangle_grows_to_a_ring_and_its_other_cables_keep_everything() -> None:
    three = Roster.read(site("triangle", TRIANGLE), "x")
    grown = [*TRIANGLE[:2], "4: s3.f1 - s4.f0", "5: s4.f1 - s1.f0"]
    four = Roster.read(site("ring", grown), "x")
    old = {str(rail): rail for rail in three.segments}
    new = {str(rail): rail for rail in four.segments}
    assert set(old) & set(new) == {f"rail {number}" for number in range(1, 5)}
    assert all(new[name] == old[name] for name in set(old) & set(new))
    taken = {rail.subnet for rail in old.values()}
    assert not taken & {rail.subnet for name, rail in new.items() if name not in old}


@given(cabled_rosters(shapes=("ring",)))
def test_transit_reaches_every_address_and_never_turns_back(values: dict[str, Any]) -> None:
    values["fabrics"]["all"]["transit"] = True
    roster = Roster.read(values, "x")
    holders = {str(end.address.ip): end.spark for segment in roster.segments for end in segment.ends}
    subnets = {segment.subnet for segment in roster.segments}
    tables = {}
    for name in roster.sparks:
        ends = roster.desired_for(name).rail_ends
        on_link = {str(end.address.cidr): "" for end in ends}
        routes = [(route.to, str(route.via)) for end in ends for route in end.routes]
        assert len({to for to, _ in routes}) == len(routes), "two ways to one subnet"
        tables[name] = on_link | dict(routes)
        assert set(tables[name]) == subnets
    for name in roster.sparks:
        for subnet in subnets:
            here, passed = name, 0
            while via := tables[here][subnet]:
                here, passed = holders[via], passed + 1
                assert passed < len(roster.sparks), f"{name} never gets to {subnet}"


@given(cabled_rosters())
def test_what_the_documents_make_needs_nothing(values: dict[str, Any]) -> None:
    roster = Roster.read(values, "x")
    wishes = {name: roster.desired_for(name) for name in roster.enrolled}
    seen = {name: observed.as_desired(wish.rail_ends, name, wish.transit) for name, wish in wishes.items()}
    outcome = plan_of(roster, seen)
    assert isinstance(outcome, Plan), outcome
    assert outcome.is_noop


@given(cabled_rosters())
def test_every_spark_of_a_ring_with_transit_passes_on_between_all_its_rails(values: dict[str, Any]) -> None:
    roster = Roster.read(values, "x")
    for name in roster.sparks:
        wish = roster.desired_for(name)
        asked = {fabric.transit for fabric in roster.fabrics.values() if name in fabric.sparks}
        assert (wish.transit is not None) == (True in asked)
        if wish.transit is not None:
            assert set(wish.transit.interfaces) == {end.interface for end in wish.rail_ends}
            assert {segment.subnet for segment in roster.segments} == set(wish.transit.subnets)
