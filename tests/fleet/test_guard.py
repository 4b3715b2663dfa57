"""Decisions about changes that may cut SSH: what is guarded, what is refused, and the law of plan and apply."""

from typing import Any

import pytest

from fleet.applied import AppliedIp4
from fleet.connections import Profile
from fleet.guard import GuardedChange, ToUp, Undoing
from fleet.keyfile import Settings, Storage
from fleet.links import LinkAddress
from fleet.netplan.management import management_document
from fleet.observation import Observation, known
from fleet.plan import Plan, Refusals
from fleet.rail_document import document_for
from fleet.record import Unobserved
from fleet.roster import Roster
from fleet.session import Session, SshConnection
from fleet.standing import changed_since, standing
from fleet.trial import Guard, Trial
from tests.fleet import observed
from tests.fleet.observed import plan_of
from tests.fleet.test_roster import GOOD

OTHERS = "/etc/netplan/50-mgmt.yaml"
OTHERS_TEXT = "network:\n  version: 2\n  ethernets:\n    enP7s7:\n      dhcp4: true\n"
STATIC = {"address": "10.99.0.12/24", "gateway": "10.99.0.2", "nameservers": ["10.99.0.3"], "mtu": 1500}
OTHERS_PROFILE = Profile(
    name="netplan-enP7s7", uuid="99999999-0000-0000-0000-000000000001", type="802-3-ethernet", device="enP7s7",
    filename="/run/NetworkManager/system-connections/netplan-enP7s7.nmconnection", autoconnect=True,
    state="activated", storage=Storage.NETPLAN, stored=Settings(ipv4_method="auto", interface="enP7s7"),
)  # fmt: skip


def roster(management: Any = None, revert: tuple[str, ...] = (OTHERS,), **fabric: Any) -> Roster:
    spark = {
        "enrolled": True,
        "management": STATIC if management is None else management,
        "guard_seconds": 60,
        "revert": list(revert),
    }
    fabrics = {name: {**value, **fabric} for name, value in GOOD["fabrics"].items()}
    return Roster.read(GOOD | {"sparks": GOOD["sparks"] | {"a": spark}, "fabrics": fabrics}, "test")


def as_found(desired_by: Roster) -> Observation:
    """Every rail as desired, and management by DHCP from somebody's file."""
    desired = desired_by.desired_for("a")
    seen = observed.as_desired(desired.rail_ends, "a")
    seen = observed.with_file(seen, observed.netplan_file(OTHERS, OTHERS_TEXT))
    seen = observed.with_device(seen, "enP7s7")
    lease = LinkAddress(address="10.99.0.11/24", dynamic=True)
    seen = observed.with_link(seen, observed.link("enP7s7").model_copy(update={"addresses": (lease,)}))
    return observed.with_profile(seen, OTHERS_PROFILE).model_copy(
        update={"management": AppliedIp4(gateway="10.99.0.2", nameservers=("10.99.0.3",)), "session": came_to("enP7s7")}
    )


def came_to(interface: str, server: str = "10.99.0.11") -> Session:
    return Session(ssh=SshConnection(client="10.99.0.2", server=server, port=22, device=interface))


def steps(desired: Roster, seen: Observation) -> tuple[Any, ...]:
    outcome = plan_of(desired, {"a": seen})
    assert isinstance(outcome, Plan), outcome
    return outcome.steps


def refusals(desired: Roster, seen: Observation) -> dict[str, str]:
    outcome = plan_of(desired, {"a": seen})
    assert isinstance(outcome, Refusals), outcome
    return {refusal.code: str(refusal) for refusal in outcome.refusals}


def committed(step: GuardedChange, desired: Roster, seen: Observation) -> Observation:
    """The host after a guarded change of management was confirmed."""
    wanted = desired.desired_for("a").spark.management
    files = tuple(file for file in known(seen.netplan) if file.path not in step.removed)
    seen = seen.model_copy(update={"netplan": files})
    for document in step.documents:
        seen = observed.with_file(seen, observed.netplan_file(document.path, document.text))
    (up,) = step.profiles
    own = OTHERS_PROFILE.model_copy(
        update={
            "name": "sparks-enP7s7", "uuid": up.uuid,
            "filename": f"/run/NetworkManager/system-connections/netplan-NM-{up.uuid}.nmconnection",
            "stored": Settings(
                ipv4_method="auto" if wanted.dhcp else "manual", mtu=wanted.mtu, interface="enP7s7",
                ipv4_addresses=(str(wanted.address),) if wanted.address else (),
            ),
        }
    )  # fmt: skip
    address = LinkAddress(address=str(wanted.address or "10.99.0.11/24"), dynamic=wanted.dhcp)
    link = observed.link("enP7s7", wanted.mtu or 1500).model_copy(update={"addresses": (address,)})
    served = AppliedIp4(
        gateway=None if wanted.gateway is None else str(wanted.gateway), nameservers=tuple(map(str, wanted.nameservers))
    )
    seen = observed.with_profile(observed.with_link(seen, link), own)
    return seen if wanted.dhcp else seen.model_copy(update={"management": served})


def test_management_that_is_not_ours_is_left_alone() -> None:
    alone = roster({"interface": "enP7s7"}, revert=())
    assert steps(alone, as_found(alone)) == ()


@pytest.mark.parametrize("management", [STATIC, {"dhcp": True}, {"address": "10.99.0.11/24"}])
def test_one_guarded_change_makes_it_so_and_then_nothing_is_left(management: dict[str, Any]) -> None:
    desired = roster(management)
    seen = as_found(desired)
    (step,) = steps(desired, seen)
    document = management_document("a", desired.sparks["a"].management)
    assert isinstance(step, GuardedChange)
    assert (step.documents, step.removed, step.window_seconds) == ((document,), (OTHERS,), 60)
    assert step.profiles == (ToUp(uuid=document.uuid, interface="enP7s7"),)
    assert step.undoing == (Undoing(interface="enP7s7", uuid=OTHERS_PROFILE.uuid, was_up=True),)
    assert step.reach == ((management["address"].partition("/")[0],) if "address" in management else ())
    assert "undone after 60 s unless a fresh connection confirms it" in step.reason
    assert steps(desired, committed(step, desired, seen)) == ()


def test_the_document_there_and_the_others_file_still_there_is_finished() -> None:
    """What is left when the power goes in the middle of a commit."""
    desired = roster()
    seen = as_found(desired)
    (step,) = steps(desired, seen)
    half = observed.with_file(seen, observed.netplan_file(step.documents[0].path, step.documents[0].text))
    (rest,) = steps(desired, half)
    assert (rest.documents, rest.removed) == ((), (OTHERS,))
    assert steps(desired, committed(rest, desired, half)) == ()


DIFFERING: dict[str, Any] = {
    "another gateway": {"management": AppliedIp4(gateway="10.99.0.9", nameservers=("10.99.0.3",))},
    "name servers in another order": {"management": AppliedIp4(gateway="10.99.0.2", nameservers=("1.1.1.1",))},
}


@pytest.mark.parametrize("what", DIFFERING)
def test_what_differs_in_the_running_state_alone_is_brought_up_again(what: str) -> None:
    desired = roster()
    seen = as_found(desired)
    (step,) = steps(desired, seen)
    (again,) = steps(desired, committed(step, desired, seen).model_copy(update=DIFFERING[what]))
    assert (again.documents, again.removed, again.undoing[0].uuid) == ((), (), step.profiles[0].uuid)


TEXT_OF_TWO = OTHERS_TEXT + "    enp1s0f0np0:\n      dhcp4: true\n"
REFUSED: dict[str, tuple[Any, str, str]] = {
    "a file that is not reverted": (
        lambda seen: observed.with_file(seen, observed.netplan_file("/etc/netplan/60-x.yaml", OTHERS_TEXT)),
        "undeclared_netplan", 'put "/etc/netplan/60-x.yaml" into revert',
    ),
    "a file of two interfaces": (
        lambda seen: observed.with_file(seen, observed.netplan_file(OTHERS, TEXT_OF_TWO)),
        "mixed_file", "found enp1s0f0np0 at line 6",
    ),
    "a file that sets the renderer": (
        lambda seen: observed.with_file(
            seen, observed.netplan_file(OTHERS, OTHERS_TEXT.replace("2\n", "2\n  renderer: NetworkManager\n", 1))
        ),
        "renderer_rests_on_file", "found renderer: NetworkManager",
    ),
    "a file that binds by a pattern": (
        lambda seen: observed.with_file(
            seen, observed.netplan_file(OTHERS, OTHERS_TEXT.replace("enP7s7:", 'x:\n      match: {name: "en*"}'))
        ),
        "mixed_file", "found x at line 4",
    ),
    "a profile in memory": (
        lambda seen: observed.with_profile(
            seen, OTHERS_PROFILE.model_copy(update={"storage": Storage.IN_MEMORY, "filename": None})
        ),
        "cannot_be_undone", "found netplan-enP7s7, in-memory",
    ),
    "an address by hand": (
        lambda seen: observed.with_link(seen, observed.link("enP7s7", addresses=["10.99.0.77/24"])),
        "cannot_be_undone", "found 10.99.0.77/24",
    ),
    "no SSH": (lambda seen: seen.model_copy(update={"session": Session()}), "guard_without_ssh", "expected SSH"),
    "no systemd": (
        lambda seen: seen.model_copy(update={"guard": Guard(missing=("systemd", "flock"))}),
        "guard_unavailable", "found no systemd, no flock",
    ),
    "a trial of somebody else": (
        lambda seen: seen.model_copy(
            update={"guard": Guard(trial=Trial(token="t", by="eve from 1.2.3.4 at noon", seconds=9, is_armed=True))}
        ),
        "guard_armed", "found one by eve from 1.2.3.4 at noon, undone within 9 s",
    ),
    "a trial whose timer is gone": (
        lambda seen: seen.model_copy(
            update={"guard": Guard(trial=Trial(token="t", by="eve", seconds=9, is_armed=False))}
        ),
        "guard_abandoned", "sudo sh /run/sparks-guard/t/guard restore",
    ),
    "the interface unmanaged": (lambda seen: observed.with_device(seen, "enP7s7", "unmanaged"), "unmanaged", "managed"),
    "a bad file": (
        lambda seen: observed.with_file(seen, observed.netplan_file("/etc/netplan/95-x.yaml", "network:\n\ta: b\n")),
        "netplan_unreadable", "95-x.yaml",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_must_not_be_touched_is_refused(case: str) -> None:
    change, code, words = REFUSED[case]
    desired = roster()
    found = refusals(desired, change(as_found(desired)))
    assert words in found[code]
    assert set(found) <= {code, "undeclared_netplan"}, "a file for a rail's port too may be said to be so"


@pytest.mark.parametrize("section", ["session", "guard", "management", "netplan", "links", "connections"])
def test_what_was_not_observed_is_never_a_value(section: str) -> None:
    desired = roster()
    found = refusals(desired, as_found(desired).model_copy(update={section: Unobserved(reason="no answer")}))
    assert set(found) == {"unobserved"}


def test_nothing_due_needs_no_guard() -> None:
    desired = roster()
    seen = as_found(desired)
    (step,) = steps(desired, seen)
    done = committed(step, desired, seen)
    assert steps(desired, done.model_copy(update={"guard": Guard(missing=("systemd",)), "session": Session()})) == ()


def test_a_file_that_makes_management_so_cannot_go_without_another() -> None:
    desired = roster({"interface": "enP7s7"})
    assert (
        "say in the roster what management shall be instead"
        in refusals(desired, as_found(desired))["removal_needs_guard"]
    )


def test_a_file_of_a_rails_port_over_which_ssh_comes_in_is_not_just_removed() -> None:
    others = "/etc/netplan/40-cx7.yaml"
    desired = roster({}, revert=(others,))
    end = desired.desired_for("a").rail_ends[0]
    text = f"network:\n  ethernets:\n    {end.interface}:\n      addresses: [10.9.9.9/24]\n"
    seen = observed.with_file(observed.blank("a"), observed.netplan_file(others, text))
    assert any(step.kind == "remove_file" for step in steps(desired, seen))
    seen = seen.model_copy(update={"session": came_to(end.interface, "10.9.9.9")})
    assert (
        f"found one for {end.interface}, over which SSH may come in" in refusals(desired, seen)["removal_needs_guard"]
    )


def test_a_rail_is_guarded_where_ssh_comes_in_over_it_or_the_fabric_is() -> None:
    plain, guarded = roster({}, revert=()), roster({}, revert=(), guarded=True)
    end, other = plain.desired_for("a").rail_ends
    blank = observed.blank("a")
    assert [step.kind for step in steps(plain, blank)] == ["write_document"] * 2 + ["activate"] * 2
    assert [step.kind for step in steps(guarded, blank)] == ["guarded_change"] * 2
    over_a_rail = blank.model_copy(update={"session": came_to(end.interface, "10.0.0.9")})
    kinds = {step.subject: step.kind for step in steps(plain, over_a_rail)}
    assert kinds[f"a {end.interface}"] == "guarded_change"
    assert kinds[f"a {other.interface}"] == "activate"


def test_a_guarded_rail_is_one_change_and_goes_down_again_when_it_is_undone() -> None:
    guarded = roster({}, revert=(), guarded=True)
    for end, step in zip(guarded.desired_for("a").rail_ends, steps(guarded, observed.blank("a")), strict=True):
        document = document_for(end)
        assert (step.documents, step.removed) == ((document,), ())
        assert step.undoing == (Undoing(interface=end.interface, uuid=document.uuid, was_up=False),)
        assert step.window_seconds == 60
    assert steps(guarded, observed.as_desired(guarded.desired_for("a").rail_ends, "a")) == ()


def test_a_guarded_rail_by_hand_cannot_be_undone() -> None:
    guarded = roster({}, revert=(), guarded=True)
    end = guarded.desired_for("a").rail_ends[0]
    seen = observed.with_link(observed.blank("a"), observed.link_of(end))
    assert "addresses that some file explains" in refusals(guarded, seen)["cannot_be_undone"]


def test_an_old_state_is_known_again_and_anything_else_is_told() -> None:
    desired = roster()
    seen = as_found(desired)
    (step,) = steps(desired, seen)
    before = standing(step, seen)
    other_lease = LinkAddress(address="10.99.0.15/24", dynamic=True)
    again = observed.with_link(seen, observed.link("enP7s7").model_copy(update={"addresses": (other_lease,)}))
    assert changed_since(step, before, again) is None
    differing = changed_since(step, before, committed(step, desired, seen))
    assert differing is not None
    assert "netplan-enP7s7 up, addresses by DHCP" in differing.expected
    left = observed.with_file(seen, observed.netplan_file("/run/netplan/x.yaml", "network: {version: 2}\n"))
    left_over = changed_since(step, before, left)
    assert left_over is not None
    assert left_over.found.startswith("/run/netplan/x.yaml sha256:")
    unseen = changed_since(step, before, seen.model_copy(update={"links": Unobserved(reason="no answer")}))
    assert unseen is not None
    assert unseen.code == "unobserved"


def test_a_step_survives_its_canonical_text() -> None:
    (step,) = steps(roster(), as_found(roster()))
    assert GuardedChange.from_canonical(step.canonical) == step
