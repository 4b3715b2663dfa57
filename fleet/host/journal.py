"""What the kernel has said since the boot that means trouble, as counts: its words stay on the host."""

import re
from typing import Annotated

from pydantic import Field

from fleet.host.answer import answer
from fleet.record import VOLATILE, Record

SENTINELS = {
    "nv_err_no_memory": r"NV_ERR_NO_MEMORY",
    "xid": r"NVRM: Xid \([^)]*\): (\d+)",
    "mlx5_aer": r"mlx5_core .*(?:AER|PCIe Bus Error)",
    "oom_kill": r"(?:Out of memory|Memory cgroup out of memory): Killed process \d+ \(([^)]+)\)",
    "hung_task": r"INFO: task (\S+):\d+ blocked for more than",
    "nvme_error": r"nvme\S* .*(?:I/O .* timeout|Abort status|controller is down)",
    "machine_check": r"\[Hardware Error\]|SError Interrupt",
}
"""What is counted, by name. A part in parentheses is told too: the number of an Xid, the name of a process. As they are
printed by the NVIDIA driver 580 and by mlx5_core, mm/oom_kill.c, kernel/hung_task.c, nvme and APEI of Linux 6.17."""


class Sentinel(Record):
    """One kind of trouble since the boot."""

    count: Annotated[int, VOLATILE]
    last_seconds: Annotated[float | None, VOLATILE] = None
    """When it was said last, in seconds since the epoch."""
    subjects: Annotated[dict[str, int], VOLATILE] = Field(default_factory=dict)
    """How often by what it was about: the number of an Xid, the name of a process that was killed."""


class Journal(Record):
    """What the kernel has said since the boot, counted."""

    sentinels: dict[str, Sentinel]
    """Every kind by its name, also those that never came."""
    from_start: bool
    """Does the journal reach back to the boot? Where it does not, older lines were rotated away."""

    def count(self, name: str) -> int:
        """How often one kind came."""
        return self.sentinels[name].count


def parse_journal(text: str) -> Journal:
    """The counts from the JSON of a look; raises ValueError."""
    return Journal.model_validate(answer(text))


def groups(pattern: str) -> int:
    """How many parts of a pattern are told."""
    return re.compile(pattern).groups
