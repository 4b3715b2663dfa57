"""What is known of a running lab, in `.virtual/lab.json`: for its inventory, and to find it again."""

import os
from pathlib import Path
from typing import Literal

from fleet.record import Record
from virtual.errors import LabError
from virtual.process import Process


class MachineState(Record):
    """One machine of a running lab."""

    name: str
    host: str
    """Always 127.0.0.1."""
    port: int
    """Its ssh port there."""
    machine_id: str
    """What /etc/machine-id says: 32 hex digits."""
    process: Process | None
    """None until it was started."""


class LabState(Record):
    """A running lab. Paths are absolute."""

    format: Literal[1] = 1
    layout: str
    image: str
    """The folder of the image in the cache."""
    snapshot: str
    """The folder of the snapshot in the cache."""
    user: str
    """The ordinary user with sudo."""
    key: str
    """The private ssh key of all its users."""
    known_hosts: str
    """One pinned host key per machine, in OpenSSH's format."""
    control: str
    """The folder of shared ssh connections."""
    machines: tuple[MachineState, ...]

    def with_process(self, name: str, process: Process) -> "LabState":
        """The same with the process of one machine."""
        machines = tuple(
            machine.model_copy(update={"process": process}) if machine.name == name else machine
            for machine in self.machines
        )
        return self.model_copy(update={"machines": machines})


def read(path: Path) -> LabState | None:
    """The state in a file; None when there is no lab."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        return None
    try:
        return LabState.from_canonical(text)
    except ValueError as error:
        cure = "run `sparks virtual down`"
        raise LabError(f"{path}: expected the state of a lab, found something else: {cure}") from error


def write(path: Path, state: LabState) -> None:
    """Replace the file at once: a reader sees the old state or the new one."""
    scratch = path.with_suffix(".tmp")
    scratch.write_text(state.canonical + "\n")
    os.replace(scratch, path)
