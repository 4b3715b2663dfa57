"""Checks of the kernel that runs, and of what the next boot starts."""

from collections.abc import Iterator

from fleet.doctor.check import Found, Host, HostCheck
from fleet.doctor.finding import Level
from fleet.fit.instrument import GIB
from fleet.kernel.grub import By, NextBoot
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


def _kho_policy(asked: Host) -> Iterator[Found]:
    policy, kernel = asked.desired.kernel, known(asked.seen.kernel)
    if policy is None or policy.kho is None:
        return
    is_on = known(asked.seen.kho).is_on(kernel.command_line)
    found = {True: "on", False: "off", None: "no way to tell"}[is_on]
    if found != policy.kho:
        yield Found(f"{asked.seen.host} KHO", policy.kho, f"{found}, in {kernel.release}", "a boot, once it is pinned")


def _running(asked: Host) -> Iterator[Found]:
    policy, kernel = asked.desired.kernel, known(asked.seen.kernel)
    if policy is not None and kernel.release != policy.release:
        where = ", the fallback" if kernel.release == policy.fallback else ""
        yield Found(f"{asked.seen.host} kernel", policy.release, f"{kernel.release}{where}",
                    f"sparks kernel trial {asked.desired.name}")  # fmt: skip


def _page_size(asked: Host) -> Iterator[Found]:
    policy, kernel = asked.desired.kernel, known(asked.seen.kernel)
    wanted = None if policy is None else policy.expected_page_size
    is_pinned = policy is not None and kernel.release == policy.release
    if is_pinned and wanted not in (None, kernel.page_size_bytes):
        yield Found(f"{asked.seen.host} page size", f"{wanted} bytes", f"{kernel.page_size_bytes} bytes")


def _one_shot(asked: Host) -> Iterator[Found]:
    boot, policy = known(asked.seen.boot), asked.desired.kernel
    if boot.environment.next_entry is not None:
        level = Level.INFO if policy is not None and policy.one_shot else None
        yield Found(f"{asked.seen.host} next boot", "no entry for one boot alone", _words(boot.next),
                    "grub-editenv - unset next_entry on the host, unless a trial goes on", level=level)  # fmt: skip


def _unmatched(asked: Host) -> Iterator[Found]:
    boot = known(asked.seen.boot)
    for what, next_boot in (("default", boot.default), ("next boot", boot.next)):
        if By.NOTHING in next_boot.by and (what == "default" or next_boot.source == "one_shot"):
            yield Found(f"{asked.seen.host} {what}", "an entry that its selector names", _words(next_boot),
                        f"sparks converge {asked.desired.name} --scope kernel")  # fmt: skip


def _moves(asked: Host) -> Iterator[Found]:
    boot = known(asked.seen.boot)
    now, then = boot.default, boot.default_once_made
    if boot.defaults.default is not None and now.release != then.release:
        yield Found(f"{asked.seen.host} default", f"{now.release} also once the menu is made anew", _words(then),
                    f"sparks converge {asked.desired.name} --scope kernel")  # fmt: skip


def _words(boot: NextBoot) -> str:
    """What would be started, and by which selector."""
    selector = f"selector {boot.selector!r}" if boot.selector else "no selector"
    starts = boot.release or (boot.path[-1] if boot.path else "nothing")
    matched = ", which matches nothing, so the first entry" if By.NOTHING in boot.by and boot.selector else ""
    return f"{starts} by {selector}{matched}"


def _bootable(asked: Host) -> Iterator[Found]:
    kernels, boot, policy = known(asked.seen.kernels), known(asked.seen.boot), asked.desired.kernel
    asked_for = {"next boot": boot.next.release, "default": boot.default.release}
    asked_for |= {} if policy is None else {"fallback": policy.fallback}
    told: set[str] = set()
    for what, release in asked_for.items():
        if release is not None and release not in told and (missing := kernels.of(release).missing):
            told.add(release)
            yield Found(f"{asked.seen.host} {what} {release}", "image, initramfs and modules", f"no {missing}",
                        f"update-initramfs -c -k {release} on the host, or reinstall its packages",
                        level=Level.WARN if what == "fallback" else None)  # fmt: skip


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
    HostCheck(
        id="kernel.kho_policy",
        level=Level.WARN,
        looks_for="KHO at work in the running kernel where the kernel policy says off, or the other way round.",
        why="The command line of the next boot may be right already: it counts from then on.",
        fix="`sparks converge HOST --scope kernel`, then boot when nobody is served.",
        find=_kho_policy,
        sections=("kernel", "kho"),
    ),
    HostCheck(
        id="kernel.running",
        level=Level.WARN,
        looks_for="Another kernel at work than the one that the Spark's policy pins.",
        why="What was qualified with the pinned one says nothing of this one. On the fallback a trial may have failed.",
        fix="`sparks kernel trial` boots the pinned one once, and keeps it if it qualifies.",
        find=_running,
        sections=("kernel",),
    ),
    HostCheck(
        id="kernel.page_size",
        level=Level.ERROR,
        looks_for="The pinned kernel with another page size than its policy expects.",
        why="Settings that are meant for pages of 64 KiB (swap, huge pages, reserves) mean something else with 4 KiB.",
        fix="Pin the release of the page size that is meant: those of 64 KiB end with `-64k`.",
        find=_page_size,
        sections=("kernel",),
    ),
    HostCheck(
        id="kernel.one_shot",
        level=Level.WARN,
        looks_for="A GRUB entry that is set for the next boot alone.",
        why="The next boot, whoever causes it, starts something else than every other one.",
        fix="Finish the trial that has set it, or clear it: `grub-editenv - unset next_entry`.",
        find=_one_shot,
        sections=("boot",),
    ),
    HostCheck(
        id="kernel.unmatched_entry",
        level=Level.ERROR,
        looks_for="A default or one-shot of GRUB that names no entry of its menu.",
        why="GRUB says nothing and starts the first entry, which is the newest kernel: a pin that is none.",
        fix="`sparks converge HOST --scope kernel` pins the default by ids.",
        find=_unmatched,
        sections=("boot",),
    ),
    HostCheck(
        id="kernel.default_moves",
        level=Level.WARN,
        looks_for="A default that is another as soon as anybody runs update-grub.",
        why="The file /etc/default/grub says something else than the menu made from it: the next upgrade of any "
        "kernel makes the menu anew, and the boot after it starts another kernel.",
        fix="`sparks converge HOST --scope kernel`, or set `GRUB_DEFAULT` and make the menu anew.",
        find=_moves,
        sections=("boot",),
    ),
    HostCheck(
        id="kernel.not_bootable",
        level=Level.ERROR,
        looks_for="A kernel that the next boot, the default or (a WARN) the fallback would start and that lacks its "
        "image, its initramfs or its modules.",
        why="The host does not come back from that boot by itself.",
        fix="Make the initramfs (`update-initramfs -c -k RELEASE`), or install its packages again; then look again.",
        find=_bootable,
        sections=("kernels", "boot"),
    ),
)
