"""Checks of the kernel that runs, the next one, and what is installed for it."""

from collections.abc import Iterator

from fleet.doctor.check import Found, Host, HostCheck
from fleet.doctor.finding import Level
from fleet.fit.instrument import GIB
from fleet.observation import known


def _kho(asked: Host) -> Iterator[Found]:
    memory, kernel = known(asked.seen.memory), known(asked.seen.kernel)
    if memory.has_unaccounted_cma:
        yield Found(
            f"{asked.seen.host} CMA", "no more of it free than there is",
            f"{(memory.cma_free_bytes or 0) / GIB:.1f} GiB free of {(memory.cma_total_bytes or 0) / GIB:.1f} GiB, "
            f"with {kernel.release}",
            "kho=off on the kernel's command line, and a boot",
        )  # fmt: skip


KERNEL: tuple[HostCheck, ...] = (
    HostCheck(
        id="kernel.kho",
        level=Level.ERROR,
        looks_for="More free CMA than there is in all: memory that a kernel with KHO (kexec handover) has reserved.",
        why="7.0.0-1019 keeps about 9.3 GiB so. Pages that RDMA pins for long cannot lie there: `ibv_reg_mr` fails "
        "with *Cannot allocate memory* although gigabytes are free.",
        fix="Boot with `kho=off` (see first that /sys/kernel/kexec_crash_size is 0), or pin another kernel.",
        find=_kho,
        sections=("memory", "kernel"),
    ),
)
