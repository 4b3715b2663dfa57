"""Findings about the port of a rail, told apart by what is on PCI, on the host and on the cable."""

from typing import Any

import pytest

from fleet.connections import Connections
from fleet.hardware import TWINS
from fleet.observation import Observation, known
from fleet.pci import CableSwitch, PciFunction, PciNetwork
from fleet.plan import Plan, Refusals
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.roster_error import RosterError
from tests.fleet import observed
from tests.fleet.observed import plan_of
from tests.fleet.test_roster import GOOD

ROSTER = Roster.read(GOOD, "test")
A = ROSTER.desired_for("a")
END = A.rail_ends[0]
DONE = observed.as_desired(A.rail_ends, "a")
JOINED = "rail 1 (a enp1s0f0np0 - b enp1s0f0np0)"


def decided(seen: Observation) -> set[tuple[str, str]]:
    """The codes of the refusals, or the kinds of the steps, about each subject."""
    match plan_of(ROSTER, {"a": seen}):
        case Refusals(refusals=refusals):
            return {(each.code, each.subject) for each in refusals}
        case Plan(steps=steps):
            return {(each.kind, each.subject) for each in steps}


def refusal(seen: Observation) -> Refusal:
    outcome = plan_of(ROSTER, {"a": seen})
    assert isinstance(outcome, Refusals)
    return outcome.refusals[0]


def without_interface(function: PciFunction | None, switch: CableSwitch | None = None) -> Observation:
    """The host without END's interface; `function` is what is at its place on PCI."""
    others = [each for each in known(DONE.pci).functions if each.address != END.pci_address]
    pci = PciNetwork(functions=(*others, *([function] if function else [])), cable_switch=switch)
    links = tuple(each for each in known(DONE.links) if each.name != END.interface)
    return DONE.model_copy(update={"links": links, "pci": pci})


def function(**other: Any) -> PciFunction:
    known_of = {"address": END.pci_address, "vendor": "15b3", "device": "1021", "device_class": "020000"}
    return PciFunction(**known_of | other)


def test_no_cable_names_the_rail_and_both_ends() -> None:
    found = observed.with_link(DONE, observed.link(END.interface, 9000, [str(END.address)], carrier=False))
    assert decided(found) == {("no_carrier", "a enp1s0f0np0")}
    assert JOINED in str(refusal(found))


def test_a_port_that_is_only_down_is_brought_up() -> None:
    down = observed.link(END.interface, 9000, [str(END.address)], carrier=False).model_copy(update={"up": False})
    found = observed.with_link(DONE, down)
    assert decided(found) == {("activate", "a enp1s0f0np0")}
    outcome = plan_of(ROSTER, {"a": found})
    assert isinstance(outcome, Plan)
    assert (outcome.steps[0].before, outcome.steps[0].after) == ("port down", "port up")


def test_a_port_that_somebody_disconnected_is_left_alone() -> None:
    blank = observed.blank("a")
    connections = known(blank.connections)
    devices = tuple(each.model_copy(update={"kept_down": each.name == END.interface}) for each in connections.devices)
    kept = connections.model_copy(update={"devices": devices})
    assert ("port_down", "a enp1s0f0np0") in decided(blank.model_copy(update={"connections": kept}))
    up: Connections = known(DONE.connections).model_copy(update={"devices": devices})
    assert decided(DONE.model_copy(update={"connections": up})) == set(), "it is up again since"


@pytest.mark.parametrize(
    ("switch", "words"),
    [
        (None, "no network device there"),
        (CableSwitch(enabled=True), "no network device there"),
        (CableSwitch(enabled=True, cable_seen=False), "and its cable switch sees no cable"),
        (CableSwitch(enabled=True, cable_seen=True), "and its cable switch sees a cable"),
    ],
)
def test_a_device_that_left_pci_is_named_with_its_place_and_what_takes_it_away(
    switch: CableSwitch | None, words: str
) -> None:
    found = refusal(without_interface(None, switch))
    assert found.code == "device_missing"
    assert found.found.endswith(words)
    for part in (END.pci_address, JOINED, "dgx-spark-mlnx-hotplug", "MTKP0001:00/pcie_hotplug/"):
        assert part in str(found)


@pytest.mark.parametrize(
    ("there", "words"),
    [
        (function(), f"PCI {END.pci_address} without a driver"),
        (function(driver="mlx5_core"), f"PCI {END.pci_address} with driver mlx5_core and no interface"),
        (function(driver="mlx5_core", interfaces=("eth2",)), f"PCI {END.pci_address} as eth2"),
    ],
)
def test_a_device_without_its_interface_is_another_finding(there: PciFunction, words: str) -> None:
    found = refusal(without_interface(there))
    assert (found.code, found.found) == ("interface_missing", words)


def test_pci_is_asked_only_where_an_interface_is_missing() -> None:
    nothing = {"pci": Unobserved(reason="no")}
    assert decided(DONE.model_copy(update=nothing)) == set()
    assert {code for code, _ in decided(without_interface(None).model_copy(update=nothing))} == {"unobserved"}


def test_a_board_with_other_addresses_says_so_in_the_roster() -> None:
    sparks = GOOD["sparks"] | {"a": {"enrolled": True, "pci": {END.interface: "0009:01:00.0"}}}
    roster = Roster.read(GOOD | {"sparks": sparks}, "test")
    ends = roster.desired_for("a").rail_ends
    assert [end.pci_address for end in ends] == ["0009:01:00.0", TWINS[1].pci_address]


@pytest.mark.parametrize(
    ("pci", "words"),
    [
        ({"enP7s7": "0009:01:00.0"}, "pci: expected a ConnectX-7 twin, as enp1s0f0np0, found enP7s7"),
        ({"enp1s0f0np0": "0002:01:00.0"}, "found 0002:01:00.0 2 times"),
        ({"enp1s0f0np0": "1:0.0"}, "sparks.a.pci.enp1s0f0np0"),
    ],
)
def test_an_address_that_cannot_be_is_refused(pci: dict[str, str], words: str) -> None:
    with pytest.raises(RosterError, match=words.replace(".", r"\.")):
        Roster.read(GOOD | {"sparks": GOOD["sparks"] | {"a": {"enrolled": True, "pci": pci}}}, "test")
