"""The running machines of a lab in its folder `.virtual`: woken, found again, brought back, cleared away."""

import shutil
import threading
from dataclasses import dataclass
from pathlib import Path

from fleet.hardware import TWINS
from virtual import disk, parallel, plugging, process, shell, state
from virtual.cabling import BOOT_BY_GRUB, Cabling, Port, cabling
from virtual.errors import LabError
from virtual.image import Image
from virtual.machine import Machine, Ports, machines, netdev
from virtual.progress import Say
from virtual.rig import Rig, free_ports
from virtual.snapshot import CLEAN, Snapshot
from virtual.state import LabState, MachineState

LOOPBACK = "127.0.0.1"
LOCK = "lock"
ROCE_OF = {twin.interface: twin.rdma_device for twin in TWINS}
READ_BOOT_ID = "cat /proc/sys/kernel/random/boot_id"


@dataclass(frozen=True)
class MachineStatus:
    """One machine, as it is seen now."""

    name: str
    port: int
    running: bool
    """Whether its QEMU runs."""
    answers: bool
    """Whether ssh does."""


class Running:
    """A lab that was woken; its state is in `lab.json`."""

    def __init__(self, directory: Path, known: LabState, say: Say) -> None:
        self._directory = directory
        self._known = known
        self._say = say
        self._recording = threading.Lock()
        wires = cabling(known.layout, len(known.machines))
        ports = {machine.name: Ports(machine.port, machine.moved_port) for machine in known.machines}
        key, known_hosts, control = Path(known.key), Path(known.known_hosts), Path(known.control)
        image = Image(Path(known.image), known.layout in BOOT_BY_GRUB)
        self.rig = Rig(directory, image, wires, ports, key, known_hosts, control)
        self.machines = machines(wires)
        self.snapshot = Snapshot(Path(known.snapshot))

    def machine(self, name: str) -> Machine:
        """A machine of this lab by name."""
        for machine in self.machines:
            if machine.name == name:
                return machine
        names = ", ".join(machine.name for machine in self.machines)
        raise LabError(f"machine: expected one of {names}, found {name}")

    def wake(self, machine: Machine) -> None:
        """Start a machine from its snapshot, and record its process."""
        disk.copy(self.snapshot.disk(machine), self.rig.disk(machine))
        started = self.rig.start(machine, CLEAN)
        with self._recording:
            self._known = self._known.with_process(machine.name, started)
            state.write(self._directory / "lab.json", self._known)
        self.rig.set_clock(machine, self._say)

    def reset(self, machine: Machine) -> None:
        """Back to the snapshot; a machine that died, or whose QEMU is beyond that, is woken anew."""
        if self.is_running(machine.name):
            try:
                self.rig.restore(machine, CLEAN)
            except LabError as error:
                self._say(f"{error.message}; starting it again")
                self._stop(machine)
            else:
                self.rig.set_clock(machine, self._say)
                return
        self.rig.shell(machine.name).disconnect()
        self.wake(machine)

    def power_cycle(self, machine: Machine) -> None:
        """Reset the machine as a power cut does, and wait until it has booted."""
        if not self.is_running(machine.name):
            raise LabError(f"{machine.name}: its QEMU does not run: try `sparks virtual reset`")
        reach = self.rig.shell(machine.name)
        before, seen = reach.attempt(READ_BOOT_ID).stdout.strip(), len(self.rig.console(machine))
        reach.disconnect()
        with self.rig.qmp(machine.name) as qmp:
            qmp.execute("system_reset")
        self.rig.await_boot(machine, seen, self._say)
        if reach.run(READ_BOOT_ID).stdout.strip() == before:
            raise LabError(f"{machine.name}: expected a new boot id, found the old one")

    def set_cable(self, machine: Machine, interface: str, up: bool) -> None:
        """Plug in or pull the cable in an interface: both its ends gain or lose the carrier."""
        here = Port(machine.name, interface)
        there = self.rig.cabling.peer(here)
        if there is None:
            layout = self.rig.cabling.layout
            raise LabError(f"{machine.name} {interface}: expected a cable, found none in layout {layout}")
        self._set_links(up, here, there)

    def set_card(self, machine: Machine, interface: str, present: bool) -> None:
        """Put the card of an interface into its slot, cable included, or take it out."""
        here = Port(machine.name, interface)
        there = self.rig.cabling.peer(here)
        with self.rig.qmp(machine.name) as qmp:
            if present:
                plugging.insert(qmp, machine, interface)
            else:
                plugging.remove(qmp, machine, interface)
        self._set_links(present and there is not None, here, *([there] if there else []))
        if present:
            self.rig.shell(machine.name).wait(f"test -e /sys/class/infiniband/{ROCE_OF[interface]}", say=self._say)

    def _set_links(self, up: bool, *ports: Port) -> None:
        for port in ports:
            with self.rig.qmp(port.machine) as qmp:
                qmp.set_link(netdev(port.interface), up)

    def status(self, machine: Machine) -> MachineStatus:
        """How a machine is now."""
        runs = self.is_running(machine.name)
        answers = runs and self.rig.shell(machine.name).attempt("true").returncode == 0
        return MachineStatus(machine.name, self.rig.ports[machine.name].ssh, runs, answers)

    def is_running(self, name: str) -> bool:
        """Whether the very process that was started runs."""
        known = next(machine.process for machine in self._known.machines if machine.name == name)
        return known is not None and process.is_running(known, self._directory / name)

    def _stop(self, machine: Machine) -> None:
        for known in self._known.machines:
            if known.name == machine.name and known.process:
                process.stop(known.process, self._directory / machine.name)


def wake(directory: Path, image: Image, wires: Cabling, kept: Snapshot, say: Say) -> Running:
    """Bring up all machines of a cabling from their snapshot, in a cleared folder."""
    directory.mkdir(exist_ok=True)
    key = directory / "id_ed25519"
    key.touch(mode=0o600)
    shutil.copyfile(image.ssh_key, key)
    host_keys, known_hosts = kept.host_keys(), directory / "known_hosts"
    ports = free_ports(len(wires.machines))
    listed = tuple(_unstarted(machine, port) for machine, port in zip(machines(wires), ports, strict=True))
    pins = [f"[{LOOPBACK}]:{port} {host_keys[m.name]}\n" for m in listed for port in (m.port, m.moved_port)]
    known_hosts.write_text("".join(pins))
    control = shell.new_control_directory()
    known = LabState(
        layout=wires.layout, image=str(image.directory), snapshot=str(kept.directory), user=shell.USER,
        key=str(key), known_hosts=str(known_hosts), control=str(control), machines=listed,
    )  # fmt: skip
    state.write(directory / "lab.json", known)
    running = Running(directory, known, say)
    say(f"waking {', '.join(wires.machines)} from the snapshot")
    try:
        parallel.each(running.wake, running.machines)
    except BaseException:
        running.rig.stop()
        raise
    return running


def _unstarted(machine: Machine, ports: Ports) -> MachineState:
    return MachineState(
        name=machine.name, host=LOOPBACK, port=ports.ssh, moved_port=ports.moved,
        machine_id=machine.machine_id, process=None,
    )  # fmt: skip


def found(directory: Path, say: Say) -> Running | None:
    """The lab whose state is in a folder; None when it is down."""
    known = state.read(directory / "lab.json")
    return Running(directory, known, say) if known else None


def clear(directory: Path) -> int:
    """Stop every machine of a folder, recorded or not, and remove what they left; how many there were."""
    try:
        known = state.read(directory / "lab.json")
    except LabError:
        known = None
    if known:
        for machine in known.machines:
            key, control = Path(known.key), Path(known.control)
            shell.Shell(machine.name, machine.port, key, None, control).disconnect()
        shell.remove_control_directory(Path(known.control))
    stopped = process.stop_all_below(directory)
    for path in directory.iterdir() if directory.is_dir() else ():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()
    return stopped
