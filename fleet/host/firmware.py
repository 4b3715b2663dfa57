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


class Firmware(Record):
    """What is built into a host."""

    bios_version: str | None = None
    bios_date: str | None = None
    product: str | None = None
    board: str | None = None
    rdma: dict[str, str] = Field(default_factory=dict)
    """Of each ConnectX-7 function by the name of its RDMA device."""
    nvme: tuple[NvmeDisk, ...] = ()
    nvidia_driver: str | None = None
    """Of the module that is loaded."""


def parse_firmware(text: str) -> Firmware:
    """The versions from the JSON of a look; raises ValueError."""
    return Firmware.model_validate(answer(text))
