"""The cables of each layout: reciprocal, between different machines, a twin to its like."""

import pytest

from virtual.cabling import BOOT_BY_GRUB, LAYOUTS, SLOT_OF, TWINS, Cabling, Port, cabling, interfaces, least_machines
from virtual.errors import LabError


@pytest.fixture(params=sorted(LAYOUTS))
def wires(request: pytest.FixtureRequest) -> Cabling:
    layout: str = request.param
    return cabling(layout, least_machines(layout))


def test_every_cable_has_two_ends(wires: Cabling) -> None:
    for here, there in wires.peers.items():
        assert wires.peer(there) == here
        assert here.machine != there.machine


def test_every_cable_joins_twins_of_one_domain(wires: Cabling) -> None:
    rank = {interface: index for twins in TWINS for index, interface in enumerate(twins)}
    for here, there in wires.peers.items():
        assert rank[here.interface] == rank[there.interface]


def test_both_twins_of_a_cage_go_to_the_same_cage(wires: Cabling) -> None:
    for machine in wires.machines:
        for one, other in TWINS:
            ends = [wires.peer(Port(machine, interface)) for interface in (one, other)]
            cages = {next(twins for twins in TWINS if end.interface in twins) for end in ends if end}
            assert len({end.machine for end in ends if end}) <= 1
            assert len(cages) <= 1


def test_pair_names_one_interface_at_both_ends() -> None:
    assert {here.interface for here in cabling("pair", 2).peers} == set(TWINS[1])
    for here, there in cabling("pair", 2).peers.items():
        assert here.interface == there.interface


@pytest.mark.parametrize(("layout", "size"), [("triangle", 3), ("ring4", 4)])
def test_a_ring_uses_every_port_once(layout: str, size: int) -> None:
    wires = cabling(layout, size)
    ports = {Port(machine, interface) for machine in wires.machines for interface in SLOT_OF}
    assert set(wires.peers) == set(wires.peers.values()) == ports


def test_more_machines_than_the_layout_joins_have_no_cable() -> None:
    wires = cabling("pair", 3)
    assert wires.machines[2:] == ("vspark3",)
    assert all(wires.peer(Port("vspark3", interface)) is None for interface in SLOT_OF)


def test_a_cage_means_both_its_twins() -> None:
    assert interfaces("f1") == ("enp1s0f1np1", "enP2p1s0f1np1")
    assert sorted(interfaces("f0") + interfaces("f1")) == sorted(SLOT_OF)
    for interface in SLOT_OF:
        assert interfaces(interface) == (interface,)
    with pytest.raises(LabError, match=r"port: expected one of f0, f1, enp1s0f0np0, .*, found f2"):
        interfaces("f2")


@pytest.mark.parametrize(
    ("layout", "count", "words"),
    [
        ("star", 2, "layout: expected one of pair, triangle, ring4, grub, grub-pair, found star"),
        ("pair", 1, "count: expected 2 to 8 machines for pair, found 1"),
        ("ring4", 9, "count: expected 4 to 8 machines for ring4, found 9"),
    ],
)
def test_what_cannot_be_cabled_is_refused_in_one_line(layout: str, count: int, words: str) -> None:
    with pytest.raises(LabError) as refusal:
        cabling(layout, count)
    assert refusal.value.message == words


def test_a_machine_that_boots_by_grub_may_be_alone() -> None:
    assert least_machines("grub") == 1
    assert not cabling("grub", 1).peers
    assert cabling("grub-pair", 2).peers == cabling("pair", 2).peers
    assert LAYOUTS.keys() > BOOT_BY_GRUB
