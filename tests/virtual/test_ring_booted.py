"""A booted ring of four: each cable joins what the layout says, and a reset plugs all of them in again."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from virtual.cabling import SLOT_OF, TWINS, Port, cabling

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.ring, pytest.mark.timeout(3600)]

WIRES = cabling("ring4", 4)
LINKS = sorted({tuple(sorted((here, there), key=str)) for here, there in WIRES.peers.items()}, key=str)


def out(lab: "Lab", name: str, command: str) -> str:
    done = lab.ssh(name, command)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def without_carrier(lab: "Lab") -> set[Port]:
    """The ports of all machines where no live cable is."""
    found = set()
    for name in WIRES.machines:
        for line in out(lab, name, "grep -H . /sys/class/net/en*s0f*/carrier").splitlines():
            path, _, carrier = line.partition(":")
            found |= {Port(name, path.split("/")[4])} if carrier == "0" else set()
    return found


def test_each_machine_has_a_self_of_its_own(ring: "Lab") -> None:
    assert tuple(out(ring, name, "hostname") for name in WIRES.machines) == WIRES.machines
    ids = [out(ring, name, "cat /etc/machine-id") for name in WIRES.machines]
    assert ids == [machine.machine_id for machine in ring.state.machines]
    assert len(set(ids)) == len(ids)


def test_a_jumbo_frame_passes_every_cable(ring: "Lab") -> None:
    addresses: dict[Port, str] = {}
    for number, (here, there) in enumerate(LINKS):
        addresses |= {here: f"192.0.2.{4 * number + 1}", there: f"192.0.2.{4 * number + 2}"}
    for name in WIRES.machines:
        mine = [(port.interface, address) for port, address in addresses.items() if port.machine == name]
        steps = [f"ip link set {each} mtu 9000; ip addr add {address}/30 dev {each}" for each, address in mine]
        out(ring, name, f"sudo sh -c '{'; '.join(steps)}'")
    for name in WIRES.machines:
        peers = [addresses[WIRES.peers[Port(name, interface)]] for interface in SLOT_OF]
        out(ring, name, " && ".join(f"ping -q -c 1 -W 10 -M do -s 8972 {peer}" for peer in peers))
    ring.reset()


def test_a_pulled_cable_takes_the_carrier_of_both_its_ends_till_it_is_plugged_in(ring: "Lab") -> None:
    first = WIRES.machines[0]
    ends = {port for interface in TWINS[1] for port in (Port(first, interface), WIRES.peers[Port(first, interface)])}
    ways: tuple[Callable[[], None], ...] = (lambda: ring.set_cable(first, "f1", up=True), ring.reset)
    for plug_in in ways:
        assert without_carrier(ring) == set()
        ring.set_cable(first, "f1", up=False)
        assert without_carrier(ring) == ends
        plug_in()
    assert without_carrier(ring) == set()
