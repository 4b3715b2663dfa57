"""Which port of which virtual Spark is joined with which: data for each layout, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass

from virtual.errors import LabError

SLOT_OF = {
    "enp1s0f0np0": 5,
    "enP2p1s0f0np0": 6,
    "enp1s0f1np1": 7,
    "enP2p1s0f1np1": 8,
}
"""The PCI slot of each rail port; the guest names its interfaces by slot."""

TWINS = (("enp1s0f0np0", "enP2p1s0f0np0"), ("enp1s0f1np1", "enP2p1s0f1np1"))
"""The two interfaces of cage 0 and of cage 1, in the order of their PCIe domains."""

CAGES = {"f0": TWINS[0], "f1": TWINS[1]}
"""Both twins of a cage: a real cable has them both."""

MOST_MACHINES = 8


@dataclass(frozen=True)
class Port:
    """One end of a possible cable: an interface of a machine."""

    machine: str
    interface: str


@dataclass(frozen=True)
class CageCable:
    """A cable between two cages, by machine number from 1 and cage number 0 or 1."""

    ends: tuple[tuple[int, int], tuple[int, int]]


def _ring(size: int) -> tuple[CageCable, ...]:
    """Cage 1 of each to cage 0 of the next."""
    return tuple(CageCable(((number, 1), (number % size + 1, 0))) for number in range(1, size + 1))


LAYOUTS: Mapping[str, tuple[CageCable, ...]] = {
    "pair": (CageCable(((1, 1), (2, 1))),),
    "triangle": _ring(3),
    "ring4": _ring(4),
    "grub": (),
    "grub-pair": (CageCable(((1, 1), (2, 1))),),
}
"""pair, grub-pair: cage 1 to cage 1. triangle, ring4: cage 1 of each to cage 0 of the next. grub: no cable."""

BOOT_BY_GRUB = frozenset({"grub", "grub-pair"})
"""Layouts whose machines boot from their own disk, one of two kernels; QEMU itself starts the kernel of all others."""


@dataclass(frozen=True)
class Cabling:
    """A layout on a number of machines: every port, and the port at the other end where one is."""

    layout: str
    machines: tuple[str, ...]
    peers: Mapping[Port, Port]

    def peer(self, port: Port) -> Port | None:
        """The other end of the cable in this port; None where none is plugged in."""
        return self.peers.get(port)


def interfaces(name: str) -> tuple[str, ...]:
    """The interfaces that a port's name means: itself, or both twins of the cage `f0` or `f1`."""
    if name in SLOT_OF:
        return (name,)
    if name not in CAGES:
        raise LabError(f"port: expected one of {', '.join((*CAGES, *SLOT_OF))}, found {name}")
    return CAGES[name]


def machine_name(number: int) -> str:
    """vspark1, vspark2, …"""
    return f"vspark{number}"


def least_machines(layout: str) -> int:
    """How many machines the cables of a layout join."""
    if layout not in LAYOUTS:
        raise LabError(f"layout: expected one of {', '.join(LAYOUTS)}, found {layout}")
    return max((number for cable in LAYOUTS[layout] for number, _ in cable.ends), default=1)


def cabling(layout: str, count: int) -> Cabling:
    """The cables of a layout among `count` machines; more machines than it joins get none."""
    least = least_machines(layout)
    if not least <= count <= MOST_MACHINES:
        raise LabError(f"count: expected {least} to {MOST_MACHINES} machines for {layout}, found {count}")
    peers: dict[Port, Port] = {}
    for cable in LAYOUTS[layout]:
        (one, its_cage), (other, other_cage) = cable.ends
        for here, there in zip(TWINS[its_cage], TWINS[other_cage], strict=True):
            a, b = Port(machine_name(one), here), Port(machine_name(other), there)
            peers[a], peers[b] = b, a
    return Cabling(layout, tuple(machine_name(number) for number in range(1, count + 1)), peers)
