"""A map says what the plan says: of each Spark, of each rail end, and of the whole."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.decide import decide
from fleet.map import Map, MapEnd, map_of
from fleet.map_state import State, finding, worst, worst_of_ours
from fleet.observation import Observation
from fleet.plan import Plan
from fleet.rail_active import active_step
from fleet.rail_document import document_step
from fleet.record import Unobserved
from fleet.roster import Roster
from tests.fleet import observed, shapes
from tests.fleet.observed import plan_of
from tests.fleet.spelled import spelled
from tests.fleet.strategies import pair_rosters

WAYS: list[Callable[[Roster, str], Observation]] = [
    shapes.as_desired, shapes.pulled, shapes.silent, shapes.with_lost_mtu, shapes.blank,
]  # fmt: skip


@st.composite
def observed_sites(draw: st.DrawFn) -> tuple[Roster, dict[str, Observation]]:
    roster = Roster.read(draw(pair_rosters()), "test")
    return roster, {name: draw(st.sampled_from(WAYS))(roster, name) for name in roster.enrolled}


def ends(drawn: Map) -> list[MapEnd]:
    return [end for fabric in drawn.fabrics for segment in fabric.segments for end in segment.ends]


@settings(max_examples=25)
@given(observed_sites())
def test_a_map_says_what_the_plan_says(site: tuple[Roster, dict[str, Observation]]) -> None:
    roster, collection = site
    drawn, outcome = map_of("site", roster, collection), plan_of(roster, collection)
    for spark in (each for each in drawn.sparks if each.enrolled):
        decided = decide(roster.desired_for(spark.name), collection[spark.name])
        assert spark.findings == tuple(dict.fromkeys(map(finding, decided)))
        assert (spark.state is State.AS_DESIRED) is (not spark.findings)
    if isinstance(outcome, Plan):
        assert drawn.state is (State.AS_DESIRED if outcome.is_noop else State.PENDING)
    else:
        assert drawn.state in (State.REFUSED, State.NOT_OBSERVED)


@settings(max_examples=25)
@given(observed_sites())
def test_an_end_is_as_desired_where_nothing_is_due_for_it(site: tuple[Roster, dict[str, Observation]]) -> None:
    roster, collection = site
    for end in (each for each in ends(map_of("site", roster, collection)) if roster.sparks[each.spark].enrolled):
        desired, seen = roster.desired_for(end.spark).end_on(end.interface), collection[end.spark]
        assert desired is not None
        is_done = document_step(desired, seen) is None and active_step(desired, seen) is None
        assert (end.state is State.AS_DESIRED) is is_done
        assert bool(end.findings) is not is_done


@settings(max_examples=25)
@given(observed_sites())
def test_a_whole_is_no_better_than_its_parts(site: tuple[Roster, dict[str, Observation]]) -> None:
    roster, collection = site
    for fabric in map_of("site", roster, collection).fabrics:
        for segment in fabric.segments:
            assert segment.state is worst(end.state for end in segment.ends)
        for cable in fabric.cables:
            assert cable.state is worst(rail.state for rail in cable.rails)
        assert fabric.state is worst_of_ours(cable.state for cable in fabric.cables)


@pytest.mark.parametrize("count", [2, 3, 4, 8])
def test_every_end_of_the_roster_is_on_the_map_once_with_its_address(count: int) -> None:
    for roster in shapes.sites(count).values():
        shown = [(end.spark, end.interface, end.address) for end in ends(map_of("site", roster, None))]
        assert sorted(shown) == sorted(
            (end.spark, end.interface, str(end.address)) for segment in roster.segments for end in segment.ends
        )


def test_the_ends_of_a_rail_come_in_the_order_of_its_cable() -> None:
    for roster in shapes.sites(4).values():
        for cable in (cable for fabric in map_of("site", roster, None).fabrics for cable in fabric.cables):
            for rail in cable.rails:
                assert tuple(f"{end.spark}.{end.cage}" for end in rail.ends) == cable.ends


def test_without_a_look_what_is_enrolled_is_declared_and_nothing_is_found() -> None:
    for roster in shapes.sites(4).values():
        drawn = map_of("site", roster, None)
        assert not drawn.observed
        for spark in drawn.sparks:
            assert spark.state is (State.DECLARED if spark.enrolled else State.ONLY_NAMED)
            assert not spark.findings
        assert drawn.state is State.DECLARED


def test_an_enrolled_spark_that_nobody_looked_at_is_not_observed() -> None:
    for roster in shapes.sites(3).values():
        drawn = map_of("site", roster, {})
        assert all(spark.state is State.NOT_OBSERVED for spark in drawn.sparks if spark.enrolled)
        assert all(end.state is State.NOT_OBSERVED for end in ends(drawn) if roster.sparks[end.spark].enrolled)


def test_one_section_that_could_not_be_observed_leaves_no_end_as_desired() -> None:
    roster = shapes.sites(2)["pair"]
    collection = {name: shapes.as_desired(roster, name) for name in roster.enrolled}
    collection["dgx1"] = collection["dgx1"].model_copy(update={"connections": Unobserved(reason="it hung")})
    drawn = map_of("site", roster, collection)
    assert {end.spark: end.state for end in ends(drawn)} == {"dgx1": State.NOT_OBSERVED, "dgx2": State.AS_DESIRED}
    (found,) = drawn.sparks[0].findings
    assert str(found) == "dgx1 connections: it hung"


def test_another_machine_leaves_no_end_as_desired() -> None:
    values: dict[str, Any] = spelled(shapes.sites(2)["pair"])
    values["sparks"]["dgx1"]["machine_id"] = "sha256:" + "0" * 64
    roster = Roster.read(values, "test")
    drawn = map_of("site", roster, {name: shapes.as_desired(roster, name) for name in roster.enrolled})
    assert {end.state for end in ends(drawn) if end.spark == "dgx1"} == {State.NOT_OBSERVED}


def test_a_document_left_behind_is_the_sparks_and_no_ends() -> None:
    both, one = shapes.sites(2)["two cables"], shapes.sites(2)["pair"]
    seen = shapes.as_desired(both, "dgx1")
    for end in both.desired_for("dgx1").rail_ends:
        if one.desired_for("dgx1").end_on(end.interface) is None:
            seen = observed.with_link(seen, observed.link(end.interface))
    drawn = map_of("site", one, {"dgx1": seen, "dgx2": shapes.as_desired(one, "dgx2")})
    assert [each.code for each in drawn.sparks[0].findings] == ["leftover_document"] * 2
    assert drawn.sparks[0].state is State.REFUSED
    assert {end.state for end in ends(drawn) if end.spark == "dgx1"} == {State.AS_DESIRED}


def test_the_gravest_part_counts() -> None:
    assert worst([]) is State.AS_DESIRED
    assert worst([], of_none=State.DECLARED) is State.DECLARED
    assert worst([State.AS_DESIRED, State.ONLY_NAMED]) is State.ONLY_NAMED
    assert worst([State.PENDING, State.REFUSED, State.NOT_OBSERVED]) is State.REFUSED
    assert worst([State.PENDING, State.NOT_OBSERVED]) is State.NOT_OBSERVED


def test_among_many_what_is_only_named_counts_where_nothing_is_ours() -> None:
    assert worst_of_ours([State.AS_DESIRED, State.ONLY_NAMED]) is State.AS_DESIRED
    assert worst_of_ours([State.ONLY_NAMED, State.ONLY_NAMED]) is State.ONLY_NAMED
    assert worst_of_ours([]) is State.AS_DESIRED


def test_a_cable_whose_far_end_nobody_looked_at_is_not_as_desired() -> None:
    roster = shapes.sites(2)["two cables"]
    drawn = map_of("site", roster, {"dgx1": shapes.as_desired(roster, "dgx1")})
    assert {cable.state for fabric in drawn.fabrics for cable in fabric.cables} == {State.ONLY_NAMED}
    assert drawn.state is State.AS_DESIRED
