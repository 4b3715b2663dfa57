"""The order of bandwidth tests cannot block; what perftest prints is a figure or a reason; a figure has a meaning."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.bandwidth import CAPPED_GBPS, Judgement, Measured, judge, verdicts
from fleet.bandwidth_run import bandwidth_run, measured
from fleet.bandwidth_schedule import Direction, directions, schedule
from fleet.perftest import parse_bandwidth
from fleet.record import Unobserved
from fleet.roster import Roster
from tests.fleet.strategies import cabled_rosters
from tests.fleet.test_roster import GOOD

ROSTER = Roster.read(GOOD, "test")
OUTPUTS = Path(__file__).parent / "perftest"


def output(name: str) -> str:
    return (OUTPUTS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "gbps"),
    [("client_24_01", 98.02), ("client_old_mib", 21.85), ("server_25_01_uncalibrated", 123 * 65536 * 8 / 1e9 / 2)],
)
def test_a_run_has_a_figure(name: str, gbps: float) -> None:
    assert parse_bandwidth(output(name), 4) == pytest.approx(gbps, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("client_without_server", "Couldn't connect to 192.168.102.11:18601"),
        ("client_wrong_gid", "Found Incompatibility issue with GID types."),
        ("client_without_row", "no row of results"),
    ],
)
def test_a_run_without_a_row_has_a_reason(name: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason.replace(".", r"\.")):
        parse_bandwidth(output(name), 4)


def test_another_unit_is_no_figure() -> None:
    with pytest.raises(ValueError, match="found KB/sec"):
        parse_bandwidth(output("client_24_01").replace("Gb/sec", "KB/sec"), 4)


@given(st.text())
def test_any_text_is_a_figure_or_a_reason(text: str) -> None:
    with suppress(ValueError):
        assert parse_bandwidth(text, 4) >= 0


@given(cabled_rosters(), st.data())
def test_no_run_blocks_and_every_test_is_run(values: dict[str, object], data: st.DataObject) -> None:
    """Hosts that walk through their own tests, in whatever order they get to run, end with all of them done."""
    roster = Roster.read(values, "test")
    present = data.draw(st.sets(st.sampled_from(sorted(roster.sparks))))
    tests, untested = schedule(roster, present)
    assert len(tests) + len(untested) == len(directions(roster))
    assert {each.number for each in tests} == set(range(len(tests)))
    assert len({each.port for each in tests}) == len(tests)
    waiting = {name: [test.number for test in tests if name in test.sparks] for name in present}
    done = 0
    while any(waiting.values()):
        ready = [test for test in tests if all(waiting[name][:1] == [test.number] for name in test.sparks)]
        assert ready, "nobody can go on"
        for name in data.draw(st.sampled_from(ready)).sparks:
            waiting[name].pop(0)
        done += 1
    assert done == len(tests)


@given(cabled_rosters())
def test_every_end_is_measured_in_both_directions(values: dict[str, object]) -> None:
    roster = Roster.read(values, "test")
    found = {(str(each.source), str(each.target)) for each in directions(roster)}
    assert found == {(target, source) for source, target in found}
    shared = {str(end) for segment in roster.segments if len(segment.ends) > 1 for end in segment.ends}
    assert {source for source, _ in found} == shared


@given(cabled_rosters())
def test_both_hosts_of_a_test_are_told_the_same(values: dict[str, object]) -> None:
    roster = Roster.read(values, "test")
    parts = [each for name in roster.sparks for each in bandwidth_run(roster, name, roster.enrolled, 4)["tests"]]
    by_number: dict[int, list[dict[str, Any]]] = {}
    for part in parts:
        by_number.setdefault(part["number"], []).append(part)
    for one, other in by_number.values():
        assert {one["role"], other["role"]} == {"source", "target"}
        assert (one["own"], one["peer"], one["port"]) == (other["peer"], other["own"], other["port"])


def test_a_spark_that_takes_no_part_is_a_reason() -> None:
    _, untested = schedule(ROSTER, ["a"])
    assert {each.reason for each in untested} == {"b takes no part in this run"}
    named = Roster.read(GOOD | {"sparks": GOOD["sparks"] | {"b": {"enrolled": False}}}, "test")
    run = bandwidth_run(named, "a", ["a"], 4)
    assert (run["tests"], len(run["untested"])) == ([], 4)
    assert {each.gbps for each in measured({"answers": [], "untested": run["untested"], "seconds": 4})} == {
        Unobserved(reason="b is only named in the roster")
    }


def test_too_short_a_run_measures_nothing() -> None:
    with pytest.raises(ValueError, match="seconds: expected a whole number of at least 3, found 2"):
        bandwidth_run(ROSTER, "a", ["a", "b"], 2)


@pytest.mark.parametrize(
    ("gbps", "floor", "judgement"),
    [
        (92.0, 90.0, Judgement.OK),
        (90.0, 90.0, Judgement.OK),
        (89.9, 90.0, Judgement.BELOW_FLOOR),
        (13.23, 90.0, Judgement.CAPPED),
        (13.23, None, Judgement.CAPPED),
        (13.23, 10.0, Judgement.OK),
        (CAPPED_GBPS[1] + 1, 90.0, Judgement.BELOW_FLOOR),
        (0.02, None, Judgement.OK),
        (Unobserved(reason="no"), None, Judgement.UNMEASURED),
    ],
)
def test_what_a_figure_means(gbps: float | Unobserved, floor: float | None, judgement: Judgement) -> None:
    assert judge(gbps, floor) is judgement


def answers_of(gbps: dict[str, float | Unobserved], floor: float | None = 90.0) -> tuple[Roster, dict[str, Any]]:
    """A roster with a floor, and what its Sparks would answer; values are by source and rail."""
    fabric = GOOD["fabrics"]["rails"] | ({"floor_gbps": floor} if floor else {})
    roster = Roster.read(GOOD | {"fabrics": {"rails": fabric}}, "test")

    def of(name: str, direction: Direction) -> Measured:
        role: Any = "source" if direction.source.spark == name else "target"
        figure = gbps.get(f"{direction.source.spark}{direction.rail}", 95.0)
        return Measured(direction=direction, role=role, device="d", gid_index=3, gbps=figure)

    return roster, {name: tuple(of(name, each) for each in directions(roster)) for name in ("a", "b")}


def test_every_direction_has_its_own_verdict() -> None:
    roster, answers = answers_of({"b2": 13.2})
    found = verdicts(roster, answers, ["a", "b"])
    assert [(each.direction.rail, each.direction.source.spark, each.judgement.value) for each in found] == [
        (1, "a", "ok"),
        (1, "b", "ok"),
        (2, "a", "ok"),
        (2, "b", "capped"),
    ]
    assert str(found[0]) == "rail 1 (a enp1s0f0np0 -> b enp1s0f0np0): 95.00 Gb/s"
    assert str(found[3]) == (
        "rail 2 (b enP2p1s0f0np0 -> a enP2p1s0f0np0): expected at least 90 Gb/s, found 13.20 Gb/s, "
        "the state of a port that came back while its Spark ran (8 to 25)"
    )


def test_a_failed_test_says_what_both_sparks_know() -> None:
    roster, answers = answers_of({"a1": Unobserved(reason="Couldn't connect to 10.1.1.2:18600")})
    (found, *_) = verdicts(roster, answers | {"b": Unobserved(reason="expected ib_write_bw, found none")}, ["a", "b"])
    assert found.judgement is Judgement.UNMEASURED
    assert str(found).endswith("found none: a: Couldn't connect to 10.1.1.2:18600; b: expected ib_write_bw, found none")


def test_a_spark_that_did_not_answer_is_no_silence() -> None:
    roster, answers = answers_of({})
    found = verdicts(roster, {"a": answers["a"]}, ["a", "b"])
    assert [each.judgement.value for each in found] == ["ok", "not measured"] * 2
    (absent, *_) = verdicts(roster, answers | {"b": Unobserved(reason="no answer over SSH")}, ["a"])
    assert str(absent).endswith("expected at least 90 Gb/s, found none: b: no answer over SSH")


def test_rails_among_sparks_that_are_only_named_are_nobodys() -> None:
    sparks = {"a": {"enrolled": False}, "b": {"enrolled": False}, "c": {"enrolled": True}}
    assert verdicts(Roster.read(GOOD | {"sparks": sparks}, "test"), {}, ["c"]) == ()
