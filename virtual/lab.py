"""The lab of virtual Sparks of one checkout: up, down, reset, power cycle, cables, ssh.

lab = Lab()
lab.up(layout="pair")
lab.ssh("vspark1", "rdma link").stdout
lab.reset()
lab.down()
"""

import subprocess
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from virtual import cache, host, image, locks, parallel, running, snapshot, state
from virtual.cabling import BOOT_BY_GRUB, Cabling, cabling, interfaces, least_machines
from virtual.errors import LabError
from virtual.progress import Say, silent
from virtual.rig import STARTED
from virtual.running import MachineStatus, Running
from virtual.shell import BOOT_SECONDS, COMMAND_SECONDS, USER, Shell
from virtual.snapshot import Snapshot
from virtual.state import LabState


def project_root() -> Path:
    """The checkout this package is in; the working directory when it is installed elsewhere."""
    here = Path(__file__).resolve().parent.parent
    return here if (here / "pyproject.toml").is_file() else Path.cwd()


class Lab:
    """The lab of a checkout; its state is in `.virtual` there. One command at a time changes it."""

    def __init__(self, root: Path | None = None, say: Say = silent) -> None:
        self.directory = (root or project_root()).resolve() / ".virtual"
        self._say = say

    @property
    def state(self) -> LabState:
        """What is recorded of the running lab; a `LabError` when it is down."""
        known = state.read(self.directory / "lab.json")
        if known is None:
            raise LabError("the lab is down: run `sparks virtual up`")
        return known

    def hosts(self, layout: str) -> Mapping[str, Mapping[str, Any]]:
        """The machines of the running lab by name, each with pyinfra's connection data.

        A `LabError` when the lab is down, or up in another layout than its inventory is about.
        """
        known = self.state
        if known.layout != layout:
            cure = f"run `sparks virtual down` and `sparks virtual up --layout {layout}`"
            raise LabError(f"the lab: expected layout {layout}, found {known.layout}: {cure}")
        login = {"ssh_user": known.user, "ssh_key": known.key}
        return {
            machine.name: {"ssh_hostname": machine.host, "ssh_port": machine.port, **login}
            for machine in known.machines
        }

    def up(self, layout: str = "pair", count: int | None = None) -> LabState:
        """Bring up the machines of a layout, from the cache where it has them; as many as it joins."""
        wires = cabling(layout, least_machines(layout) if count is None else count)
        with self._held("up"):
            host.require(host.TO_RUN)
            cache.sweep()
            built = image.obtain(self._say, layout in BOOT_BY_GRUB)
            kept = snapshot.obtain(built, wires, self._say)
            if not self._is_up_from(kept, wires):
                running.clear(self.directory)
                try:
                    running.wake(self.directory, built, wires, kept, self._say)
                except BaseException:
                    running.clear(self.directory)
                    raise
            self._say(f"the lab is up: {', '.join(wires.machines)}")
            return self.state

    def down(self) -> int:
        """Stop every machine and remove what they left; how many there were."""
        with self._held("down"):
            stopped = running.clear(self.directory)
            cache.sweep()
        self._say(f"the lab is down: {stopped} machines stopped" if stopped else "the lab was down already")
        return stopped

    def reset(self) -> None:
        """Every machine and cable as after `up`, a machine that died included."""
        with self._held("reset"):
            lab = self._running()
            self._say(f"resetting {', '.join(lab.rig.cabling.machines)}")
            parallel.each(lab.reset, lab.machines)
            self._say("every machine is as after `up`")

    def power_cycle(self, *names: str) -> None:
        """Cut the power of machines; what they had not written is lost. Returns once each has booted."""
        with self._held("power cycle"):
            lab = self._running()
            cut = [lab.machine(name) for name in names]
            self._say(f"power off and on: {', '.join(names)}; a boot takes about a minute")
            parallel.each(lab.power_cycle, cut)
            self._say(f"booted: {', '.join(names)}")

    def set_cable(self, name: str, port: str, up: bool) -> None:
        """Plug in or pull a cable: both its ends gain or lose the carrier.

        A port is a cage, `f0` or `f1`, as a real cable is; or an interface, one twin of it.
        """
        lab = self._running()
        for interface in interfaces(port):
            lab.set_cable(lab.machine(name), interface, up)

    def set_card(self, name: str, port: str, present: bool) -> None:
        """Put the network cards of a port into their slots, cables included, or take them out, while all runs."""
        lab = self._running()
        for interface in interfaces(port):
            lab.set_card(lab.machine(name), interface, present)

    def ssh(
        self, name: str, command: str, user: str = USER, timeout: float = COMMAND_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on a machine; exit status 255 means that ssh failed."""
        return self.shell(name).run(command, user, timeout)

    def shell(self, name: str, moved: bool = False) -> Shell:
        """How to reach a machine; `moved`: at the other address, which only a test gives it."""
        lab = self._running()
        return lab.rig.shell(lab.machine(name).name, moved)

    def wait(self, name: str, seconds: float = BOOT_SECONDS) -> None:
        """Wait until a machine answers and every unit of its boot has started."""
        self.shell(name).wait(STARTED, seconds, self._say)

    def status(self) -> tuple[MachineStatus, ...]:
        """Every machine of the lab as it is now; empty when the lab is down."""
        lab = running.found(self.directory, self._say)
        return tuple(parallel.each(lab.status, lab.machines)) if lab else ()

    def is_up(self) -> bool:
        """Whether there is a lab and every machine of it answers."""
        seen = self.status()
        return bool(seen) and all(machine.answers for machine in seen)

    def _running(self) -> Running:
        return Running(self.directory, self.state, self._say)

    def _held(self, purpose: str) -> AbstractContextManager[int]:
        return locks.held(self.directory / running.LOCK, purpose, self._say)

    def _is_up_from(self, kept: Snapshot, wires: Cabling) -> bool:
        """Whether nothing is left to do. A lab of another layout is the user's to give up."""
        lab = running.found(self.directory, self._say)
        if lab is None:
            return False
        seen = parallel.each(lab.status, lab.machines)
        if lab.rig.cabling != wires and any(machine.running for machine in seen):
            is_now = f"{lab.rig.cabling.layout} of {len(lab.machines)}"
            raise LabError(f"the lab is up as {is_now}: run `sparks virtual down` first")
        if lab.snapshot != kept:
            self._say("the image has changed since this lab was woken: starting it anew")
            return False
        mute = [machine.name for machine in seen if not machine.answers]
        if mute:
            self._say(f"no answer from {', '.join(mute)}: starting the lab anew")
        return not mute
