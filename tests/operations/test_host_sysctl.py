"""Kernel settings on a played host: look, decide, act, look again."""

from pathlib import Path

import pytest

from fleet.host.decide import SYSCTLS
from fleet.host.policy import HostPolicy
from tests.operations.played_host import PlayedHost

BOOST = HostPolicy(sysctls={"vm.watermark_boost_factor": 0, "vm.lowmem_reserve_ratio": "256 32"})
OURS = "/etc/sysctl.d/90-sparks-host.conf"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlayedHost:
    played = PlayedHost(tmp_path, monkeypatch)
    played.write("/proc/sys/vm/watermark_boost_factor", "15000\n")
    played.write("/proc/sys/vm/lowmem_reserve_ratio", "256\t32\n")
    return played


def test_what_lasts_comes_first_and_only_what_differs_is_set_now(host: PlayedHost) -> None:
    assert host.made_so(BOOST, SYSCTLS) == ["write_host_file", "set_kernel_values"]
    assert host.read("/proc/sys/vm/watermark_boost_factor") == "0"
    assert host.read("/proc/sys/vm/lowmem_reserve_ratio") == "256\t32\n"
    assert host.read(OURS).splitlines()[1:] == ["vm/watermark_boost_factor = 0", "vm/lowmem_reserve_ratio = 256 32"]
    assert host.made_so(BOOST, SYSCTLS) == []


def test_a_file_edited_by_hand_is_written_again_and_nothing_else(host: PlayedHost) -> None:
    host.made_so(BOOST, SYSCTLS)
    host.write(OURS, "vm.watermark_boost_factor = 0\n")
    assert host.made_so(BOOST, SYSCTLS) == ["write_host_file"]


def test_a_value_set_by_hand_is_lost_at_the_next_boot_and_so_only_set_back(host: PlayedHost) -> None:
    host.made_so(BOOST, SYSCTLS)
    host.write("/proc/sys/vm/watermark_boost_factor", "10\n")
    assert host.made_so(BOOST, SYSCTLS) == ["set_kernel_values"]


def test_a_policy_without_settings_takes_our_file_away(host: PlayedHost) -> None:
    host.made_so(BOOST, SYSCTLS)
    assert host.made_so(HostPolicy(), SYSCTLS) == ["remove_host_file"]
    assert not (host.root / OURS.lstrip("/")).exists()


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("/etc/sysctl.d/99-mine.conf", "# mine\nvm.watermark_boost_factor=1\n", 2),
        ("/usr/lib/sysctl.d/95-package.conf", "-vm/watermark_boost_factor = 1\n", 1),
        ("/etc/sysctl.conf", "\n\n  vm.watermark_boost_factor = 1  \n", 3),
    ],
)
def test_a_later_file_with_another_value_is_refused_by_name_and_line(
    host: PlayedHost, path: str, text: str, line: int
) -> None:
    host.write(path, text)
    (said,) = host.refusals(BOOST, SYSCTLS)
    assert said == (
        f"a sysctl vm/watermark_boost_factor at boot: expected 0, found 1 by {path} line {line} [sysctl_overridden]"
    )
    assert not (host.root / OURS.lstrip("/")).exists()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/etc/sysctl.d/99-mine.conf", "vm.watermark_boost_factor=0\n"),
        ("/etc/sysctl.d/99-mine.conf", "vm.*=1\n-vm.watermark_boost_factor\n# vm.watermark_boost_factor=1\n"),
        ("/etc/sysctl.d/10-earlier.conf", "vm.watermark_boost_factor = 1\n"),
        ("/usr/lib/sysctl.d/90-sparks-host.conf", "vm.watermark_boost_factor = 1\n"),
        ("/etc/sysctl.d/99-mine.conf.bak", "vm.watermark_boost_factor = 1\n"),
    ],
)
def test_what_does_not_win_over_ours_is_left_alone(host: PlayedHost, path: str, text: str) -> None:
    host.write(path, text)
    assert host.made_so(BOOST, SYSCTLS) == ["write_host_file", "set_kernel_values"]


def test_a_setting_that_the_kernel_does_not_have_is_refused(host: PlayedHost) -> None:
    (said,) = host.refusals(HostPolicy(sysctls={"vm.no_such": 1}), SYSCTLS)
    assert said == "a sysctl vm/no_such: expected one of this kernel, found none [sysctl_unknown]"


def test_sysctl_conf_is_read_where_its_link_stands(host: PlayedHost) -> None:
    """Of Ubuntu 24.04: `99-sysctl.conf -> ../sysctl.conf`; without the link a boot does not read it."""
    host.write("/etc/sysctl.conf", "vm.watermark_boost_factor = 1\n")
    (host.root / "etc/sysctl.d").mkdir()
    (host.root / "etc/sysctl.d/99-sysctl.conf").symlink_to("../sysctl.conf")
    (said,) = host.refusals(BOOST, SYSCTLS)
    assert "by /etc/sysctl.d/99-sysctl.conf line 1" in said
