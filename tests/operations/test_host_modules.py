"""Options of modules, directories and values of the kernel, on a played host."""

import os
from pathlib import Path

import pytest

from fleet.host.decide import MODULES, TMPFILES
from fleet.host.policy import HostPolicy
from tests.operations.played_host import PlayedHost

POLICY = HostPolicy.model_validate({"modules": {"nvidia": {"NVreg_Quiet": 1}, "nvme": {"poll_queues": 2}}})
OURS = "/etc/modprobe.d/sparks-host.conf"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlayedHost:
    played = PlayedHost(tmp_path, monkeypatch)
    for path, text, mode in (
        ("/sys/module/nvidia/parameters/NVreg_Quiet", "N\n", 0o644),
        ("/sys/module/nvme/parameters/poll_queues", "0\n", 0o444),
    ):
        played.write(path, text).chmod(mode)
    for release in ("6.17.0", "7.0.0"):
        os.utime(played.write(f"/boot/initrd.img-{release}", ""), (1, 1))
    nvme = "usr/lib/modules/6.17.0/kernel/drivers/nvme/host/nvme.ko.zst"
    played.program("lsinitramfs", f"case $1 in *6.17*) echo {nvme};; esac")
    played.program("update-initramfs", f"touch {tmp_path}/boot/initrd.img-$3; echo $3 >> {tmp_path}/built")
    return played


def test_options_last_reach_the_initramfs_that_needs_them_and_what_can_be_set_now(host: PlayedHost) -> None:
    assert host.made_so(POLICY, MODULES) == ["write_host_file", "rebuild_initramfs", "set_kernel_values"]
    assert host.read(OURS).splitlines()[1:] == ["options nvidia NVreg_Quiet=1", "options nvme poll_queues=2"]
    assert host.read("/built") == "6.17.0\n", "the other has no such module"
    assert host.read("/sys/module/nvidia/parameters/NVreg_Quiet") == "1"
    assert host.read("/sys/module/nvme/parameters/poll_queues") == "0\n", "a loaded module is left until the next boot"
    assert host.made_so(HostPolicy(), MODULES) == ["remove_host_file"]


def test_an_initramfs_that_is_older_than_our_file_is_made_anew(host: PlayedHost) -> None:
    host.made_so(POLICY, MODULES)
    os.utime(host.root / "boot/initrd.img-6.17.0", (1, 1))
    assert host.made_so(POLICY, MODULES) == ["rebuild_initramfs"]


def test_a_truth_is_shown_in_another_way_than_it_is_given(host: PlayedHost) -> None:
    host.write("/sys/module/nvidia/parameters/NVreg_Quiet", "Y\n")
    assert "set_kernel_values" not in host.made_so(POLICY, MODULES)


def test_a_later_file_is_refused_by_name_and_line_whatever_dash_it_writes(host: PlayedHost) -> None:
    host.write("/etc/modprobe.d/zz.conf", "# mine\noptions nvidia NVreg_Secret=s3cr3t NVreg_Quiet=0\n")
    (said,) = host.refusals(POLICY, MODULES)
    place = "/etc/modprobe.d/zz.conf line 2"
    assert said == f"a nvidia.NVreg_Quiet at boot: expected 1, found 0 by {place} [conf_overridden]"


SCHEDULER = "/sys/block/nvme0n1/queue/scheduler"
PATHS = HostPolicy.model_validate(
    {"tmpfiles": ({"path": SCHEDULER, "value": "none"}, {"path": "/var/cache/sparks", "mode": "0750"})}
)


def test_directories_and_values_are_made_for_good_and_now(host: PlayedHost) -> None:
    host.words(SCHEDULER, "none [mq-deadline]")
    assert host.made_so(PATHS, TMPFILES) == ["write_host_file", "set_kernel_values", "make_directory"]
    assert host.read("/etc/tmpfiles.d/sparks-host.conf").splitlines()[1:] == [
        f"w {SCHEDULER} - - - - none", "d /var/cache/sparks 0750 root root -",
    ]  # fmt: skip
    (host.root / "var/cache/sparks").chmod(0o700)
    assert host.made_so(PATHS, TMPFILES) == ["make_directory"]


def test_a_file_where_a_directory_should_be_is_refused_and_not_read(host: PlayedHost) -> None:
    host.words(SCHEDULER, "[none] mq-deadline")
    host.write("/var/cache/sparks", "s3cr3t")
    (said,) = host.refusals(PATHS, TMPFILES)
    assert said == "a /var/cache/sparks: expected a directory, or nothing, found file [path_unusual]"
