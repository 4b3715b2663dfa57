"""Decisions about the fabric, and the law: apply the plan to the observation, plan again, nothing is left."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.connections import Networking, Profile
from fleet.desired import DesiredSpark
from fleet.hardware import INTERFACES
from fleet.keyfile import Settings, Storage
from fleet.machine import Machine
from fleet.netplan.document import rail_document
from fleet.observation import Observation, known
from fleet.plan import Plan, Refusals
from fleet.rail_document import document_for
from fleet.record import Unobserved
from fleet.roster import Roster
from fleet.unread import unread_profile
from tests.fleet import observed
from tests.fleet.observed import plan_of
from tests.fleet.strategies import pair_rosters
from tests.fleet.test_roster import GOOD

ROSTER = Roster.read(GOOD, "test")
A, B = ROSTER.desired_for("a"), ROSTER.desired_for("b")
END = A.rail_ends[0]
PORT = END.interface
MOVED = rail_document("a", "enp1s0f1np1", END.address, END.mtu)
"""What stays behind when a rail moves from this port to another."""
OTHER_OWNER = """\
network:
  version: 2
  ethernets:
    {id}:
      {match}addresses: ["10.9.9.9/24"]
"""


def planned(a: Observation, b: Observation | None = None) -> Plan | Refusals:
    return plan_of(ROSTER, {"a": a, "b": b or done(B)})


def done(desired: DesiredSpark) -> Observation:
    return observed.as_desired(desired.rail_ends, desired.name)


def steps(a: Observation) -> list[tuple[str, str]]:
    outcome = planned(a)
    assert isinstance(outcome, Plan), outcome
    return [(step.kind, step.subject) for step in outcome.steps]


def codes(a: Observation) -> set[str]:
    outcome = planned(a)
    assert isinstance(outcome, Refusals), outcome
    return {refusal.code for refusal in outcome.refusals}


def test_as_desired_is_a_noop() -> None:
    outcome = planned(done(A))
    assert isinstance(outcome, Plan)
    assert outcome.is_noop


def test_a_blank_spark_gets_every_document_before_any_activation() -> None:
    kinds = [kind for kind, _ in steps(observed.blank("a"))]
    assert kinds == ["write_document"] * 2 + ["activate"] * 2


def test_an_address_by_ip_is_reported_as_not_durable_and_made_so() -> None:
    found = observed.with_link(observed.blank("a"), observed.link(PORT, END.mtu, [str(END.address)]))
    outcome = planned(found)
    assert isinstance(outcome, Plan)
    (step,) = [
        step for step in outcome.steps if step.kind == "write_document" and document_for(END).path in step.subject
    ]
    assert step.reason == f"{END.address} is on {PORT} but not durable: it is lost at the next power cycle"
    assert ("activate", f"a {PORT}") in steps(found)


@pytest.mark.parametrize("storage", [Storage.RUNTIME, Storage.IN_MEMORY])
def test_a_profile_in_memory_is_not_durable_either(storage: Storage) -> None:
    hand = Profile(
        name="hand", uuid="11111111-2222-3333-4444-555555555555", type="802-3-ethernet", device=PORT, autoconnect=True,
        state="activated", storage=storage,
        stored=Settings(ipv4_method="manual", ipv4_addresses=(str(END.address),), interface=PORT),
    )  # fmt: skip
    found = observed.with_profile(observed.blank("a"), hand)
    found = observed.with_link(found, observed.link(PORT, END.mtu, [str(END.address)]))
    outcome = planned(found)
    assert isinstance(outcome, Plan)
    assert "not durable" in outcome.steps[0].reason


UNREAD = Profile(
    name="bad", uuid="11111111-2222-3333-4444-555555555555", type="802-3-ethernet",
    filename="/etc/NetworkManager/system-connections/bad.nmconnection", autoconnect=True, storage=Storage.PERSISTENT,
    stored=Unobserved(reason="expected numbers and addresses, found others"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "matters"),
    [
        ({"device": PORT, "state": "activated"}, True),
        ({}, True),
        ({"device": "enP7s7", "state": "activated"}, False),
        ({"type": "vlan"}, False),
    ],
)
def test_a_profile_that_cannot_be_read_is_refused_only_where_it_could_take_a_port(
    changed: dict[str, Any], matters: bool
) -> None:
    outcome = planned(observed.with_profile(done(A), UNREAD.model_copy(update=changed)))
    refused = outcome.refusals if isinstance(outcome, Refusals) else ()
    assert {(each.code, each.subject) for each in refused} == ({("unobserved", "a profile bad")} if matters else set())


def test_one_that_is_reverted_stands_in_nobodys_way() -> None:
    seen = observed.with_profile(done(A), UNREAD)
    assert unread_profile("a", PORT, known(seen.connections)) is not None
    assert unread_profile("a", PORT, known(seen.connections), [str(UNREAD.filename)]) is None


@pytest.mark.parametrize("what", ["mode", "owner", "text"])
def test_a_document_that_differs_in_anything_is_written_again(what: str) -> None:
    document = document_for(END)
    changed = {
        "mode": observed.netplan_file(document.path, document.text, mode=0o644),
        "owner": observed.netplan_file(document.path, document.text, owner="spark"),
        "text": observed.netplan_file(document.path, document.text.replace("9000", "1500")),
    }[what]
    assert steps(observed.with_file(done(A), changed)) == [("write_document", f"a {document.path}")]


def test_only_what_differs_in_the_kernel_is_brought_up_again() -> None:
    for wrong in (observed.link(PORT, 1500, [str(END.address)]), observed.link(PORT, 9000, ["10.1.1.9/24"]),
                  observed.link(PORT, 9000, [str(END.address), "10.1.1.9/24"]), observed.link(PORT, 9000)):  # fmt: skip
        assert steps(observed.with_link(done(A), wrong)) == [("activate", f"a {PORT}")]


def test_a_profile_that_is_up_with_older_settings_is_brought_up_again() -> None:
    ours = observed.own_profile(END)
    stored = Settings(ipv4_method="manual", ipv4_addresses=(str(END.address),), mtu=1500)
    stale = ours.model_copy(update={"stored": stored})
    assert steps(observed.with_profile(done(A), stale)) == [("activate", f"a {PORT}")]


def test_the_kernels_own_link_local_addresses_are_no_difference() -> None:
    extra = observed.link(PORT, 9000, [str(END.address), "fe80::1/64"])
    assert steps(observed.with_link(done(A), extra)) == []


REFUSED: dict[str, tuple[Any, str]] = {
    "no such interface": (
        lambda seen: seen.model_copy(update={"links": tuple(x for x in seen.links if x.name != PORT)}),
        "interface_missing",
    ),
    "a file that netplan cannot read": (
        lambda seen: observed.with_file(seen, observed.netplan_file("/etc/netplan/95-x.yaml", "network:\n\ta: b\n")),
        "netplan_unreadable",
    ),
    "another file for the port by its name": (
        lambda seen: observed.with_file(
            seen, observed.netplan_file("/etc/netplan/40-cx7.yaml", OTHER_OWNER.format(id=PORT, match=""))
        ),
        "undeclared_netplan",
    ),
    "another file for the port by a pattern": (
        lambda seen: observed.with_file(
            seen,
            observed.netplan_file(
                "/etc/netplan/40-cx7.yaml", OTHER_OWNER.format(id="all", match='match: {name: "enp*"}\n      ')
            ),
        ),
        "undeclared_netplan",
    ),
    "a file for every wired interface": (
        lambda seen: observed.with_file(
            seen,
            observed.netplan_file(
                "/etc/netplan/40-cx7.yaml", OTHER_OWNER.format(id="all", match='match: {name: "en*"}\n      ')
            ),
        ),
        "mixed_file",
    ),
    "another file for the port that /run hides until the next boot": (
        lambda seen: observed.with_file(
            observed.with_file(
                seen, observed.netplan_file("/run/netplan/50-x.yaml", "network: {version: 2}\n").model_copy()
            ),
            observed.netplan_file("/etc/netplan/50-x.yaml", OTHER_OWNER.format(id=PORT, match="")).model_copy(
                update={"shadowed_by": "/run/netplan/50-x.yaml"}
            ),
        ),
        "undeclared_netplan",
    ),
    "a document of ours on a port without a rail": (
        lambda seen: observed.with_file(seen, observed.netplan_file(MOVED.path, MOVED.text)),
        "leftover_document",
    ),
    "a lasting profile of another owner": (
        lambda seen: observed.with_keyfile(seen, f"[connection]\nid=x\ntype=ethernet\ninterface-name={PORT}\n"),
        "undeclared_profile",
    ),
    "a lasting profile of another owner on a port without a rail": (
        lambda seen: observed.with_keyfile(seen, "[connection]\nid=x\ntype=ethernet\ninterface-name=enp1s0f1np1\n"),
        "undeclared_profile",
    ),
    "another file for a port without a rail": (
        lambda seen: observed.with_file(
            seen, observed.netplan_file("/etc/netplan/40-cx7.yaml", OTHER_OWNER.format(id="enp1s0f1np1", match=""))
        ),
        "undeclared_netplan",
    ),
    "a file that mixes the fabric with something else": (
        lambda seen: observed.with_file(
            seen,
            observed.netplan_file(
                "/etc/netplan/50-cloud-init.yaml",
                OTHER_OWNER.format(id=PORT, match="") + "    enP7s7: {dhcp4: true}\n",
            ),
        ),
        "mixed_file",
    ),
    "no cable": (lambda seen: observed.with_link(seen, observed.link(PORT, carrier=False)), "no_carrier"),
    "NetworkManager stopped": (
        lambda seen: seen.model_copy(update={"connections": seen.connections.model_copy(update={"running": False})}),
        "networkmanager_off",
    ),
    "networking switched off": (
        lambda seen: seen.model_copy(
            update={"connections": seen.connections.model_copy(update={"networking": Networking.DISABLED})}
        ),
        "networkmanager_off",
    ),
    "no RDMA device above the port": (
        lambda seen: seen.model_copy(update={"roce_devices": ()}),
        "roce_device_missing",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_must_not_be_touched_is_refused(case: str) -> None:
    change, code = REFUSED[case]
    assert codes(change(observed.blank("a"))) == {code}


def test_a_file_for_another_card_by_its_address_is_no_concern() -> None:
    """As cloud-init writes it: bound by hardware address, whatever the name."""
    other = OTHER_OWNER.format(id="mgmt", match='match: {macaddress: "02:00:00:00:00:99"}\n      ')
    port = observed.link(PORT, END.mtu, [str(END.address)]).model_copy(update={"mac": "02:00:00:00:00:01"})
    rails = [observed.link(e.interface, e.mtu, [str(e.address)]).model_copy(update={"mac": f"02:00:00:00:01:0{n}"})
             for n, e in enumerate(A.rail_ends)]  # fmt: skip
    free = [observed.link(name).model_copy(update={"mac": f"02:00:00:00:02:0{n}"})
            for n, name in enumerate(INTERFACES) if A.end_on(name) is None]  # fmt: skip
    found = observed.with_file(done(A), observed.netplan_file("/etc/netplan/50-cloud-init.yaml", other))
    for each in (port, *rails, *free):
        found = observed.with_link(found, each)
    assert steps(found) == []


def test_an_address_without_a_gid_gets_it_anew() -> None:
    assert [kind for kind, _ in steps(done(A).model_copy(update={"roce_gids": ()}))] == ["renew_gid"] * 2


@pytest.mark.parametrize("section", ["netplan", "links", "connections", "roce_devices", "roce_gids"])
def test_what_was_not_observed_is_never_a_value(section: str) -> None:
    blind = done(A).model_copy(update={section: Unobserved(reason="no answer in 60 s")})
    outcome = planned(blind)
    assert isinstance(outcome, Refusals)
    assert str(outcome.refusals[0]) == (
        f"a {section.replace('_', ' ')}: expected an observation, found no answer in 60 s [unobserved]"
    )


def test_a_host_of_which_nothing_could_be_seen_is_one_refusal() -> None:
    nothing = Unobserved(reason="no sudo")
    fields = dict.fromkeys(("netplan", "links", "connections", "roce_devices", "roce_gids"), nothing)
    outcome = planned(Observation(host="a", **fields))
    assert isinstance(outcome, Refusals)
    assert [str(refusal) for refusal in outcome.refusals] == ["a: expected an observation, found no sudo [unobserved]"]


def test_every_reason_on_every_host_is_given_at_once() -> None:
    a = done(A).model_copy(update={"netplan": Unobserved(reason="closed")})
    b = observed.with_link(observed.blank("b"), observed.link(PORT, carrier=False))
    outcome = plan_of(ROSTER, {"a": a, "b": b})
    assert isinstance(outcome, Refusals)
    assert {refusal.code for refusal in outcome.refusals} == {"unobserved", "no_carrier"}


def test_another_machine_behind_the_same_name_is_refused() -> None:
    expected, found = "sha256:" + "1" * 64, "sha256:" + "2" * 64
    values = GOOD | {"sparks": GOOD["sparks"] | {"a": {"enrolled": True, "machine_id": expected}}}
    roster = Roster.read(values, "test")
    machine = Machine(hostname="a", architecture="aarch64", machine_id_digest=found)
    outcome = plan_of(roster, {"a": done(A).model_copy(update={"machine": machine})})
    assert isinstance(outcome, Refusals)
    assert [(refusal.code, refusal.expected, refusal.found) for refusal in outcome.refusals] == [
        ("another_machine", expected, found)
    ]


@st.composite
def half_done(draw: st.DrawFn) -> tuple[Roster, DesiredSpark, Observation]:
    """Any roster, one of its Sparks, and any mixture of what is and is not done on it."""
    roster = Roster.read(draw(pair_rosters()), "test")
    desired = roster.desired_for(draw(st.sampled_from(roster.enrolled)))
    seen = observed.blank(desired.name)
    whole = observed.as_desired(desired.rail_ends, desired.name)
    for end in desired.rail_ends:
        document = document_for(end)
        if draw(st.booleans()):
            text = document.text if draw(st.booleans()) else document.text.replace("mtu: ", "mtu: 1")
            seen = observed.with_file(seen, observed.netplan_file(document.path, text))
        if draw(st.booleans()):
            mtu = draw(st.sampled_from([1500, end.mtu]))
            seen = observed.with_link(seen, observed.link(end.interface, mtu, [str(end.address)]))
        if draw(st.booleans()):
            seen = observed.with_profile(seen, observed.own_profile(end))
    return roster, desired, draw(st.sampled_from([seen, whole])).model_copy(update={"roce_gids": whole.roce_gids})


@settings(deadline=None)
@given(half_done())
def test_applying_the_plan_leaves_nothing(case: tuple[Roster, DesiredSpark, Observation]) -> None:
    roster, desired, seen = case
    outcome = plan_of(roster, {desired.name: seen})
    assert isinstance(outcome, Plan)
    for step in outcome.steps:
        seen = observed.applied(step, desired.rail_ends, seen)
    again = plan_of(roster, {desired.name: seen})
    assert isinstance(again, Plan)
    assert again.is_noop


@settings(deadline=None)
@given(half_done(), st.integers(0, 7))
def test_a_killed_run_is_finished_by_the_next(
    case: tuple[Roster, DesiredSpark, Observation], killed_after: int
) -> None:
    """Whatever steps were carried out before the kill, the next plan is the rest of the first."""
    roster, desired, seen = case
    first = plan_of(roster, {desired.name: seen})
    assert isinstance(first, Plan)
    for step in first.steps[:killed_after]:
        seen = observed.applied(step, desired.rail_ends, seen)
    second = plan_of(roster, {desired.name: seen})
    assert isinstance(second, Plan)
    assert [step.subject for step in second.steps] == [step.subject for step in first.steps[killed_after:]]


def test_a_plan_survives_its_canonical_text() -> None:
    outcome = planned(observed.blank("a"))
    assert isinstance(outcome, Plan)
    assert "document" in outcome.canonical
    assert outcome.digest == planned(observed.blank("a")).digest
    assert known(observed.blank("a").links)
