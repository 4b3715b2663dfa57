"""Files of others on the ports: adopted byte for byte, or reverted, or refused with both ways out."""

from typing import Any

import pytest
from netaddr import IPNetwork

from fleet.hardware import INTERFACES
from fleet.keeper import BringUp
from fleet.keyfile import Settings
from fleet.netplan.document import rail_document, rail_path
from fleet.observation import Observation, known
from fleet.plan import Plan, Refusals
from fleet.record import sha256_digest
from fleet.revert import ReloadProfiles, RemoveFile
from fleet.roster import Roster
from fleet.roster_error import RosterError
from tests.fleet import observed
from tests.fleet.observed import plan_of
from tests.fleet.test_ownership import PLAYBOOK, RUN
from tests.fleet.test_roster import GOOD

F0, P0, F1, P1 = INTERFACES
CX7 = "/etc/netplan/40-cx7.yaml"
RENDERER = "network: {version: 2, renderer: NetworkManager}\n"
RAILS = """\
network:
  version: 2
  ethernets:
    enp1s0f0np0: {dhcp4: false, mtu: 9000, addresses: [10.1.1.1/24]}
    enP2p1s0f0np0: {dhcp4: false, mtu: 9000, addresses: [10.1.2.1/24]}
"""
"""What the rails of host a are, as another tool writes it."""
KEYFILE = f"""\
[connection]
id=x
uuid=11111111-2222-3333-4444-555555555555
type=ethernet
interface-name={F0}
[ethernet]
mtu=9000
[ipv4]
address1=10.1.1.1/24
method=manual
"""
KEYFILE_PATH = "/etc/NetworkManager/system-connections/x.nmconnection"


def roster(**spark: Any) -> Roster:
    """The roster with two rails on each of a and b, and something said of the files on a."""
    sparks = GOOD["sparks"] | {"a": {"enrolled": True, **spark}}
    return Roster.read(GOOD | {"sparks": sparks}, "test")


def adopts(path: str, text: str) -> dict[str, Any]:
    return {"adopted": [{"file": path, "digest": sha256_digest(text.encode())}]}


def outcome(rows: Roster, seen: Observation) -> Plan | Refusals:
    return plan_of(rows, {"a": seen})


def codes(rows: Roster, seen: Observation) -> list[str]:
    found = outcome(rows, seen)
    assert isinstance(found, Refusals), found
    return [refusal.code for refusal in found.refusals]


def kinds(rows: Roster, seen: Observation) -> list[str]:
    found = outcome(rows, seen)
    assert isinstance(found, Plan), found
    return [step.kind for step in found.steps]


def with_file(text: str, path: str = CX7, seen: Observation | None = None) -> Observation:
    return observed.with_file(seen or observed.blank("a"), observed.netplan_file(path, text))


def managed(text: str) -> Observation:
    """A host with a file of another tool, where NetworkManager has what no file gives to somebody else."""
    return with_file(text, seen=with_file(RENDERER, "/etc/netplan/01-network-manager-all.yaml"))


def kept(seen: Observation) -> Observation:
    """Host a as its two rails should be, made so by another tool's netplan file."""
    for end in roster().desired_for("a").rail_ends:
        seen = observed.with_link(seen, observed.link_of(end))
        up = observed.own_profile(end).model_copy(update={
            "name": f"netplan-{end.interface}", "uuid": f"05ec54af-9f53-3227-867e-c7e879b25c{end.rail:02}",
            "filename": f"{RUN}/netplan-{end.interface}.nmconnection",
        })  # fmt: skip
        seen = observed.with_profile(seen, up)
        seen = seen.model_copy(update={"roce_gids": (*known(seen.roce_gids), observed.gid(end))})
    return seen


def test_undeclared_state_is_refused_with_both_ways_out() -> None:
    found = outcome(roster(), with_file(PLAYBOOK))
    assert isinstance(found, Refusals)
    first = str(found.refusals[0])
    assert f"a {F0}: expected no durable state but the roster's, found {CX7} at line 4" in first
    assert "(NVIDIA playbook helper, sparkrun or sparknet): 192.168.100.10/24, mtu 9000" in first
    assert 'sparks adopt a   declares it as it is; or put "/etc/netplan/40-cx7.yaml" into revert of a' in first


@pytest.mark.parametrize("port", INTERFACES)
def test_no_port_is_left_out(port: str) -> None:
    text = f"network: {{version: 2, ethernets: {{{port}: {{dhcp4: true}}}}}}\n"
    assert codes(roster(), with_file(text)) == ["undeclared_netplan"]
    assert codes(
        roster(),
        observed.with_keyfile(observed.blank("a"), f"[connection]\ntype=ethernet\nid=x\ninterface-name={port}\n"),
    ) == ["undeclared_profile"]


def test_a_host_that_is_not_looked_at_is_refused_also_without_rails() -> None:
    rows = Roster.read({"sparks": {"a": {"enrolled": True}}}, "test")
    assert set(codes(rows, Observation(host="a"))) == {"unobserved"}


def test_an_adopted_file_that_says_what_the_rails_are_leaves_nothing_to_do() -> None:
    seen = kept(managed(RAILS))
    assert kinds(roster(**adopts(CX7, RAILS)), seen) == []


def test_an_adopted_keyfile_that_says_what_a_rail_is_leaves_that_rail_alone() -> None:
    seen = observed.as_desired(roster().desired_for("a").rail_ends, "a")
    ours = rail_path("a", F0)
    seen = seen.model_copy(update={"netplan": tuple(file for file in known(seen.netplan) if file.path != ours)})
    seen = observed.with_keyfile(seen, KEYFILE)
    up = next(each for each in known(seen.connections).profiles if each.filename == KEYFILE_PATH)
    seen = observed.with_profile(seen, up.model_copy(update={"device": F0, "state": "activated"}))
    assert kinds(roster(**adopts(KEYFILE_PATH, KEYFILE)), seen) == []


def test_an_adopted_file_that_is_not_up_yet_is_brought_up_and_no_document_written() -> None:
    rows = roster(**adopts(CX7, RAILS))
    found = outcome(rows, managed(RAILS))
    assert isinstance(found, Plan)
    brought_up = [step for step in found.steps if isinstance(step, BringUp)]
    assert [step.keeper.uuid for step in brought_up] == [None] * 2 == [None for _ in found.steps]
    assert "the profile of /etc/netplan/40-cx7.yaml up" in found.steps[0].after


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (RAILS.replace("10.1.1.1/24", "10.1.1.9/24"), "adopted_address_differs"),
        (RAILS.replace("10.1.1.1/24", "10.1.1.1/25"), "adopted_address_differs"),
        (RAILS.replace("10.1.1.1/24", "10.1.1.1/24, 10.9.9.9/24"), "adopted_address_differs"),
        (RAILS.replace("dhcp4: false", "dhcp4: true", 1), "adopted_address_differs"),
        (RAILS.replace(", addresses: [10.1.1.1/24]", ""), "adopted_address_differs"),
        (RAILS.replace("mtu: 9000", "mtu: 1500", 1), "adopted_mtu_differs"),
        (RAILS.replace("mtu: 9000, ", "", 1), "adopted_mtu_differs"),
        (RAILS + "    more: {match: {name: enp1s0f0np0}, addresses: [10.1.1.1/24]}\n", "adopted_several"),
        (RAILS + "    enP7s7: {dhcp4: true}\n", "mixed_file"),
    ],
)
def test_an_adopted_file_that_is_not_the_rail_is_refused(text: str, code: str) -> None:
    assert set(codes(roster(**adopts(CX7, text)), kept(managed(text)))) == {code}


NETWORKD = "network: {version: 2, renderer: networkd}\n"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/etc/netplan/60-x.yaml", "found networkd in /etc/netplan/60-x.yaml"),
        (None, "found networkd, as no netplan file says another"),
        ("/run/netplan/01-network-manager-all.yaml", None),
        ("/etc/netplan/00-x.yaml", None),
    ],
)
def test_an_adopted_file_that_networkd_has_after_the_next_boot_is_refused(path: str | None, found: str | None) -> None:
    """Its profile is up until then: netplan 0.106 writes networkd's file for it and none for NetworkManager."""
    seen = kept(with_file(RAILS)) if path is None else kept(with_file(NETWORKD, path, managed(RAILS)))
    outcomes = outcome(roster(**adopts(CX7, RAILS)), seen)
    if found is None:
        assert isinstance(outcomes, Plan)
        assert outcomes.steps == ()
    else:
        assert isinstance(outcomes, Refusals)
        assert {each.code for each in outcomes.refusals} == {"adopted_renderer_differs"}
        assert found in str(outcomes.refusals[0])


def test_an_adopted_file_with_its_own_renderer_needs_no_other() -> None:
    text = RAILS.replace("dhcp4: false", "renderer: NetworkManager, dhcp4: false")
    assert (
        kinds(roster(**adopts(CX7, text)), kept(with_file(NETWORKD, "/etc/netplan/60-x.yaml", with_file(text)))) == []
    )


def test_an_adopted_file_that_changed_or_went_is_refused() -> None:
    rows = roster(**adopts(CX7, RAILS))
    assert codes(rows, kept(managed(RAILS + "# a note\n"))) == ["adopted_changed"]
    assert codes(rows, kept(observed.blank("a"))) == ["adopted_missing"]
    assert codes(roster(**adopts(KEYFILE_PATH, KEYFILE)), observed.blank("a")) == ["adopted_missing"]


def test_our_document_beside_an_adopted_file_would_compete() -> None:
    document = rail_document("a", F0, roster().desired_for("a").rail_ends[0].address, 9000)
    seen = with_file(document.text, document.path, kept(managed(RAILS)))
    assert codes(roster(**adopts(CX7, RAILS)), seen) == ["leftover_document"]


def gone(seen: Observation, path: str) -> Observation:
    """The file is away, and nobody has told NetworkManager."""
    connections = known(seen.connections)
    keyfiles = tuple(each for each in connections.keyfiles if each.path != path)
    return seen.model_copy(update={
        "netplan": tuple(file for file in known(seen.netplan) if file.path != path),
        "connections": connections.model_copy(update={"keyfiles": keyfiles}),
    })  # fmt: skip


def test_a_reverted_file_goes_before_our_documents_come() -> None:
    rows = roster(revert=[CX7])
    seen = kept(managed(RAILS))
    found = outcome(rows, seen)
    assert isinstance(found, Plan)
    assert [step.kind for step in found.steps] == ["remove_file", *["write_document"] * 2, *["activate"] * 2]
    step = found.steps[0]
    assert isinstance(step, RemoveFile)
    assert (step.path, step.ports, step.down, step.addresses) == (CX7, (F0, P0), (), ())
    assert step.content_digest == sha256_digest(RAILS.encode())


def test_what_a_reverted_file_gave_to_a_port_without_a_rail_goes_too() -> None:
    text = f"network: {{version: 2, ethernets: {{{F1}: {{addresses: [10.7.7.7/24]}}}}}}\n"
    seen = observed.as_desired(roster().desired_for("a").rail_ends, "a")
    up = observed.own_profile(roster().desired_for("a").rail_ends[0]).model_copy(update={
        "uuid": "u-f1", "device": F1, "filename": f"{RUN}/netplan-{F1}.nmconnection",
        "stored": Settings(interface=F1, ipv4_addresses=("10.7.7.7/24",)),
    })  # fmt: skip
    seen = observed.with_profile(with_file(text, seen=seen), up)
    found = outcome(roster(revert=[CX7]), seen)
    assert isinstance(found, Plan)
    (step,) = found.steps
    assert isinstance(step, RemoveFile)
    assert (step.down, step.addresses) == (("u-f1",), ((F1, "10.7.7.7/24"),))


def test_a_run_killed_after_a_removal_is_finished_by_the_next() -> None:
    """The file is away; what netplan generated from it, or the loaded keyfile, is still there."""
    ends = roster().desired_for("a").rail_ends
    seen = observed.as_desired(ends, "a")
    stale = observed.own_profile(ends[0]).model_copy(update={
        "uuid": "u-stale", "device": F1, "filename": f"{RUN}/netplan-{F1}.nmconnection",
        "stored": Settings(interface=F1),
    })  # fmt: skip
    for rows, left in (
        (roster(revert=[CX7]), observed.with_profile(seen, stale)),
        (roster(revert=[KEYFILE_PATH]), gone(observed.with_keyfile(seen, KEYFILE), KEYFILE_PATH)),
    ):
        found = outcome(rows, left)
        assert isinstance(found, Plan)
        assert [type(step) for step in found.steps] == [ReloadProfiles]
    assert kinds(roster(revert=[CX7, KEYFILE_PATH]), seen) == []


def test_a_reverted_keyfile_goes() -> None:
    seen = observed.with_keyfile(observed.as_desired(roster().desired_for("a").rail_ends, "a"), KEYFILE)
    rows = roster(revert=[KEYFILE_PATH])
    assert kinds(rows, seen) == ["remove_file"]


def test_a_left_over_document_of_ours_can_be_reverted() -> None:
    seen = observed.as_desired(roster().desired_for("a").rail_ends, "a")
    left = rail_document("a", F1, IPNetwork("10.5.5.5/24"), 9000)
    seen = with_file(left.text, left.path, seen)
    assert codes(roster(), seen) == ["leftover_document"]
    assert kinds(roster(revert=[left.path]), seen) == ["remove_file"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (RAILS + "    enP7s7: {dhcp4: true}\n", "mixed_file"),
        (RAILS + "    wlan: {match: {name: 'w*'}}\n", "mixed_file"),
        (RAILS + "    all: {match: {driver: virtio_net}}\n", "mixed_file"),
        (RAILS + "  wifis:\n    wlP9s9: {access-points: {home: {password: secret}}}\n", "mixed_file"),
        (RAILS + "  bridges:\n    br0: {interfaces: [enp1s0f0np0, enP7s7]}\n", "mixed_file"),
        (RAILS.replace("version: 2", "version: 2\n  renderer: NetworkManager"), "renderer_rests_on_file"),
        ("network: {version: 2, ethernets: {enP7s7: {dhcp4: true}}}\n", "removal_needs_guard"),
        ("network:\n\tversion: 2\n", "netplan_unreadable"),
    ],
)
def test_a_file_that_must_not_go_is_refused(text: str, code: str) -> None:
    seen = with_file(text)
    assert code in codes(roster(revert=[CX7]), seen)


def test_the_last_files_that_set_the_renderer_do_not_go_together() -> None:
    text = RAILS.replace("version: 2", "version: 2\n  renderer: NetworkManager")
    other = text.replace("enp1s0f0np0", F1).replace("enP2p1s0f0np0", P1)
    seen = with_file(other, "/etc/netplan/41-more.yaml", with_file(text))
    assert kinds(roster(revert=[CX7], **adopts("/etc/netplan/41-more.yaml", other)), seen)[0] == "remove_file"
    both = codes(roster(revert=[CX7, "/etc/netplan/41-more.yaml"]), seen)
    assert both == ["renderer_rests_on_file"] * 2


@pytest.mark.parametrize(
    "more",
    [
        "  bonds:\n    bond0: {interfaces: [enp1s0f0np0, enP2p1s0f0np0]}\n",
        "  vlans:\n    v100: {id: 100, link: enp1s0f0np0}\n",
        "    enp1s0f0v0: {dhcp4: false}\n",
    ],
)
def test_what_lies_on_the_ports_is_the_fabrics_own(more: str) -> None:
    seen = managed(RAILS + more)
    assert kinds(roster(revert=[CX7]), seen)[0] == "remove_file"


def test_the_lines_of_a_mixed_file_are_named_and_its_secrets_not() -> None:
    text = RAILS + "  wifis:\n    wlP9s9: {access-points: {home: {password: hunter2}}}\n"
    found = outcome(roster(), with_file(text))
    assert isinstance(found, Refusals)
    (refusal,) = found.refusals
    assert refusal.found == f"{F0} at line 4, {P0} at line 5 beside wlP9s9 at line 7"
    assert "hunter2" not in str(refusal)
    assert "home" not in str(refusal)


def test_what_a_boot_takes_away_is_told_where_there_is_no_rail() -> None:
    seen = observed.as_desired(roster().desired_for("a").rail_ends, "a")
    seen = observed.with_link(seen, observed.link(F1, 9000, ["10.7.7.7/24"]))
    found = outcome(roster(), seen)
    assert isinstance(found, Plan)
    assert found.is_noop
    assert found.hosts[0].notes == (f"a {F1}: 10.7.7.7/24, mtu 9000, hand-made (ip): lost at the next boot",)


WALLS = [
    ({"adopted": [{"file": CX7, "digest": "sha256:" + "0" * 64}], "revert": [CX7]}, "adopted or reverted, found it in"),
    ({"adopted": [{"file": CX7, "digest": "sha256:" + "0" * 64}] * 2}, "expected one digest for a file, found 2"),
    ({"adopted": [{"file": CX7, "digest": "sha256:1"}]}, "adopted[0].digest: expected"),
    ({"adopted": [{"file": "/etc/passwd", "digest": "sha256:" + "0" * 64}]}, "adopted[0].file: expected"),
    (
        {"adopted": [{"file": rail_path("a", F1), "digest": "sha256:" + "0" * 64}]},
        "expected files of others, found ours",
    ),
    ({"revert": [rail_path("a", F0)]}, f"expected no document of a rail, found that of {F0}"),
    ({"revert": ["/etc/NetworkManager/system-connections/../x.nmconnection"]}, "revert[0]: expected"),
    ({"revert": ["/run/netplan/x.yaml"]}, "revert[0]: expected"),
]


@pytest.mark.parametrize(("spark", "line"), WALLS)
def test_what_cannot_be_declared_is_a_wall(spark: dict[str, Any], line: str) -> None:
    with pytest.raises(RosterError) as error:
        roster(**spark)
    assert line in str(error.value)


def test_a_roster_with_adopted_files_survives_its_canonical_text() -> None:
    rows = roster(**adopts(CX7, RAILS))
    assert Roster.from_canonical(rows.canonical) == rows
