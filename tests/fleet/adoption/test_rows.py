"""Adopting declares what is there exactly as it is: planning then finds nothing, or only what makes it durable."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.adoption.rows import Rows, adoption
from fleet.connections import Profile
from fleet.hardware import INTERFACES
from fleet.keyfile import Settings, Storage
from fleet.links import LinkAddress
from fleet.observation import Observation, known
from fleet.plan import Plan
from fleet.rail_document import WriteDocument
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.roster import Roster
from tests.fleet import observed
from tests.fleet.observed import plan_of
from tests.fleet.spelled import spelled
from tests.fleet.strategies import cabled_rosters

F0, P0, F1, P1 = INTERFACES
CX7 = "/etc/netplan/40-cx7.yaml"
RENDERER = observed.netplan_file(
    "/etc/netplan/01-network-manager-all.yaml", "network: {version: 2, renderer: NetworkManager}\n"
)


def roster(*names: str) -> Roster:
    return Roster.read({"sparks": {name: {"enrolled": True} for name in names}}, "test")


def cx7(**addresses: str) -> str:
    """A file as the playbook's helper writes it: address by interface."""
    lines = [
        f"    {port}: {{dhcp4: false, mtu: 9000, addresses: [{address}]}}\n" for port, address in addresses.items()
    ]
    return "network:\n  version: 2\n  ethernets:\n" + "".join(lines)


def host(name: str, text: str | None = None, path: str = CX7) -> Observation:
    seen = observed.with_file(observed.blank(name), RENDERER)
    return seen if text is None else observed.with_file(seen, observed.netplan_file(path, text))


def by_hand(seen: Observation, port: str, *addresses: str, mtu: int = 9000) -> Observation:
    return observed.with_link(seen, observed.link(port, mtu, addresses))


def rows_of(rows: Roster, spark: str, *seen: Observation) -> Rows:
    found = adoption(rows, spark, {each.host: each for each in seen})
    assert isinstance(found, Rows), found
    return found


def merged(rows: Roster, *adopted: Rows) -> Roster:
    """The roster with the rows pasted at its end, as a person does."""
    roster: dict[str, Any] = spelled(rows)
    for each in adopted:
        exec(each.text, {"roster": roster})
    return Roster.read(roster, "test")


def kinds(rows: Roster, seen: Observation) -> list[str]:
    outcome = plan_of(rows, {seen.host: seen})
    assert isinstance(outcome, Plan), outcome
    return [step.kind for step in outcome.steps]


def test_durable_files_at_both_ends_become_a_pair_and_leave_nothing_to_write() -> None:
    a = host("a", cx7(enp1s0f0np0="10.1.1.1/24", enP2p1s0f0np0="10.1.2.1/24"))
    b = host("b", cx7(enp1s0f0np0="10.1.1.2/24", enP2p1s0f0np0="10.1.2.2/24"))
    rows = roster("a", "b")
    mine, theirs = rows_of(rows, "a", a, b), rows_of(rows, "b", a, b)
    assert not mine.problems
    assert mine.notes == ("the other end is on b: sparks adopt b",)
    assert mine.fabrics == theirs.fabrics
    (fabric,) = mine.fabrics.values()
    assert fabric["shape"] == "pair"
    assert len(fabric["cables"][0]["rails"]) == 2
    both = merged(merged(rows, mine), rows_of(merged(rows, mine), "b", a, b))
    for seen in (a, b):
        assert set(kinds(both, seen)) == {"activate"}, "files are as declared, the played profiles are not up"


def test_a_hand_made_address_becomes_a_rail_and_exactly_its_document_is_due() -> None:
    a = by_hand(host("a"), F1, "10.1.1.1/24")
    b = by_hand(host("b"), F1, "10.1.1.2/24")
    rows = roster("a", "b")
    found = rows_of(rows, "a", a, b)
    assert not found.problems
    assert not found.adopted
    assert kinds(merged(rows, found), a) == ["write_document", "activate"]
    (fabric,) = found.fabrics.values()
    ends = fabric["cables"][0]["rails"][0]["ends"]
    assert [(end["interface"], end["address"], end["mtu"]) for end in ends] == [
        (F1, "10.1.1.1/24", 9000), (F1, "10.1.1.2/24", 9000)
    ]  # fmt: skip


def test_a_durable_end_and_a_hand_made_one_are_one_rail() -> None:
    a = host("a", cx7(enp1s0f1np1="10.1.1.1/24"))
    b = by_hand(host("b"), F1, "10.1.1.2/24")
    rows = roster("a", "b")
    found = rows_of(rows, "a", a, b)
    assert [each.file for each in found.adopted] == [CX7]
    declared = merged(rows, found)
    assert kinds(declared, a) == ["activate"]
    assert kinds(declared, b) == ["write_document", "activate"]


def test_what_the_roster_has_is_not_said_again() -> None:
    a = by_hand(host("a"), F1, "10.1.1.1/24")
    b = by_hand(host("b"), F1, "10.1.1.2/24")
    rows = roster("a", "b")
    again = rows_of(merged(rows, rows_of(rows, "a", a, b)), "a", a, b)
    assert (again.values, again.problems) == ({}, ())
    assert again.text == "# a: the roster declares all that is on its ports"


def test_our_own_document_that_the_roster_lost_comes_back_as_its_rail() -> None:
    a, b = by_hand(host("a"), F1, "10.1.1.1/24"), by_hand(host("b"), F1, "10.1.1.2/24")
    rows = roster("a", "b")
    declared = merged(rows, rows_of(rows, "a", a, b))
    done = [observed.as_desired(declared.desired_for(name).rail_ends, name) for name in ("a", "b")]
    found = rows_of(rows, "a", *done)
    assert not found.adopted
    assert kinds(merged(rows, found), done[0]) == []


def test_a_ring_is_found_from_any_of_its_sparks() -> None:
    names = ("d1", "d2", "d3", "d4")
    seen = []
    for at, name in enumerate(names):
        onward, back = f"10.4{at}.0", f"10.4{(at - 1) % 4}.0"
        text = cx7(enp1s0f0np0=f"{onward}.{at + 1}/24", enp1s0f1np1=f"{back}.{at + 1}/24")
        seen.append(host(name, text))
    for name in names:
        found = rows_of(roster(*names), name, *seen)
        assert not found.problems
        (fabric,) = found.fabrics.values()
        assert fabric["shape"] == "ring"
        assert len(fabric["cables"]) == 4


def test_a_triangle_is_found() -> None:
    a = host("a", cx7(enp1s0f0np0="10.12.1.1/24", enp1s0f1np1="10.13.1.1/24"))
    b = host("b", cx7(enp1s0f0np0="10.23.1.2/24", enp1s0f1np1="10.12.1.2/24"))
    c = host("c", cx7(enp1s0f0np0="10.13.1.3/24", enp1s0f1np1="10.23.1.3/24"))
    (fabric,) = rows_of(roster("a", "b", "c"), "b", a, b, c).fabrics.values()
    assert fabric["shape"] == "triangle"


def test_three_in_one_subnet_are_on_a_switch() -> None:
    seen = [host(name, cx7(enp1s0f0np0=f"10.100.1.{at}/24")) for at, name in enumerate("abc", 1)]
    found = rows_of(roster("a", "b", "c"), "a", *seen)
    assert not found.problems
    assert found.fabrics["switch1"]["shape"] == "switch"


def test_rail_numbers_are_those_of_the_subnets_and_stay_apart() -> None:
    a = host("a", cx7(enp1s0f0np0="10.1.7.1/24", enP2p1s0f0np0="10.2.7.1/24"))
    b = host("b", cx7(enp1s0f0np0="10.1.7.2/24", enP2p1s0f0np0="10.2.7.2/24"))
    (fabric,) = rows_of(roster("a", "b"), "a", a, b).fabrics.values()
    assert [rail["rail"] for rail in fabric["cables"][0]["rails"]] == [7, 1]


CANNOT: dict[str, tuple[Observation, Observation, str]] = {
    "no peer": (
        by_hand(host("a"), F1, "10.1.1.1/24"), host("b"),
        f"a {F1}: expected another enrolled spark with an address in 10.1.1.0/24, found none for 10.1.1.1/24, lost",
    ),
    "a peer on the other twin": (
        by_hand(host("a"), F1, "10.1.1.1/24"), by_hand(host("b"), P1, "10.1.1.2/24"), "[twins_not_reciprocal]",
    ),
    "a peer with another MTU": (
        by_hand(host("a"), F1, "10.1.1.1/24"), by_hand(host("b"), F1, "10.1.1.2/24", mtu=1500), "[unequal_mtu]",
    ),
    "the peer's own address": (
        by_hand(host("a"), F1, "10.1.1.1/24"), by_hand(host("b"), F1, "10.1.1.1/24"), "[shared_address]",
    ),
    "a pair that is crossed": (
        by_hand(host("a"), F0, "10.1.1.1/24"), by_hand(host("b"), F1, "10.1.1.2/24"), "[crossed_rail]",
    ),
    "two addresses on a port": (
        by_hand(host("a"), F1, "10.1.1.1/24", "10.9.9.1/24"), host("b"), "expected one IPv4 address for a rail, found",
    ),
    "a host address": (by_hand(host("a"), F1, "10.1.1.1/32"), host("b"), "expected an IPv4 prefix of 1 to 31"),
    "IPv6 by hand": (by_hand(host("a"), F1, "fd00::1/64"), host("b"), "expected IPv4 on a rail, found fd00::1/64"),
    "a file that mixes": (
        host("a", cx7(enp1s0f0np0="10.1.1.1/24", enP7s7="192.168.0.5/24")), host("b"), "[mixed_file]",
    ),
    "a bond": (
        observed.with_link(host("a"), observed.link(F1).model_copy(update={"master": "bond0"})), host("b"),
        "expected a port of its own, found it in bond0",
    ),
    "a VLAN": (
        host("a").model_copy(update={"links": (
            *known(host("a").links), observed.link("v100").model_copy(update={"parent": F1, "kind": "vlan"})
        )}), host("b"), "expected nothing on top of it, found v100",
    ),
    "a file that cannot be read": (host("a", "network:\n\tx: y\n"), host("b"), "expected a file that can be read"),
}  # fmt: skip


@pytest.mark.parametrize("case", CANNOT)
def test_what_no_row_can_say_is_told(case: str) -> None:
    a, b, line = CANNOT[case]
    problems = rows_of(roster("a", "b"), "a", a, b).problems
    assert any(line in each for each in problems), problems


def test_a_peer_that_was_not_observed_is_named() -> None:
    silent = Unobserved(reason="no answer")
    b = Observation(host="b", netplan=silent, links=silent, connections=silent)
    (problem,) = rows_of(roster("a", "b"), "a", by_hand(host("a"), F1, "10.1.1.1/24"), b).problems
    assert problem.endswith("; not observed: b")
    assert isinstance(adoption(roster("a", "b"), "b", {"a": host("a"), "b": b}), Refusal)


def test_a_rail_of_the_roster_that_is_another_on_the_host_is_left_to_a_person() -> None:
    a, b = by_hand(host("a"), F1, "10.1.1.1/24"), by_hand(host("b"), F1, "10.1.1.2/24")
    rows = roster("a", "b")
    declared = merged(rows, rows_of(rows, "a", a, b))
    found = rows_of(declared, "a", host("a", cx7(enp1s0f1np1="10.1.1.9/24")), b)
    assert any("expected what the roster has, 10.1.1.1/24 mtu 9000, found 10.1.1.9/24" in x for x in found.problems)


def test_a_file_that_is_to_be_reverted_is_not_adopted() -> None:
    values = {"sparks": {"a": {"enrolled": True, "revert": [CX7]}, "b": {"enrolled": True}}}
    found = rows_of(Roster.read(values, "test"), "a", host("a", cx7(enp1s0f0np0="10.1.1.1/24")), host("b"))
    assert (found.values, found.problems) == ({}, ())


def test_a_file_without_an_address_is_adopted_without_a_rail() -> None:
    """As NVIDIA's guide has it for automatic addresses."""
    text = "network:\n  version: 2\n  ethernets:\n    enp1s0f0np0: {link-local: [ipv4]}\n"
    a = host("a", text)
    rows = roster("a", "b")
    found = rows_of(rows, "a", a, host("b"))
    assert not found.problems
    assert kinds(merged(rows, found), a) == []


def test_a_changed_file_is_adopted_as_it_is_now_and_a_missing_one_not_at_all() -> None:
    rows = roster("a", "b")
    before = merged(rows, rows_of(rows, "a", host("a", cx7(enp1s0f0np0="10.1.1.1/24")), host("b")))
    now = cx7(enp1s0f0np0="10.1.1.3/24")
    found = rows_of(before, "a", host("a", now), host("b"))
    assert [each.content_digest for each in found.adopted] == [observed.netplan_file(CX7, now).content_digest]
    assert not rows_of(before, "a", host("a"), host("b")).adopted


def test_a_lease_is_no_rail() -> None:
    lease = observed.link(F1).model_copy(update={"addresses": (LinkAddress(address="10.1.1.1/24", dynamic=True),)})
    up = Profile(
        name="Wired connection 1", uuid="u", type="802-3-ethernet", device=F1, autoconnect=True, state="activated",
        storage=Storage.RUNTIME, generated=True, stored=Settings(ipv4_method="auto"),
    )  # fmt: skip
    a = observed.with_profile(observed.with_link(host("a"), lease), up)
    assert rows_of(roster("a", "b"), "a", a, host("b")).values == {}


@settings(deadline=None, max_examples=30)
@given(cabled_rosters(), st.data())
def test_adopting_any_fabric_gives_back_its_rails_and_only_what_is_not_durable_is_written(
    values: dict[str, Any], data: st.DataObject
) -> None:
    """Each end made by another tool's file, or by hand, or by both: the rails found are the rails there are."""
    wanted = Roster.read(values, "test")
    plain = roster(*wanted.enrolled)
    seen, durable = {}, set[tuple[str, str]]()
    for name in wanted.enrolled:
        seen[name] = host(name)
        for end in wanted.desired_for(name).rail_ends:
            if data.draw(st.booleans()):
                text = cx7(**{end.interface: str(end.address)}).replace("mtu: 9000", f"mtu: {end.mtu}")
                seen[name] = observed.with_file(
                    seen[name], observed.netplan_file(f"/etc/netplan/40-{end.interface}.yaml", text)
                )
                durable.add((name, end.interface))
            else:
                seen[name] = by_hand(seen[name], end.interface, str(end.address), mtu=end.mtu)
    declared = plain
    for name in wanted.enrolled:
        rows = adoption(declared, name, seen)
        assert isinstance(rows, Rows)
        assert not rows.problems, rows.problems
        declared = merged(declared, rows)
    for name in wanted.enrolled:
        ends = {end.interface: (str(end.address), end.mtu) for end in wanted.desired_for(name).rail_ends}
        assert {end.interface: (str(end.address), end.mtu) for end in declared.desired_for(name).rail_ends} == ends
        outcome = plan_of(declared, {name: seen[name]})
        assert isinstance(outcome, Plan), outcome
        written = {step.document.interface for step in outcome.steps if isinstance(step, WriteDocument)}
        assert written == {interface for interface in ends if (name, interface) not in durable}
