"""What is wrong with the port of a rail, told apart: no device, no interface, kept down, no cable."""

from fleet.connections import Connections
from fleet.desired import DesiredEnd
from fleet.links import Link, find_link
from fleet.observation import Observation, known
from fleet.pci import HOTPLUG, PciFunction, PciNetwork
from fleet.refusal import Refusal


def port_missing(end: DesiredEnd, seen: Observation) -> Refusal | None:
    """A refusal where the host has no such interface: its device has left PCI, or is there without it."""
    if find_link(known(seen.links), end.interface) is not None:
        return None
    if blind := seen.unobserved("pci"):
        return blind
    pci = known(seen.pci)
    function = pci.at(end.pci_address)
    return _device_missing(end, pci) if function is None else _interface_missing(end, function)


def no_carrier(end: DesiredEnd, link: Link) -> Refusal | None:
    """A refusal where the port is up and no cable is live; one that is down cannot tell."""
    if link.carrier or not link.up:
        return None
    return Refusal(
        code="no_carrier",
        subject=str(end),
        expected=f"a live cable on {end.joined}",
        found="no carrier",
        hint="plug the cable in at both ends, and see that the far end is on and its port up",
    )


def kept_down(end: DesiredEnd, connections: Connections) -> Refusal | None:
    """A refusal where somebody disconnected the port on purpose: until then NetworkManager brings nothing up on it.

    One that is only administratively down is a step: bringing its profile up brings it up too.
    """
    device = connections.device(end.interface)
    if device is None or not device.kept_down or connections.active_profile(end.interface) is not None:
        return None
    return Refusal(
        code="port_down",
        subject=str(end),
        expected=f"its port up for {end.joined}",
        found="it disconnected by hand, and autoconnect off",
        hint=f"nmcli device set {end.interface} autoconnect yes on the host once it may come up, "
        "or take the rail out of the roster",
    )


def _device_missing(end: DesiredEnd, pci: PciNetwork) -> Refusal:
    return Refusal(
        code="device_missing",
        subject=str(end),
        expected=f"its device at PCI {end.pci_address}, for {end.joined}",
        found=f"no network device there{_switch(pci)}",
        hint="plug the cable in at both ends: dgx-spark-mlnx-hotplug takes a ConnectX-7 without a cable off PCI "
        f"(see {HOTPLUG}/); a board with other addresses names them under sparks.{end.spark}.pci",
    )


def _switch(pci: PciNetwork) -> str:
    switch = pci.cable_switch
    if switch is None or switch.cable_seen is None:
        return ""
    return ", and its cable switch sees a cable" if switch.cable_seen else ", and its cable switch sees no cable"


def _interface_missing(end: DesiredEnd, function: PciFunction) -> Refusal:
    place = f"PCI {function.address}"
    if function.driver is None:
        found, hint = f"{place} without a driver", "load mlx5_core on the host, and look at dmesg"
    elif function.interfaces:
        found = f"{place} as {' '.join(function.interfaces)}"
        hint = (
            "look for what names it on the host: udevadm test-builtin net_setup_link /sys/class/net/"
            + (function.interfaces[0])
        )
    else:
        found, hint = f"{place} with driver {function.driver} and no interface", "look at dmesg on the host"
    return Refusal(
        code="interface_missing", subject=str(end), expected="the interface on the host", found=found, hint=hint
    )
