"""A host's memory, as /proc/meminfo has it."""

import re
from typing import Annotated

from fleet.record import VOLATILE, Record

_LINE = re.compile(r"(?P<name>\S+):\s+(?P<number>[0-9]+)(?P<unit> kB)?")


class Memory(Record):
    """Amounts at one moment; a field is None where the kernel was built without what it counts."""

    total_bytes: int
    available_bytes: Annotated[int, VOLATILE]
    """What a new process could get without swapping: the kernel's estimate."""
    free_bytes: Annotated[int, VOLATILE]
    swap_total_bytes: int
    swap_free_bytes: Annotated[int, VOLATILE]
    cma_total_bytes: int | None = None
    cma_free_bytes: Annotated[int | None, VOLATILE] = None
    hugepages_total: int | None = None
    """In pages of `hugepage_size_bytes`."""
    hugepages_free: Annotated[int | None, VOLATILE] = None
    hugepage_size_bytes: int | None = None

    @property
    def has_unaccounted_cma(self) -> bool:
        """More CMA free than there is in all: KHO keeps it (7.0.0-1019), and long-term RDMA pins fail."""
        return (self.cma_free_bytes or 0) > (self.cma_total_bytes or 0)


def parse_memory(text: str) -> Memory:
    """From the text of /proc/meminfo; raises ValueError when a field that every kernel has is missing."""
    found = {match["name"]: match for line in text.split("\n") if (match := _LINE.fullmatch(line.strip()))}

    def amount(name: str) -> int | None:
        match = found.get(name)
        return None if match is None else int(match["number"]) * (1024 if match["unit"] else 1)

    def required(name: str) -> int:
        value = amount(name)
        if value is None:
            raise ValueError(f"meminfo: expected {name}, found none")
        return value

    return Memory(
        total_bytes=required("MemTotal"),
        available_bytes=required("MemAvailable"),
        free_bytes=required("MemFree"),
        swap_total_bytes=required("SwapTotal"),
        swap_free_bytes=required("SwapFree"),
        cma_total_bytes=amount("CmaTotal"),
        cma_free_bytes=amount("CmaFree"),
        hugepages_total=amount("HugePages_Total"),
        hugepages_free=amount("HugePages_Free"),
        hugepage_size_bytes=amount("Hugepagesize"),
    )
