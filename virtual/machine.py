"""One virtual Spark: its identity, and the QEMU command line that makes it.

QEMU runs with the run folder of the lab as its working directory, so that socket paths stay short.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from virtual import computer
from virtual.cabling import SLOT_OF, Cabling, Port
from virtual.image import Image
from virtual.process import pid_file

MANAGEMENT_MAC = "52:54:00:00:00:aa"
"""The same in every machine, each is alone on its network: another one would get another address."""

MANAGEMENT_ADDRESS = "10.99.0.11"
MOVED_ADDRESS = "10.99.0.12"
"""An address that no machine has. One that takes it is reached through a port of its own."""

GOLDEN = "vspark0"
"""The machine that is booted once and then cloned; it is no part of any lab."""


@dataclass(frozen=True)
class Ports:
    """Where sshd of one machine is reached on 127.0.0.1."""

    ssh: int
    """At `MANAGEMENT_ADDRESS`."""
    moved: int
    """At `MOVED_ADDRESS`."""


@dataclass(frozen=True)
class Machine:
    """A machine by name and number; the rest of its identity follows from them."""

    name: str
    number: int

    @property
    def machine_id(self) -> str:
        """32 hex digits, as in /etc/machine-id."""
        return hashlib.sha256(f"virtual spark {self.name}".encode()).hexdigest()[:32]

    def mac(self, interface: str) -> str:
        """The MAC address of a rail port."""
        return f"52:54:00:00:{self.number:02x}:{list(SLOT_OF).index(interface) + 1:02x}"


def machines(cabling: Cabling) -> tuple[Machine, ...]:
    """The machines of a lab, numbered from 1."""
    return tuple(Machine(name, number) for number, name in enumerate(cabling.machines, start=1))


def cable_socket(port: Port) -> str:
    """Where a port receives its frames, relative to the run folder."""
    return f"cables/{port.machine}-{port.interface}"


def netdev(interface: str) -> str:
    """QEMU's name for the cable end in an interface."""
    return f"rail-{interface}"


def nic(interface: str) -> str:
    """QEMU's name for the network card that is an interface."""
    return f"nic-{interface}"


def rail_nic(machine: Machine, interface: str) -> Mapping[str, str]:
    """The card of a rail port, as QEMU takes it on its command line and while it runs."""
    return _nic(nic(interface), netdev(interface), SLOT_OF[interface], machine.mac(interface))


def arguments(
    machine: Machine, cabling: Cabling, image: Image, run: Path, ports: Ports, snapshot: str | None
) -> list[str]:
    """The command line, without the program; `snapshot` is what to wake from, None to boot."""
    return [
        *_own(machine, image, run / machine.name),
        *_management(ports),
        *_rails(machine, cabling),
        *(["-loadvm", snapshot] if snapshot else []),
    ]


def _own(machine: Machine, image: Image, directory: Path) -> Iterable[str]:
    """The computer, what it boots, and where it is reached from here."""
    name = machine.name
    return (
        *computer.computer(name),
        "-pidfile", str(pid_file(directory)), "-serial", f"file:{name}/serial.log",
        "-qmp", f"unix:{name}/qmp.sock,server=on,wait=off",
        *(() if image.boots_by_grub else _kernel(machine, image)),
        "-drive", computer.drive(f"{name}/disk.qcow2"), "-device", computer.DISK,
    )  # fmt: skip


def _kernel(machine: Machine, image: Image) -> Iterable[str]:
    append = (
        f"root=/dev/vda1 rw console=ttyS0 quiet loglevel=3 mitigations=off {computer.SAME_PLACES} "
        f"systemd.show_status=no systemd.hostname={machine.name} systemd.machine_id={machine.machine_id} "
        "systemd.ssh_auto=no systemd.getty_auto=no fsck.mode=skip"
    )
    return "-kernel", str(image.kernel), "-initrd", str(image.initrd), "-append", append


def _management(ports: Ports) -> Iterable[str]:
    ends = ((ports.ssh, MANAGEMENT_ADDRESS), (ports.moved, MOVED_ADDRESS))
    forwards = ",".join(f"hostfwd=tcp:127.0.0.1:{port}-{address}:22" for port, address in ends)
    # Without IPv6: a router's advertisement would add an address at its own time.
    network = f"user,id=management,net=10.99.0.0/24,ipv6=off,restrict=on,dhcpstart={MANAGEMENT_ADDRESS}"
    card = _nic("nic-management", "management", 3, MANAGEMENT_MAC)
    return "-netdev", f"{network},{forwards}", "-device", _spelled(card)


def _rails(machine: Machine, cabling: Cabling) -> Iterable[str]:
    """A cable is a pair of unix datagram sockets. A port without one sends to where nothing is."""
    for interface in SLOT_OF:
        port = Port(machine.name, interface)
        peer = cabling.peer(port)
        there = cable_socket(peer) if peer else "cables/unplugged"
        yield from (
            "-netdev",
            f"dgram,id={netdev(interface)},local.type=unix,local.path={cable_socket(port)},"
            f"remote.type=unix,remote.path={there}",
            "-device",
            _spelled(rail_nic(machine, interface)),
        )


def _nic(name: str, network: str, slot: int, mac: str) -> Mapping[str, str]:
    return {"driver": "virtio-net-pci", "id": name, "netdev": network, "addr": f"{slot:#x}", "mac": mac, "romfile": ""}


def _spelled(device: Mapping[str, str]) -> str:
    """As the command line has it: the driver first, without its key."""
    driver, *settings = device.items()
    return ",".join((driver[1], *(f"{key}={value}" for key, value in settings)))
