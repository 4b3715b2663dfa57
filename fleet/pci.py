"""A host's network functions on PCI, and what the switch says that takes a ConnectX-7 off PCI without a cable."""

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from fleet.record import VOLATILE, Record

PciAddress = Annotated[str, Field(pattern=r"^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$")]
"""Domain, bus, device and function, as the kernel spells them: `0000:01:00.1`."""

HOTPLUG = "/sys/devices/platform/MTKP0001:00/pcie_hotplug"
"""Where the kernel's cx7-pcie-hotplug driver tells of the cable switch that DGX OS's dgx-spark-mlnx-hotplug uses.

`debug_state` is 1 while a cable is seen; when it falls to 0 every function of the adapter leaves PCI
(dgx-spark-mlnx-hotplug 26.01, public reports of 2026-09).
"""

_HEX = re.compile(r"0x([0-9a-f]+)")


class PciFunction(Record):
    """One PCI function of the network class (02)."""

    address: PciAddress
    vendor: str
    """Four hex digits; 15b3 is a ConnectX's, 1af4 virtio's."""
    device: str
    """Four hex digits; 1021 is the ConnectX-7 of a Spark."""
    device_class: str
    """Six hex digits; 020000 is Ethernet, 020700 InfiniBand."""
    driver: str | None = None
    """None where no driver has taken it."""
    interfaces: tuple[str, ...] = ()
    """The network interfaces that it has now, under their names of now."""


class CableSwitch(Record):
    """The switch that takes the adapter off PCI while no cable is in."""

    enabled: bool | None = None
    """Is it in use? None where its driver does not say."""
    cable_seen: Annotated[bool | None, VOLATILE] = None
    """None where its driver does not say."""


class PciNetwork(Record):
    """Every network function on PCI; one that is not here has left the bus, or was never on it."""

    functions: tuple[PciFunction, ...]
    cable_switch: CableSwitch | None = None
    """None on a host without one."""

    def at(self, address: str) -> PciFunction | None:
        """The function at an address; None where nothing of the network class is there."""
        return next((each for each in self.functions if each.address == address), None)


def parse_pci(text: str) -> PciNetwork:
    """From lines of words between tabs: `function ADDRESS CLASS VENDOR DEVICE DRIVER INTERFACES`, `switch NAME VALUE`.

    A driver or a list of interfaces may be empty. Raises ValueError for another line.
    """
    functions, switch = [], {}
    for number, kind, words in _lines(text):
        if kind == "function" and len(words) == 6:
            functions.append(_function(number, words))
        elif kind == "switch" and len(words) == 2:
            switch[words[0]] = words[1]
        else:
            raise ValueError(f"line {number}: expected a function or a switch, found {kind} with {len(words)} words")
    return PciNetwork(
        functions=tuple(sorted(functions, key=lambda each: each.address)),
        cable_switch=CableSwitch(**{_SWITCH[name]: _truth(value) for name, value in switch.items()})
        if switch else None,
    )  # fmt: skip


_SWITCH = {"hotplug_enabled": "enabled", "debug_state": "cable_seen"}


def _lines(text: str) -> Iterator[tuple[int, str, list[str]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line:
            kind, *words = line.split("\t")
            yield number, kind, words


def _function(number: int, words: list[str]) -> PciFunction:
    address, device_class, vendor, device, driver, interfaces = words
    numbers = [_HEX.fullmatch(each) for each in (device_class, vendor, device)]
    if None in numbers:
        raise ValueError(f"line {number}: expected class, vendor and device in hex, found {words[1:4]}")
    found = [each[1] for each in numbers if each]
    return PciFunction(
        address=address,
        device_class=found[0],
        vendor=found[1],
        device=found[2],
        driver=driver or None,
        interfaces=tuple(sorted(interfaces.split())),
    )


def _truth(value: str) -> bool | None:
    return {"1": True, "0": False}.get(value.strip())
