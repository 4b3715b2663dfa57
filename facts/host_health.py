"""What a host's kernel has complained of since the boot, and the firmware that is built into it."""

from typing import ClassVar

from typing_extensions import override

from facts.look import Look, as_root, remote_python
from fleet.host import firmware, journal


class Journal(Look[journal.Journal]):
    """
    How often the kernel has said since the boot what means trouble, by kind; ``None`` when it was not observed. Its
    words stay on the host.

    + root: a directory to look under instead of ``/``

    .. code:: python

        Journal(
            sentinels={"xid": Sentinel(count=2, last_seconds=1764500000.5, subjects={"13": 2}), "oom_kill": …},
            from_start=True,
        )
    """

    needs_root = True
    timeout_seconds: ClassVar[float] = 100.0

    @override
    def command(self, root: str = "") -> str:
        return as_root(remote_python("host_health", what="journal", root=root, sentinels=journal.SENTINELS))

    @override
    def parse(self, text: str) -> journal.Journal:
        return journal.parse_journal(text)


class Firmware(Look[firmware.Firmware]):
    """
    Versions of firmware, and whether NVMe disks gather interrupts; ``None`` when they were not observed. No serial
    number is read.

    + root: a directory to look under instead of ``/``

    .. code:: python

        Firmware(
            bios_version="5.36_0ACUM018", product="NVIDIA_DGX_Spark", rdma={"rocep1s0f0": "28.45.4028"},
            resources=(Resource(guid="6d8b0a1c-…", version=0x02004712, last_attempt=0), …),
            nvme=(NvmeDisk(name="nvme0", model="SAMSUNG MZALC4T0HBL1-00B07", firmware="NXB1", coalescing=0),),
        )
    """

    needs_root = True
    timeout_seconds: ClassVar[float] = 60.0

    @override
    def command(self, root: str = "") -> str:
        return as_root(remote_python("host_health", what="firmware", root=root))

    @override
    def parse(self, text: str) -> firmware.Firmware:
        return firmware.parse_firmware(text)
