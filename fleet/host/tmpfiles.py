"""Directories and values below /sys that systemd-tmpfiles makes at every boot (tmpfiles.d(5))."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fleet.host.answer import answer
from fleet.record import Record
from fleet.wall import wall

_Path = Annotated[str, Field(pattern=r"^(/[A-Za-z0-9_.:@-]+)+$", max_length=200)]
_Name = Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_-]{0,31}$")]


class TmpfilePolicy(Record):
    """A directory, with its mode and owner; or a value that is written to a file of the kernel."""

    path: _Path
    value: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:+-]+$", max_length=100)] | None = None
    """What is written, for a path below /sys or /proc; without it the path is a directory."""
    mode: Annotated[str, Field(pattern=r"^0[0-7]{3,4}$")] = "0755"
    user: _Name = "root"
    group: _Name = "root"

    @property
    def line(self) -> str:
        """As tmpfiles.d has it."""
        if self.value is not None:
            return f"w {self.path} - - - - {self.value}\n"
        return f"d {self.path} {self.mode} {self.user} {self.group} -\n"

    @model_validator(mode="after")
    def _of_the_kernel_or_a_directory(self) -> Self:
        is_kernels = self.path.startswith(("/sys/", "/proc/"))
        if is_kernels != (self.value is not None) or any(each in (".", "..") for each in self.path.split("/")):
            expected = "a value for it" if is_kernels else "a value only for a path below /sys or /proc"
            found = "none" if is_kernels else f"{self.path}"
            raise wall("tmpfile_path", f"tmpfiles {self.path}: expected {expected}, found {found}")
        return self


class FoundPath(Record):
    """What lies at a path."""

    kind: Literal["directory", "file", "other", "absent"]
    text: str | None = None
    """Of a file of the kernel, the first line."""
    mode: str = ""
    user: str = ""
    group: str = ""


class Paths(Record):
    """The paths that were asked for."""

    paths: dict[str, FoundPath]


def parse_paths(text: str) -> Paths:
    """The paths from the JSON of a look; raises ValueError."""
    return Paths.model_validate(answer(text))


def says(text: str | None, value: str) -> bool:
    """Does a file of the kernel have a value? Of one that shows every word, the one in brackets counts."""
    words = (text or "").split()
    return words == [value] or f"[{value}]" in words
