"""Swap of a host: what is in use now, and the file of ours."""

from typing import Annotated, Any

from pydantic import Field

from fleet.host.answer import answer
from fleet.host.fstab import escaped_path, unescape
from fleet.record import VOLATILE, Record

SwapPath = Annotated[str, Field(pattern=r"^(/[A-Za-z0-9_.-]+)*/sparks-swap\.img$")]
"""The name makes it ours."""
FILESYSTEMS = ("ext4", "xfs")
"""Where a file that was allocated at once can be swap (swapon(8))."""


class SwapPolicy(Record):
    """A swap file of ours. Other swap is left alone."""

    path: SwapPath = "/sparks-swap.img"
    size_gib: Annotated[int, Field(strict=True, ge=1, le=1024)]

    @property
    def size_bytes(self) -> int:
        """Of the whole file; its first page is no swap."""
        return self.size_gib * 2**30

    @property
    def unit(self) -> str:
        """The name of its systemd unit (systemd.swap(5))."""
        return f"{escaped_path([each for each in self.path.split('/') if each])}.swap"


class ActiveSwap(Record):
    """Swap that the kernel uses."""

    path: str
    size_bytes: int
    used_bytes: Annotated[int, VOLATILE]


class SwapFile(Record):
    """A swap file as it lies there."""

    size_bytes: int
    mode: int
    page_size_bytes: int | None
    """For which its head was written: the kernel must have the same; None where it has no head of swap."""


class Swap(Record):
    """All swap in use, and the file that was asked for."""

    active: tuple[ActiveSwap, ...]
    file: SwapFile | None = None
    page_size_bytes: int
    """The kernel's."""
    filesystem: str = ""
    """On which the file lies, or would."""
    available_bytes: Annotated[int, VOLATILE] = 0

    def in_use(self, path: str) -> ActiveSwap | None:
        """The swap at a path, where the kernel uses it."""
        return next((each for each in self.active if each.path == path), None)


def parse_swap(text: str) -> Swap:
    """Swap from the JSON of a look; raises ValueError."""
    found = answer(text)
    head, *rows = found["swaps"].splitlines()
    if not head.startswith("Filename"):
        raise ValueError(f"expected /proc/swaps, found {head!r}")
    return Swap.model_validate(found["state"] | {"active": tuple(_active(row.split()) for row in rows)})


def _active(fields: list[str]) -> dict[str, Any]:
    path, _, size, used, _ = fields
    return {"path": unescape(path), "size_bytes": int(size) * 1024, "used_bytes": int(used) * 1024}
