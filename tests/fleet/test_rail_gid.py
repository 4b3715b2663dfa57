"""A GID that is not where it must be is made anew, but never under somebody who works with it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.keeper import BringUp
from fleet.links import find_link
from fleet.observation import Observation, known
from fleet.plan import Plan, Refusals
from fleet.rdma_use import DeviceUse, RdmaHolder, users_of
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.roce import RoceGid
from fleet.roster import Roster
from tests.fleet import observed
from tests.fleet.observed import plan_of
from tests.fleet.test_roster import GOOD

ROSTER = Roster.read(GOOD, "test")
A = ROSTER.desired_for("a")
END = A.rail_ends[0]
DONE = observed.as_desired(A.rail_ends, "a")
ENGINE = RdmaHolder(pid=4121, command="VLLM::Worker", resources={"qp": 8, "mr": 2, "ctx": 1})


def declaring(index: int | None) -> Roster:
    """The roster with a GID index that every HCA must have."""
    fabric = GOOD["fabrics"]["rails"] | ({} if index is None else {"gid_index": index})
    return Roster.read(GOOD | {"fabrics": {"rails": fabric}}, "test")


def with_gids(*gids: RoceGid) -> Observation:
    """As desired, but for these GIDs instead of END's."""
    others = tuple(each for each in known(DONE.roce_gids) if each.netdev != END.interface)
    return DONE.model_copy(update={"roce_gids": (*others, *gids)})


def at(index: int, **other: Any) -> RoceGid:
    return observed.gid(END).model_copy(update={"index": index, **other})


def used(seen: Observation, *holders: RdmaHolder, device: str = "rocep1s0f0") -> Observation:
    return seen.model_copy(update={"rdma_use": (DeviceUse(device=device, holders=holders),)})


def outcome(seen: Observation, index: int | None = None) -> tuple[str, ...]:
    """The codes of the refusals, or the kinds of the steps."""
    match plan_of(declaring(index), {"a": seen}):
        case Refusals(refusals=refusals):
            return tuple(each.code for each in refusals)
        case Plan(steps=steps):
            return tuple(each.kind for each in steps)


def refusal(seen: Observation, index: int | None = None) -> Refusal:
    found = plan_of(declaring(index), {"a": seen})
    assert isinstance(found, Refusals)
    return found.refusals[0]


def test_any_usable_index_will_do_where_none_is_declared() -> None:
    assert outcome(with_gids(at(5))) == ()


def test_another_index_than_the_declared_one_is_drift() -> None:
    assert outcome(with_gids(at(4)), index=3) == ("renew_gid",)
    found = plan_of(declaring(3), {"a": with_gids(at(4))})
    assert isinstance(found, Plan)
    assert (found.steps[0].before, found.steps[0].after) == ("GID index 4", "a RoCE v2 GID for 10.1.1.1 at index 3")


@pytest.mark.parametrize("other", [{"type": "IB/RoCE v1"}, {"ipv4": None}, {"netdev": "enp1s0f0np0.100"}])
def test_what_is_no_rocev2_gid_of_the_address_on_the_port_does_not_count(other: dict[str, Any]) -> None:
    assert outcome(with_gids(at(2, **other))) == ("renew_gid",)


def test_a_declared_index_that_another_gid_has_is_refused() -> None:
    link_local = at(1, ipv4=None, gid="fe80:0000:0000:0000:0000:00ff:fe00:0001")
    found = refusal(with_gids(link_local, at(3)), index=1)
    assert (found.code, found.found) == (
        "gid_index_taken",
        "fe80:0000:0000:0000:0000:00ff:fe00:0001 (RoCE v2) there",
    )
    elsewhere = at(1, ipv4="10.9.9.9", device="rocep1s0f1")
    assert "renew_gid" in outcome(with_gids(elsewhere, at(3)), index=1)


def test_a_gid_on_a_port_that_is_not_active_is_not_cured_by_a_new_one() -> None:
    found = refusal(with_gids(at(3, port_active=False)))
    assert (found.code, found.found) == ("gid_missing", "rocep1s0f0 port 1 not ACTIVE")


def test_nobody_is_cut_off_who_works_with_the_device() -> None:
    for due in (with_gids(), observed.with_link(DONE, observed.link(END.interface, 1500, [str(END.address)]))):
        found = refusal(used(due, ENGINE))
        assert (found.code, found.found) == ("rdma_in_use", "VLLM::Worker (pid 4121)")
        assert "rocep1s0f0" in found.expected
        assert outcome(due.model_copy(update={"rdma_use": Unobserved(reason="no")})) == ("unobserved",)


@pytest.mark.parametrize(
    "seen",
    [
        used(with_gids(), RdmaHolder(pid=9, command="dcgm", resources={"ctx": 1})),
        used(with_gids(), ENGINE, device="roceP2p1s0f0"),
    ],
)
def test_who_has_it_only_open_or_works_with_another_is_not_cut_off(seen: Observation) -> None:
    assert outcome(seen) == ("renew_gid",)


def test_a_rail_that_is_as_desired_may_be_used() -> None:
    assert outcome(used(DONE, ENGINE)) == ()
    assert outcome(DONE.model_copy(update={"rdma_use": Unobserved(reason="no")})) == ()


def test_everybody_is_named_once() -> None:
    kernel = RdmaHolder(command="rpcrdma", resources={"qp": 1})
    use = (DeviceUse(device="x", holders=(ENGINE, kernel)), DeviceUse(device="y", holders=(ENGINE,)))
    assert list(map(str, users_of(use, ["x", "y"]))) == ["rpcrdma", "VLLM::Worker (pid 4121)"]


GIDS = st.builds(
    lambda index, ipv4, type_, netdev: at(index, ipv4=ipv4, type=type_, netdev=netdev),
    st.integers(0, 8),
    st.sampled_from([str(END.address.ip), "10.9.9.9", None]),
    st.sampled_from(["RoCE v2", "IB/RoCE v1"]),
    st.sampled_from([END.interface, f"{END.interface}.100"]),
)


@given(st.lists(GIDS, max_size=4, unique_by=lambda gid: gid.index), st.sampled_from([None, 3]), st.booleans())
def test_renewing_leaves_nothing_to_do(gids: list[RoceGid], index: int | None, is_used: bool) -> None:
    """Whatever the table holds: a second plan is empty, or the first was refused and nothing was touched."""
    roster, seen = declaring(index), used(with_gids(*gids), *([ENGINE] if is_used else []))
    first = plan_of(roster, {"a": seen})
    if isinstance(first, Refusals):
        assert {each.code for each in first.refusals} <= {"rdma_in_use", "gid_index_taken"}
        return
    assert not (is_used and first.steps)
    for step in first.steps:
        assert isinstance(step, BringUp)
        seen = observed.applied(step, roster.desired_for("a").rail_ends, seen)
    second = plan_of(roster, {"a": seen})
    assert isinstance(second, Plan)
    assert second.is_noop
    assert find_link(known(seen.links), END.interface) is not None
