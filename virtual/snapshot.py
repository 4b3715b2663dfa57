"""Snapshots from which a lab wakes in seconds: one machine is booted, cloned, and each clone given a self."""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from virtual import cache, disk, host, parallel, shell
from virtual.cabling import Cabling
from virtual.errors import LabError
from virtual.image import Image
from virtual.machine import GOLDEN, Machine, Ports, arguments, machines
from virtual.progress import Say
from virtual.recipe import GUEST
from virtual.rig import Rig, free_ports

CLEAN = "clean"
"""The state that `up` wakes and `reset` returns to."""

PERSONALISE = GUEST / "personalise.sh"
PERSONALISE_SECONDS = 300.0

_GOLDEN = Machine(GOLDEN, 0)
_GOLDEN_TAG = "golden"
_ALONE = Cabling("none", (GOLDEN,), {})


@dataclass(frozen=True)
class Snapshot:
    """The complete machines of one cabling, in the cache."""

    directory: Path

    def disk(self, machine: Machine) -> Path:
        """The disk that holds the snapshot `CLEAN`."""
        return self.directory / f"{machine.name}.qcow2"

    def host_keys(self) -> Mapping[str, str]:
        """The public host key of each machine: `ssh-ed25519 AAAA…`."""
        keys: dict[str, str] = json.loads((self.directory / "host-keys.json").read_text())
        return keys


def obtain(image: Image, cabling: Cabling, say: Say) -> Snapshot:
    """The snapshot of these machines: from the cache, or made now."""
    version = host.qemu_version()
    lines = [_argument_key(machine, cabling, image) for machine in machines(cabling)]
    golden_key = _digest(version, _argument_key(_GOLDEN, _ALONE, image))
    key = _digest(golden_key, lines, PERSONALISE.read_text())
    place = image.directory / f"{cabling.layout}-{len(cabling.machines)}-{key}"

    def boot(scratch: Path, lock: int) -> None:
        _boot_golden(image, scratch, say)

    def clone(scratch: Path, lock: int) -> None:
        golden = cache.obtain(image.directory / f"golden-{golden_key}", "booting", boot, say)
        _clone(image, cabling, golden / "disk.qcow2", scratch, say)

    return Snapshot(cache.obtain(place, "making a snapshot", clone, say))


def _argument_key(machine: Machine, cabling: Cabling, image: Image) -> list[str]:
    """The command line without what differs from run to run."""
    return arguments(machine, cabling, image, Path("/"), Ports(0, 0), None)


def _boot_golden(image: Image, scratch: Path, say: Say) -> None:
    rig = _rig(image, _ALONE, scratch)
    try:
        say("booting one machine, to be cloned: about a minute, once")
        disk.overlay(image.base, rig.disk(_GOLDEN))
        rig.start(_GOLDEN, None)
        rig.await_boot(_GOLDEN, 0, say)
        rig.shell(GOLDEN).run("sync")
        rig.save(_GOLDEN, _GOLDEN_TAG)
    finally:
        _end(rig)
    rig.disk(_GOLDEN).rename(scratch / "disk.qcow2")
    shutil.rmtree(scratch / GOLDEN)


def _clone(image: Image, cabling: Cabling, golden: Path, scratch: Path, say: Say) -> None:
    rig = _rig(image, cabling, scratch)

    def one(machine: Machine) -> str:
        disk.copy(golden, rig.disk(machine))
        rig.start(machine, _GOLDEN_TAG)
        key = _personalise(rig, machine)
        say(f"  {machine.name} has its own name, host key, machine id and MAC addresses")
        return key

    try:
        say(f"cloning it to {', '.join(cabling.machines)}")
        keys = dict(zip(cabling.machines, parallel.each(one, machines(cabling)), strict=True))
        say("saving the snapshots")
        for machine in machines(cabling):
            rig.shell(machine.name).disconnect()
            rig.save(machine, CLEAN, instead_of=_GOLDEN_TAG)
    finally:
        _end(rig)
    for machine in machines(cabling):
        rig.disk(machine).rename(Snapshot(scratch).disk(machine))
        shutil.rmtree(scratch / machine.name)
    (scratch / "host-keys.json").write_text(json.dumps(keys))


def _personalise(rig: Rig, machine: Machine) -> str:
    """Give a clone its own self; its public host key."""
    reach = rig.shell(machine.name)
    reach.wait()
    command = f"sudo -n sh -s -- {machine.name} {machine.machine_id} {time.time():.3f}"
    done = reach.run(command, timeout=PERSONALISE_SECONDS, stdin=PERSONALISE.read_text())
    if done.returncode != 0:
        last = (done.stderr.strip() or "no output").splitlines()[-1]
        raise LabError(f"{machine.name}: it was not given a self of its own: {last}")
    kind, key, *_ = done.stdout.splitlines()[-1].split()
    return f"{kind} {key}"


def _rig(image: Image, cabling: Cabling, scratch: Path) -> Rig:
    ports = dict(zip(cabling.machines, free_ports(len(cabling.machines)), strict=True))
    return Rig(scratch, image, cabling, ports, image.ssh_key, None, shell.new_control_directory())


def _end(rig: Rig) -> None:
    rig.stop()
    shell.remove_control_directory(rig.control)
    shutil.rmtree(rig.run / "cables", ignore_errors=True)


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, default=os.fspath).encode()).hexdigest()[:16]
