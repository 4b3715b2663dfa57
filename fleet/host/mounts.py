"""What is mounted on a host now, and what will be after a boot."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from pydantic import Field

from fleet.host.answer import answer
from fleet.host.fstab import FstabEntry, fstab_entry
from fleet.record import VOLATILE, Record


class Mount(Record):
    """One file system where it is mounted."""

    target: str
    source: str
    type: str
    options: tuple[str, ...] = ()
    """As the kernel has them; those of NFS are what client and server agreed on."""

    @property
    def is_automount(self) -> bool:
        """Is it only what waits there for the first look?"""
        return self.type == "autofs"


class Space(Record):
    """Room on a local file system."""

    target: str
    size_bytes: int
    available_bytes: Annotated[int, VOLATILE]
    inodes: int = 0
    inodes_available: Annotated[int, VOLATILE] = 0


class Holder(Record):
    """A process that has something open below a mount point, or stands there."""

    pid: int
    program: str

    def __str__(self) -> str:
        return f"pid {self.pid} ({self.program})"


class MountUnit(Record):
    """systemd's unit of a mount point that was asked for."""

    target: str
    load_state: str
    needs_reload: bool = False


class Mounts(Record):
    """The mounts of a host, and those that a boot makes."""

    mounts: tuple[Mount, ...]
    """In the order in which they were made: of two at one target the last is the one that is seen there."""
    fstab: tuple[FstabEntry, ...]
    fstab_marks: tuple[int, ...] = ()
    """The lines with our two marks: none, or two."""
    fstab_is_file: bool = True
    has_nfs: bool = True
    """The program that mounts NFS is installed."""
    spaces: tuple[Space, ...] = ()
    units: tuple[MountUnit, ...] = ()
    holders: Annotated[dict[str, tuple[Holder, ...]], VOLATILE] = Field(default_factory=dict)
    """Who uses what is mounted at a target that was asked for."""

    def at(self, target: str) -> Mount | None:
        """What is seen at a target; None where nothing is mounted there, or only waits to be."""
        found = [each for each in self.mounts if each.target == target]
        return None if not found or found[-1].is_automount else found[-1]

    def armed(self, target: str) -> bool:
        """Does an automount wait at a target?"""
        return any(each.target == target and each.is_automount for each in self.mounts)

    def unit(self, target: str) -> MountUnit | None:
        """systemd's unit of a target, where it was asked for."""
        return next((each for each in self.units if each.target == target), None)

    @property
    def covered(self) -> tuple[Mount, ...]:
        """What is mounted and cannot be seen, since something else was mounted over it; an automount always is."""
        return tuple(
            each
            for at, each in enumerate(self.mounts)
            if not each.is_automount and any(later.target == each.target for later in self.mounts[at + 1 :])
        )


def parse_mounts(text: str) -> Mounts:
    """The mounts from the JSON of a look; raises ValueError."""
    found = answer(text)
    return Mounts.model_validate(
        found
        | {
            "mounts": tuple(flat(found["mounts"])),
            "fstab": tuple(fstab_entry(each["number"], each["fields"], each["ours"]) for each in found["fstab"]),
        }
    )


def flat(filesystems: Iterable[dict[str, Any]]) -> Iterator[Mount]:
    """The mounts of `findmnt --json`, which nests what was mounted below, or over, another."""
    for each in filesystems:
        options = tuple(option for option in each["options"].split(",") if option)
        yield Mount(target=each["target"], source=each["source"], type=each["fstype"], options=options)
        yield from flat(each.get("children", ()))
