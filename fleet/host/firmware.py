"""Versions of firmware, where a host tells them without a tool of its vendor. No serial number is read."""

from pydantic import Field

from fleet.host.answer import answer
from fleet.record import Record


class NvmeDisk(Record):
    """One NVMe controller."""

    name: str
    model: str
    firmware: str
    coalescing: int | None = None
    """Its Interrupt Coalescing feature (NVMe base specification, feature 08h): 0 is off; None where `nvme` is not
    installed or the disk does not tell."""


ATTEMPTS = {
    0: "it succeeded", 1: "it did not succeed", 2: "too few resources", 3: "a version that may not be installed",
    4: "an image of another format", 5: "a signature that does not hold", 6: "no mains power", 7: "too little battery",
    8: "a dependency is not met",
}  # fmt: skip
"""How the last attempt to update a resource ended, as the UEFI specification 2.10 numbers it (section 23.4)."""


class Resource(Record):
    """One kind of firmware that the UEFI itself can update: a row of its EFI System Resource Table."""

    guid: str
    """Which kind it is: the same on all machines of a model."""
    version: int
    """A number that grows; each maker splits it into parts in its own way."""
    last_attempt: int = 0
    """How the last attempt to update it ended; see `ATTEMPTS`."""


class Firmware(Record):
    """What is built into a host."""

    bios_version: str | None = None
    bios_date: str | None = None
    product: str | None = None
    board: str | None = None
    resources: tuple[Resource, ...] = ()
    """By `guid`; empty where the UEFI has no such table."""
    rdma: dict[str, str] = Field(default_factory=dict)
    """Of each ConnectX-7 function by the name of its RDMA device."""
    nvme: tuple[NvmeDisk, ...] = ()
    nvidia_driver: str | None = None
    """Of the module that is loaded."""


def parse_firmware(text: str) -> Firmware:
    """The versions from the JSON of a look; raises ValueError."""
    return Firmware.model_validate(answer(text))
