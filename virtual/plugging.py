"""What is plugged in where, in a machine that runs: network cards in their slots, cables in the cards."""

import time

from virtual.cabling import SLOT_OF, Cabling, Port
from virtual.errors import LabError
from virtual.machine import Machine, netdev, nic, rail_nic
from virtual.qmp import Qmp

EJECT_SECONDS = 60.0
"""How long a guest may take to let a card go: under 3 s on a busy host (measured 2026-11-29)."""


def plug_cables(qmp: Qmp, machine: Machine, cabling: Cabling) -> None:
    """Every cable of the layout plugged in, no carrier where there is none. Holds across a reset."""
    for interface in SLOT_OF:
        plugged = cabling.peer(Port(machine.name, interface)) is not None
        qmp.set_link(netdev(interface), plugged)


def remove(qmp: Qmp, machine: Machine, interface: str) -> None:
    """Take a card out of its slot, once the guest has let it go; nothing when it is out."""
    if nic(interface) not in qmp.devices():
        return
    qmp.execute("device_del", id=nic(interface))
    end = time.monotonic() + EJECT_SECONDS
    while nic(interface) in qmp.devices():
        if time.monotonic() > end:
            raise LabError(f"{machine.name} {interface}: expected the guest to let it go, found it kept")
        time.sleep(0.1)


def insert(qmp: Qmp, machine: Machine, interface: str) -> None:
    """Put a card back into its slot; nothing when it is in. What becomes of its cable is for `plug_cables`."""
    if nic(interface) not in qmp.devices():
        qmp.execute("device_add", **rail_nic(machine, interface))
