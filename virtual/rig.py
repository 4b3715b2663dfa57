"""Machines in a run folder: started, restored, reached, stopped. Knows no cache and no lab.

A run folder has one folder per machine (disk, serial log, QMP socket) and `cables`, the sockets
that stand for cables.
"""

import contextlib
import os
import socket
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from virtual import host, plugging, process
from virtual.cabling import SLOT_OF, Cabling, Port
from virtual.errors import LabError
from virtual.image import Image
from virtual.machine import Machine, Ports, arguments, cable_socket
from virtual.process import PROGRAM, Process
from virtual.progress import Say, silent
from virtual.qmp import Qmp
from virtual.shell import TELL_SECONDS, Shell

START_SECONDS = 60.0
"""From the start of QEMU to its first QMP answer: under 2 s, with a snapshot too, on an idle host."""

BOOTED = b"lab-started"
"""The guest's last unit writes it to the console (guest/files/…/lab-started.service)."""

CONSOLE_SECONDS = 600.0
"""After that ssh has the last word. A boot took 63 s, 125 s on a busy host, 320 s on one with a load of 8
(measured 2026-11-29)."""

STARTED = "case $(systemctl is-system-running) in running|degraded) ;; *) exit 1 ;; esac"
"""Succeeds once every unit of the boot has started, the RoCE devices among them, or has failed."""

# Popen complains when it is forgotten while its child runs on, as ours shall.
_children: list[subprocess.Popen[bytes]] = []


def free_ports(count: int) -> list[Ports]:
    """Ports of 127.0.0.1 that nobody listens on now, for a number of machines."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(2 * count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        numbers = [int(each.getsockname()[1]) for each in sockets]
    return [Ports(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]


def _new_lock() -> threading.Lock:
    """Looked up when it is made: where gevent has patched threads since this module was imported, a lock of before
    would stop the one thread that there is."""
    return threading.Lock()


@dataclass
class Gate:
    """Closed by `stop`: a thread that an interrupted command left behind starts nothing after that."""

    lock: threading.Lock = field(default_factory=_new_lock)
    is_closed: bool = False


@dataclass(frozen=True)
class Rig:
    """The machines of one cabling in one run folder."""

    run: Path
    image: Image
    cabling: Cabling
    ports: Mapping[str, Ports]
    """Of each machine, on 127.0.0.1."""
    key: Path
    known_hosts: Path | None
    control: Path
    gate: Gate = field(default_factory=Gate)

    def directory(self, machine: Machine) -> Path:
        """The folder of one machine; made when it is not there."""
        directory = self.run / machine.name
        directory.mkdir(parents=True, exist_ok=True)
        return directory

    def disk(self, machine: Machine) -> Path:
        """The disk of one machine."""
        return self.directory(machine) / "disk.qcow2"

    def shell(self, name: str, moved: bool = False) -> Shell:
        """ssh to a machine; `moved`: at its other address."""
        port = self.ports[name].moved if moved else self.ports[name].ssh
        return Shell(name, port, self.key, self.known_hosts, self.control)

    def qmp(self, name: str) -> Qmp:
        """The QMP connection of a machine."""
        return Qmp(self.run / name / "qmp.sock")

    def start(self, machine: Machine, snapshot: str | None) -> Process:
        """Start QEMU, waking from a snapshot on the machine's disk or booting; its cables are set."""
        directory = self.directory(machine)
        self._clear_sockets(machine)
        run, ports = self.run.absolute(), self.ports[machine.name]
        argv = arguments(machine, self.cabling, self.image, run, ports, snapshot)
        child = self._launch([host.program(PROGRAM), *argv], directory / "qemu.log")
        self._await_qmp(machine, child)
        with self.qmp(machine.name) as qmp:
            plugging.plug_cables(qmp, machine, self.cabling)
        started = process.identify(child.pid)
        if started is None:
            raise LabError(f"{machine.name}: QEMU ended: {self._complaint(machine)}")
        return started

    def _launch(self, argv: list[str], log: Path) -> subprocess.Popen[bytes]:
        with self.gate.lock, log.open("wb") as said:
            if self.gate.is_closed:
                raise LabError("the lab is being stopped")
            child = subprocess.Popen(
                argv, cwd=self.run, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
            )
            _children.append(child)
            return child

    def console(self, machine: Machine) -> bytes:
        """What the machine has written to its serial port since QEMU started."""
        log = self.directory(machine) / "serial.log"
        return log.read_bytes() if log.exists() else b""

    def await_boot(self, machine: Machine, seen: int, say: Say) -> None:
        """Wait until the machine has booted; `seen` is the length of its console before that.

        It says so on its console. Asking by ssh meanwhile takes a fifth of its processor time, and logins
        that are given up in the middle take more (measured 2026-11-29).
        """
        start = said = now = time.monotonic()
        while BOOTED not in self.console(machine)[seen:] and now < start + CONSOLE_SECONDS:
            time.sleep(0.2)
            now = time.monotonic()
            if now > said + TELL_SECONDS:
                say(f"  {machine.name} is booting, for {now - start:.0f} s")
                said = now
        self.shell(machine.name).wait(STARTED, say=say)

    def save(self, machine: Machine, snapshot: str, instead_of: str | None = None) -> None:
        """Keep the machine as it is, memory and disk, under a name."""
        with self.qmp(machine.name) as qmp:
            if instead_of:
                qmp.monitor(f"delvm {instead_of}")
            qmp.monitor(f"savevm {snapshot}")

    def restore(self, machine: Machine, snapshot: str) -> None:
        """Back to a snapshot within the running QEMU, cards and cables included."""
        self.shell(machine.name).disconnect()
        with self.qmp(machine.name) as qmp:
            for interface in SLOT_OF:
                plugging.insert(qmp, machine, interface)
            qmp.monitor(f"loadvm {snapshot}")
            plugging.plug_cables(qmp, machine, self.cabling)

    def set_clock(self, machine: Machine, say: Say = silent) -> None:
        """Wait for ssh, and set the clock, which after a restore stands where the snapshot was taken."""
        shell = self.shell(machine.name)
        shell.wait(say=say)
        done = shell.run(f"sudo -n date -s @{time.time():.3f}")
        if done.returncode != 0:
            raise LabError(f"{machine.name} clock: expected date to set it, found {done.stderr.strip()!r}")

    def stop(self) -> int:
        """Stop every machine in the run folder, and start no more; how many there were."""
        with self.gate.lock:
            self.gate.is_closed = True
        for name in self.ports:
            self.shell(name).disconnect()
        return process.stop_all_below(self.run)

    def _clear_sockets(self, machine: Machine) -> None:
        (self.run / "cables").mkdir(exist_ok=True)
        sockets = [cable_socket(Port(machine.name, interface)) for interface in SLOT_OF]
        for path in (*sockets, f"{machine.name}/qmp.sock"):
            (self.run / path).unlink(missing_ok=True)

    def _await_qmp(self, machine: Machine, child: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + START_SECONDS
        while True:
            if child.poll() is not None:
                raise LabError(f"{machine.name}: QEMU ended at once: {self._complaint(machine)}")
            try:
                with self.qmp(machine.name):
                    return
            except LabError:
                if time.monotonic() > end:
                    raise
            time.sleep(0.1)

    def _complaint(self, machine: Machine) -> str:
        log = self.directory(machine) / "qemu.log"
        lines = log.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"it said nothing in {os.fspath(log)}"
