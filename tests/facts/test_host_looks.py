"""Looks at the rest of a host, on a played one: what leaves it, what does not, and what is no answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from facts.bundle import Wanted
from facts.host_clock import Clock
from facts.host_health import Firmware, Journal
from facts.host_mounts import FileLayout, Mounts
from facts.host_systemd import Logins
from facts.remote import host_mounts, host_state
from fleet.host.firmware import Resource
from fleet.host.fstab_text import MARKS
from fleet.record import Unobserved
from tests.operations.played_host import PlayedHost

BOOT = "1764500000"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlayedHost:
    played = PlayedHost(tmp_path, monkeypatch)
    played.write("/proc/stat", f"cpu 1 2\nbtime {BOOT}\n")
    return played


def says(host: PlayedHost, program: str, text: str, status: int = 0) -> None:
    host.write(f"/said/{program}", text)
    host.program(program, f"cat {host.root}/said/{program}; exit {status}")


KERNEL = f"""\
{BOOT}.100000 a kernel: Linux version 6.17.0-1031-nvidia
1764500100.000000 a kernel: NVRM: Xid (PCI:000F:01:00): 13, pid=4121, name=s3cr3t, Graphics SM Warp Exception
1764500200.500000 a kernel: NVRM: Xid (PCI:000F:01:00): 31, pid=4121, Ch 00000008
1764500300.000000 a kernel: NVRM: nvAssertOkFailedNoLog: Out of memory [NV_ERR_NO_MEMORY] (0x00000051)
1764500301.000000 a kernel: mlx5_core 0000:01:00.0: AER: PCIe Bus Error: severity=Corrected
1764500302.000000 a kernel: Out of memory: Killed process 4121 (python3) total-vm:1kB
1764500303.000000 a kernel: Memory cgroup out of memory: Killed process 4122 (python3) total-vm:1kB
 continued line without a time
"""


def test_the_kernels_complaints_are_counted_and_its_words_stay(host: PlayedHost) -> None:
    says(host, "journalctl", KERNEL)
    found = host.look(Wanted(Journal))
    counts = {name: each.count for name, each in found.sentinels.items() if each.count}
    assert counts == {"xid": 2, "nv_err_no_memory": 1, "mlx5_aer": 1, "oom_kill": 2}
    assert found.sentinels["xid"].subjects == {"13": 1, "31": 1}
    assert found.sentinels["xid"].last_seconds == 1764500200.5
    assert found.sentinels["oom_kill"].subjects == {"python3": 2}
    assert found.from_start
    assert "s3cr3t" not in found.canonical


def test_a_journal_that_was_rotated_says_so_and_an_empty_one_is_no_answer(host: PlayedHost) -> None:
    says(host, "journalctl", "1764509999.0 a kernel: late\n")
    assert not host.look(Wanted(Journal)).from_start
    says(host, "journalctl", "")
    assert isinstance(host.look(Wanted(Journal)), Unobserved)
    says(host, "journalctl", KERNEL, status=1)
    assert isinstance(host.look(Wanted(Journal)), Unobserved)


def test_firmware_is_read_where_it_is_told_and_no_serial_number(host: PlayedHost) -> None:
    host.write("/sys/class/dmi/id/bios_version", "5.36_0ACUM018\n")
    host.write("/sys/class/dmi/id/product_serial", "s3cr3t\n")
    host.write("/sys/class/infiniband/rocep1s0f0/fw_ver", "28.45.4028\n")
    for name, text in {"model": "SAMSUNG\n", "firmware_rev": "NXB1\n", "serial": "s3cr3t\n"}.items():
        host.write(f"/sys/class/nvme/nvme0/{name}", text)
    for at, row in enumerate([("b-2", "33572626", "0"), ("a-1", "7", "5"), ("", "7", "0"), ("c", "x", "0")]):
        for name, text in zip(("fw_class", "fw_version", "last_attempt_status"), row, strict=True):
            host.write(f"/sys/firmware/efi/esrt/entries/entry{at}/{name}", f"{text}\n")
    says(host, "nvme", "get-feature:0x08 (Interrupt Coalescing), Current value:0x00000107\n")
    found = host.look(Wanted(Firmware))
    assert (found.bios_version, found.rdma, found.nvme[0].coalescing) == (
        "5.36_0ACUM018", {"rocep1s0f0": "28.45.4028"}, 0x107,
    )  # fmt: skip
    assert found.resources == (
        Resource(guid="a-1", version=7, last_attempt=5), Resource(guid="b-2", version=0x02004712),
    )  # fmt: skip
    assert "s3cr3t" not in found.canonical
    says(host, "nvme", "NVMe status: INVALID_FIELD\n", status=1)
    assert host.look(Wanted(Firmware)).nvme[0].coalescing is None


@pytest.mark.parametrize(("microseconds", "synchronized"), [(20_000, True), (16_000_000, False)])
def test_a_clock_that_nobody_sets_is_not_synchronized(
    host: PlayedHost, monkeypatch: pytest.MonkeyPatch, microseconds: int, synchronized: bool
) -> None:
    monkeypatch.setattr(host_state, "max_error", lambda: microseconds)
    host.write("/etc/adjtime", "0.0 0 0.0\n0\nLOCAL\n")
    (host.root / "etc/localtime").symlink_to("/usr/share/zoneinfo/Europe/Berlin")
    found = host.look(Wanted(Clock))
    assert (found.is_synchronized, found.is_local, found.timezone) == (synchronized, True, "Europe/Berlin")


def test_a_host_without_logind_removes_nothing_at_a_logout(host: PlayedHost) -> None:
    host.systemd()
    found = host.look(Wanted(Logins, (("users", ("root", "nobody-of-this-name")),)))
    assert found.removes_ipc is None
    assert found.users == {"root": True, "nobody-of-this-name": False}


FSTAB = f"""\
UUID=1 / ext4 defaults 0 1
//nas/share /mnt/smb cifs username=ada,password=s3cr3t,ro,credentials=/etc/s3cr3t 0 0
{MARKS[0]}
nas:/models /mnt/models nfs4 nconnect=8 0 0
{MARKS[1]}
nas:/late /mnt/late nfs4 defaults 0 0
"""
TREE: dict[str, Any] = {"filesystems": [
    {"target": "/", "source": "/dev/nvme0n1p2", "fstype": "ext4", "options": "rw,relatime", "children": [
        {"target": "/proc", "source": "proc", "fstype": "proc", "options": "rw"},
        {"target": "/var/lib/docker/overlay2/x", "source": "overlay", "fstype": "overlay", "options": "rw"},
        {"target": "/mnt/models", "source": "nas:/models", "fstype": "nfs4", "options": "rw,vers=4.2,nconnect=8"},
        {"target": "/mnt/smb", "source": "//nas/share", "fstype": "cifs", "options": "rw,password=s3cr3t"},
    ]},
]}  # fmt: skip


def test_mounts_and_fstab_without_secrets_and_without_the_systems_own(host: PlayedHost) -> None:
    host.write("/etc/fstab", FSTAB)
    says(host, "findmnt", json.dumps(TREE))
    host.systemd(**{"mnt-models.mount": {}})
    host.program("systemctl", "printf 'LoadState=loaded\\nNeedDaemonReload=yes\\n'")
    fd = host.root / "proc/4121/fd"
    fd.mkdir(parents=True)
    (fd / "7").symlink_to("/mnt/models/a.gguf")
    host.write("/proc/4121/comm", "vllm\n")
    found = host.look(Wanted(Mounts, (("targets", ("/mnt/models",)),)))
    assert [each.target for each in found.mounts] == ["/", "/mnt/models", "/mnt/smb"]
    assert [(each.target, each.ours) for each in found.fstab] == [
        ("/", False), ("/mnt/smb", False), ("/mnt/models", True), ("/mnt/late", False),
    ]  # fmt: skip
    assert found.fstab_marks == (3, 5)
    assert "s3cr3t" not in found.canonical
    assert "ada" not in found.canonical
    assert [str(each) for each in found.holders["/mnt/models"]] == ["pid 4121 (vllm)"]
    assert found.unit("/mnt/models").needs_reload
    assert [each.target for each in found.spaces] == ["/"]


def test_a_file_system_without_extents_is_not_asked_for_them(host: PlayedHost) -> None:
    says(host, "findmnt", "xfs\n")
    host.program("e4defrag", "exit 64")
    found = host.look(Wanted(FileLayout, (("path", str(host.root)),)))
    assert (found.filesystem, found.extents, found.is_ideal) == ("xfs", None, True)


def test_what_a_program_refuses_is_not_observed(host: PlayedHost) -> None:
    says(host, "findmnt", "ext4\n")
    says(host, "e4defrag", "e4defrag 1.47.0 (5-Feb-2023)\n Done.\n")
    assert "only root is told" in host.look(Wanted(FileLayout, (("path", str(host.root)),))).reason


def test_a_secret_in_options_is_one_by_its_name() -> None:
    assert host_mounts.plain("rw,PASSWORD=a=b,vers=3,key") == "rw,PASSWORD=<redacted>,vers=3,key"
