"""Each check of the kernel and of the rest of a host speaks where it should, and is silent where nothing is wrong."""

from typing import Any

import pytest

from fleet.doctor.check import Host
from fleet.doctor.checks_host import HOST
from fleet.doctor.checks_journal import JOURNAL
from fleet.doctor.checks_kernel import KERNEL
from fleet.doctor.checks_mounts import MOUNTS
from fleet.doctor.checks_packages import PACKAGES
from fleet.host.clock import Clock, Logins
from fleet.host.firmware import Firmware, NvmeDisk, Resource
from fleet.host.fragmentation import FileLayout, Fragmentation
from fleet.host.fstab import fstab_entry
from fleet.host.journal import SENTINELS, Sentinel
from fleet.host.kernel_values import Choice, HugePagePolicy, HugePages
from fleet.host.mounts import Mount, Space
from fleet.host.policy import HostPolicy
from fleet.host.units import Units
from fleet.kernel.boot import SecureBoot
from fleet.kernel.dkms import Dkms, DkmsModule
from fleet.kernel.files import InstalledKernels
from fleet.kernel.packages import Package, Packages
from fleet.kernel.running import Kernel, parse_command_line
from fleet.kernel.upgrades import Upgrades
from fleet.observation import known
from tests.fleet.doctor import policies
from tests.fleet.doctor.hosts import (
    DESIRED,
    IMAGE,
    boot,
    cma,
    files,
    host,
    journal,
    mounts,
    pinned,
    processes,
    unit,
    well,
)
from tests.fleet.doctor.policies import FALLBACK, PINNED
from tests.fleet.doctor.test_checks import told
from tests.fleet.kernel.menus import selector
from tests.fleet.test_ledger import GIB
from tests.fleet.test_processes import process

CHECKS = (*KERNEL, *PACKAGES, *HOST, *MOUNTS, *JOURNAL)
META = Package(name="linux-nvidia-hwe-24.04", version="7.0.0-1019.19", want="install", status="installed",
               pulls=("7.0.0-1019-nvidia",))  # fmt: skip
THRICE = Sentinel(count=3, subjects={"13": 3})
NIGHTLY = Upgrades(timers={"apt-daily-upgrade.timer": "enabled"}, is_installed=True, every_days="1")
SMALL = HostPolicy(huge_pages=HugePagePolicy(enabled="always"))
DISK = NvmeDisk(name="nvme0", model="m", firmware="f", coalescing=9)
NFS = ["nas:/models", "/mnt/models", "nfs4"]


def failed(status: int) -> Host:
    return host(firmware=Firmware(resources=(Resource(guid="g", version=0x02004712, last_attempt=status),)))


def runs(release: str = PINNED, page: int = 65536, line: str = "quiet kho=off") -> Kernel:
    return Kernel(release=release, page_size_bytes=page, boot_id="one", uptime_seconds=60,
                  command_line=parse_command_line(line))  # fmt: skip


def kernels(**changes: Any) -> InstalledKernels:
    """The fallback as it should be, and the pinned kernel but for this."""
    return InstalledKernels(kernels=(files(PINNED, **changes), files(FALLBACK)))


def fstab(*fields: str, **changes: Any) -> Host:
    return host(mounts=mounts(fstab_entry(9, list(fields)), **changes))


def room(available: int, size: int = 4000 * GIB, inodes: int = 900) -> Host:
    space = Space(target="/", size_bytes=size, available_bytes=available, inodes=1000, inodes_available=inodes)
    return host(mounts=mounts(spaces=(space,)))


def layout(extents: int) -> Host:
    worst = (FileLayout(path="/m/a", extents=extents, best=1),)
    return host(fragmentation=(Fragmentation(path="/m", filesystem="ext4", extents=extents, best=1, worst=worst),))


def swapped(used: int) -> Host:
    memory = known(well().memory).replaced(swap_total_bytes=16 * GIB, swap_free_bytes=16 * GIB - used)
    return host(memory=memory)


def engine_of(user: str | None, uid: int = 1000, lingering: tuple[str, ...] = (), removes: bool = True) -> Host:
    theirs = process(50, uid=uid, user=user)
    return host(processes=processes(theirs), logins=Logins(removes_ipc=removes, lingering=lingering))


def pages(size: int, enabled: str) -> HugePages:
    return HugePages(page_size_bytes=size, enabled=Choice(value=enabled, choices=("always", "madvise", "never")))


def ssh(**changes: Any) -> Host:
    return host(units=Units(units={"ssh.service": unit(**changes)}))


SPEAKS: tuple[tuple[str, Host, str], ...] = (
    ("kernel.kho", host(memory=cma()), "9.0 GiB free of 0.0 GiB, with 6.17.0-1031-nvidia"),
    ("kernel.kho_policy", pinned(kernel=runs(line="quiet")), f"a KHO: expected off, found on, in {PINNED}"),
    ("kernel.running", pinned(kernel=runs(FALLBACK, 4096)), f"expected {PINNED}, found {FALLBACK}, the fallback"),
    ("kernel.running", pinned(kernel=runs("6.8.0-31-generic", 4096)), "found 6.8.0-31-generic\n"),
    ("kernel.page_size", pinned(kernel=runs(page=4096)), "expected 65536 bytes, found 4096 bytes"),
    ("kernel.one_shot", pinned(boot=boot(once=selector(FALLBACK))), f"found {FALLBACK} by selector"),
    ("kernel.unmatched_entry", pinned(boot=boot(saved="9.9.9-nobody")), "which matches nothing, so the first entry"),
    ("kernel.unmatched_entry", pinned(boot=boot(once="nobody")), "ERROR kernel.unmatched_entry a next boot"),
    ("kernel.default_moves", pinned(boot=boot(FALLBACK, default="0")), f"{FALLBACK} also once the menu is made anew"),
    ("kernel.not_bootable", pinned(kernels=kernels(initrd_bytes=None)), "found no initramfs"),
    ("kernel.not_bootable", pinned(kernels=InstalledKernels(kernels=(files(PINNED),))), "WARN kernel.not_boot"),
    ("kernel.meta_moves", pinned(packages=Packages(packages=(IMAGE, META))), "it pulls 7.0.0-1019-nvidia"),
    (
        "kernel.unattended_upgrades",
        pinned(packages=Packages(packages=(IMAGE, META)), upgrades=NIGHTLY),
        "they may move linux-nvidia-hwe-24.04",
    ),
    ("kernel.unattended_upgrades", pinned(upgrades=NIGHTLY.replaced(may_reboot=True)), "Automatic-Reboot on"),
    (
        "kernel.reboot_required",
        pinned(upgrades=NIGHTLY.replaced(reboot_required=True, reboot_packages=("libc6",))),
        "expected nothing that waits for one, found libc6",
    ),
    (
        "kernel.dkms_missing",
        pinned(dkms=Dkms(is_there=True, modules=(DkmsModule(name="saver", version="1", kernel=FALLBACK,
                                                            state="installed"),))),
        f"saver built for {PINNED}, which boots next",
    ),
    ("kernel.driver", pinned(kernels=kernels(nvidia_version=None), kernel=runs(FALLBACK, 4096)), "ERROR kernel."),
    ("kernel.driver", pinned(kernels=kernels(nvidia_version="590"), kernel=runs(FALLBACK, 4096)), "found 590"),
    ("kernel.unsigned_module", pinned(kernels=kernels(nvidia_signer=None)), "found no signer"),
    ("host.disk", room(5 * GIB), "WARN host.disk a /: expected 20 GiB of room, or a tenth, found 5.0 GiB of 4000"),
    ("host.disk", room(GIB), "ERROR host.disk"),
    ("host.disk", room(900 * GIB, inodes=3), "3 of 1,000 inodes left"),
    ("host.fstab_line", fstab(*NFS, "defaults", "#", "ours"), "a comment inside the line: /mnt/models is left out"),
    ("host.not_mounted", fstab(*NFS, "nofail,_netdev"), "mounted, as /etc/fstab line 9 says, found nothing"),
    (
        "host.overmounted",
        host(mounts=mounts(mounts=tuple(Mount(target="/m", source=each, type="ext4") for each in "ab"))),
        "expected a to be seen there, found b mounted over it",
    ),
    ("host.boot_needs_server", fstab(*NFS, "defaults"), "_netdev and nofail, so that a boot needs no server"),
    ("host.clock", host(clock=Clock(max_error_seconds=16.0)), "found one that nobody sets"),
    ("host.clock", host(clock=Clock(max_error_seconds=0.1, is_local=True)), "INFO host.clock a hardware clock"),
    ("host.logout_kills", engine_of("ada"), "expected ada to linger, or RemoveIPC=no"),
    ("host.oom_unprotected", ssh(oom_score=0), "expected a score below 0 for the OOM killer, found 0"),
    ("host.unit_failed", ssh(active_state="failed"), "found failed"),
    ("host.huge_pages", host(huge_pages=pages(65536, "madvise")), "never, with pages of 64 KiB, found madvise"),
    ("host.swap_used", swapped(3 * GIB), "at most 1 GiB in use, found 3.0 GiB"),
    ("host.nvme_coalescing", host(firmware=Firmware(nvme=(DISK,))), "feature 8 at 9"),
    ("host.firmware_update", failed(5), "found a signature that does not hold; it is at 0x02004712"),
    ("host.firmware_update", failed(99), "found status 99"),
    ("host.fragmentation", layout(12), "expected 1 pieces, found 12: /m/a in 12 for 1"),
    *(
        (f"journal.{kind}", host(journal=journal(**{kind: THRICE})), "found 3: 13 3 times")
        for kind in SENTINELS
    ),
)  # fmt: skip


@pytest.mark.parametrize(("id", "asked", "words"), SPEAKS, ids=[f"{each[0]}-{at}" for at, each in enumerate(SPEAKS)])
def test_it_speaks(id: str, asked: Host, words: str) -> None:
    found = told(asked, id)
    assert any(words in str(each) for each in found), [str(each) for each in found]
    assert all(each.subject.startswith("a ") for each in found)


def test_every_check_is_tried() -> None:
    assert {each.id for each in CHECKS} == {id for id, _, _ in SPEAKS}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_it_is_silent_on_a_spark_that_is_well_with_a_policy_and_without(check: Any) -> None:
    assert not told(host(), check.id)
    assert not told(pinned(), check.id)


SILENT_WHERE: tuple[tuple[str, Host], ...] = (
    ("kernel.meta_moves", pinned(packages=Packages(packages=(IMAGE, META.replaced(want="hold"))))),
    ("kernel.meta_moves", pinned(packages=Packages(packages=(META.replaced(name=policies.KERNEL.metas[0]),)))),
    ("kernel.unattended_upgrades", pinned(upgrades=NIGHTLY)),
    ("kernel.unsigned_module", pinned(kernels=kernels(nvidia_signer=None), secure_boot=SecureBoot(state="off"))),
    ("kernel.page_size", pinned(kernel=runs(FALLBACK, 4096))),
    ("host.disk", room(5 * GIB, size=40 * GIB)),
    ("host.not_mounted", fstab(*NFS, "noauto")),
    ("host.not_mounted", fstab("/dev/x", "none", "swap", "sw")),
    ("host.not_mounted", fstab(*NFS, mounts=(Mount(target=NFS[1], source=NFS[0], type="nfs4"),))),
    ("host.not_mounted", fstab(*NFS, "x-systemd.automount", mounts=(Mount(target=NFS[1], source="systemd-1",
                                                                        type="autofs"),))),
    ("host.boot_needs_server", fstab(*NFS, "nofail,_netdev")),
    ("host.boot_needs_server", fstab(*NFS, "x-systemd.automount")),
    ("host.boot_needs_server", fstab("/dev/x", "/data", "ext4", "defaults")),
    ("host.logout_kills", engine_of("ada", lingering=("ada",))),
    ("host.logout_kills", engine_of("ada", removes=False)),
    ("host.logout_kills", engine_of("ollama", uid=998)),
    ("host.logout_kills", engine_of(None)),
    ("host.oom_unprotected", ssh(oom_score=None)),
    ("host.huge_pages", host(huge_pages=pages(4096, "always"))),
    ("host.huge_pages", Host(DESIRED.replaced(host=SMALL), well().replaced(huge_pages=pages(65536, "always")))),
    ("host.fragmentation", layout(1)),
)  # fmt: skip


@pytest.mark.parametrize(("id", "asked"), SILENT_WHERE, ids=[f"{each[0]}-{at}" for at, each in enumerate(SILENT_WHERE)])
def test_it_is_silent_where_nothing_is_wrong(id: str, asked: Host) -> None:
    assert not told(asked, id)


def test_what_the_journal_has_lost_is_said_with_a_count() -> None:
    (found,) = told(host(journal=journal(xid=Sentinel(count=2)).replaced(from_start=False)), "journal.xid")
    assert "since the journal begins, later than the boot" in found.expected
