"""Checks of what the kernel has said since the boot, as counts, of firmware, and of how files lie on their disk."""

from collections.abc import Iterator
from functools import partial

from fleet.doctor.check import Found, Host, HostCheck
from fleet.doctor.finding import Level
from fleet.host.firmware import ATTEMPTS
from fleet.observation import known

_TOLD: dict[str, tuple[Level, str, str, str]] = {
    "nv_err_no_memory": (
        Level.ERROR,
        "The NVIDIA driver that found no memory (`NV_ERR_NO_MEMORY`).",
        "An allocation of the GPU failed; what was loading then is broken or gone.",
        "Look what holds memory (`sparks status`); with KHO, see `kernel.kho`.",
    ),
    "xid": (
        Level.WARN,
        "Errors that the NVIDIA driver has numbered (Xid).",
        "Each number is another fault: 13 and 31 are a program's, 79 is a GPU that is off the bus.",
        "Look the number up in NVIDIA's list of Xid errors.",
    ),
    "mlx5_aer": (
        Level.WARN,
        "PCIe errors of the ConnectX-7.",
        "A link that corrects errors all the time is slow; one that cannot takes the port down.",
        "Seat the cable anew; where they go on, power the Spark off for a minute.",
    ),
    "oom_kill": (
        Level.WARN,
        "Processes that the kernel has killed since memory ran out.",
        "What was killed may be a rank of an engine whose address still answers.",
        "`sparks fit` says what fits; name what a host is reached by in `oom_protected` of its policy.",
    ),
    "hung_task": (
        Level.WARN,
        "Tasks that waited in the kernel for minutes.",
        "A driver, a disk or a file server did not answer.",
        "Look at dmesg what they waited for.",
    ),
    "nvme_error": (
        Level.ERROR,
        "Timeouts or resets of an NVMe disk.",
        "Models are read from it, and the system too.",
        "Look at its health (`nvme smart-log`), and have a copy of what counts.",
    ),
    "machine_check": (
        Level.ERROR,
        "Hardware errors that the firmware has reported.",
        "Memory, a bus or a CPU is at fault.",
        "Look at dmesg; where they come again, have the Spark replaced.",
    ),
}
"""By kind: how grave it is, what it is, why it matters, what to do."""


def _said(asked: Host, kind: str) -> Iterator[Found]:
    journal = known(asked.seen.journal)
    sentinel = journal.sentinels.get(kind)
    if sentinel is not None and sentinel.count:
        about = ", ".join(f"{name} {count} times" for name, count in sorted(sentinel.subjects.items())[:5])
        since = "since the boot" if journal.from_start else "since the journal begins, later than the boot"
        found = f"{sentinel.count}" + (f": {about}" if about else "")
        yield Found(f"{asked.seen.host} journal", f"no {kind} {since}", found, "journalctl --dmesg --boot on the host")


def _coalescing(asked: Host) -> Iterator[Found]:
    for disk in known(asked.seen.firmware).nvme:
        if disk.coalescing:
            yield Found(f"{asked.seen.host} {disk.name}", "interrupts one by one", f"feature 8 at {disk.coalescing}",
                        f"nvme set-feature /dev/{disk.name} --feature-id=8 --value=0 on the host")  # fmt: skip


def _not_updated(asked: Host) -> Iterator[Found]:
    for each in known(asked.seen.firmware).resources:
        if each.last_attempt:
            why = ATTEMPTS.get(each.last_attempt, f"status {each.last_attempt}")
            yield Found(f"{asked.seen.host} firmware {each.guid}", "its last update to have succeeded",
                        f"{why}; it is at {each.version:#010x}", "fwupdmgr get-history on the host")  # fmt: skip


def _scattered(asked: Host) -> Iterator[Found]:
    for layout in known(asked.seen.fragmentation):
        worst = ", ".join(f"{each.path} in {each.extents} for {each.best}" for each in layout.scattered[:3])
        if not layout.is_ideal and worst:
            yield Found(f"{asked.seen.host} {layout.path}", f"{layout.best} pieces", f"{layout.extents}: {worst}",
                        f"e4defrag {layout.path} on the host, when nobody is served")  # fmt: skip


def _sentinel(kind: str) -> HostCheck:
    level, looks_for, why, fix = _TOLD[kind]
    find = partial(_said, kind=kind)
    return HostCheck(f"journal.{kind}", level, f"{looks_for} Counted since the boot.", why, fix, find, ("journal",))


JOURNAL: tuple[HostCheck, ...] = (
    *map(_sentinel, _TOLD),
    HostCheck(
        id="host.nvme_coalescing",
        level=Level.INFO,
        looks_for="An NVMe disk that gathers interrupts.",
        why="One lab has measured slower reads of models with it.",
        fix="Turn it off with `nvme set-feature`; it is on again after a boot unless the disk keeps it.",
        find=_coalescing,
        sections=("firmware",),
    ),
    HostCheck(
        id="host.firmware_update",
        level=Level.WARN,
        looks_for="Firmware whose last update failed, as the UEFI's own table of it says (ESRT).",
        why="It is at its old version, and the update that was meant to be there is not.",
        fix="`fwupdmgr get-history` says when and why; install it anew, when nobody is served.",
        find=_not_updated,
        sections=("firmware",),
    ),
    HostCheck(
        id="host.fragmentation",
        level=Level.WARN,
        looks_for="Files of models that lie in more pieces than ext4 could lay them (only with `--slow`).",
        why="They are read more slowly at each load. It never stops a run.",
        fix="`e4defrag` while nobody is served, or pull the model anew onto a disk with room.",
        find=_scattered,
        sections=("fragmentation",),
    ),
)
