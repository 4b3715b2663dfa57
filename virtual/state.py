"""What is known of a running lab, in `.virtual/lab.json`: for its inventory, and to find it again."""

import json
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
    moved_port: int
    """The same, once its management address has been moved to `MOVED_ADDRESS`."""
    machine_id: str
    """What /etc/machine-id says: 32 hex digits."""
    process: Process | None
    """None until it was started."""


class LabState(Record):
    """A running lab. Paths are absolute."""

    format: Literal[2] = 2
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
        raise LabError(f"{path}: expected the state of a lab, found {_instead(text)}: {cure}") from error


def _instead(text: str) -> str:
    """What a file is that holds no state of ours; most often one of another version of this project."""
    try:
        found = json.loads(text)["format"]
    except (ValueError, TypeError, KeyError):
        return "something else"
    known = LabState.model_fields["format"].default
    return "something else" if found == known else f"format {found} where {known} is known"


def write(path: Path, state: LabState) -> None:
    """Replace the file at once: a reader sees the old state or the new one."""
    scratch = path.with_suffix(".tmp")
    scratch.write_text(state.canonical + "\n")
    os.replace(scratch, path)
