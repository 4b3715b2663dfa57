"""Huge pages and CPU governors on a played host."""

from pathlib import Path

import pytest

from fleet.host.decide import GOVERNOR, HUGE_PAGES
from fleet.host.kernel_values import HugePagePolicy
from fleet.host.policy import HostPolicy
from tests.operations.played_host import PlayedHost

THP = "/sys/kernel/mm/transparent_hugepage"
NEVER = HostPolicy(huge_pages=HugePagePolicy(enabled="never", defrag="never"))
FAST = HostPolicy(governor="performance")


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlayedHost:
    played = PlayedHost(tmp_path, monkeypatch)
    played.words(f"{THP}/enabled", "always [madvise] never")
    played.words(f"{THP}/defrag", "always defer defer+madvise [madvise] never")
    for cpu in (0, 1, 10):
        folder = f"/sys/devices/system/cpu/cpu{cpu}/cpufreq"
        played.write(f"{folder}/scaling_governor", "schedutil\n")
        played.write(f"{folder}/scaling_available_governors", "performance schedutil \n")
    return played


def test_huge_pages_are_set_for_good_before_sysctls_and_now(host: PlayedHost) -> None:
    assert host.made_so(NEVER, HUGE_PAGES) == ["write_host_file", "write_host_file", "set_kernel_values"]
    unit = host.read("/etc/systemd/system/sparks-host-huge-pages.service")
    assert "Before=systemd-sysctl.service sysinit.target" in unit
    assert f"ExecStart=/bin/sh -c 'echo never > {THP}/enabled'" in unit
    link = host.root / "etc/systemd/system/sysinit.target.wants/sparks-host-huge-pages.service"
    assert str(link.readlink()) == "/etc/systemd/system/sparks-host-huge-pages.service"


def test_what_a_boot_has_set_back_is_due_again_and_only_that(host: PlayedHost) -> None:
    host.made_so(NEVER, HUGE_PAGES)
    host.words(f"{THP}/enabled", "[always] madvise never")
    (step,) = host.outcomes(NEVER, HUGE_PAGES)
    assert str(step).startswith("a huge pages now: enabled always -> enabled never (activate:")


def test_a_policy_without_them_takes_the_unit_and_its_link_away(host: PlayedHost) -> None:
    host.made_so(NEVER, HUGE_PAGES)
    assert host.made_so(HostPolicy(), HUGE_PAGES) == ["remove_host_file", "remove_host_file"]


def test_a_kernel_without_huge_pages_is_refused(host: PlayedHost) -> None:
    (host.root / THP.lstrip("/") / "defrag").unlink()
    (said,) = host.refusals(NEVER, HUGE_PAGES)
    assert said == f"a {THP}/defrag: expected a kernel that offers never, found no such setting [value_not_offered]"


def test_every_cpu_gets_its_governor(host: PlayedHost) -> None:
    assert host.made_so(FAST, GOVERNOR) == ["write_host_file", "write_host_file", "set_kernel_values"]
    assert host.read("/sys/devices/system/cpu/cpu10/cpufreq/scaling_governor") == "performance"
    assert '"$$each"' in host.read("/etc/systemd/system/sparks-host-governor.service")


def test_a_governor_that_a_driver_does_not_have_is_refused(host: PlayedHost) -> None:
    host.write("/sys/devices/system/cpu/cpu1/cpufreq/scaling_available_governors", "schedutil\n")
    (said,) = host.refusals(FAST, GOVERNOR)
    assert "cpu1/cpufreq/scaling_governor: expected a kernel that offers performance, found only schedutil" in said


def test_values_for_another_page_size_are_refused(host: PlayedHost) -> None:
    policy = NEVER.replaced(page_size_kib=64)
    (said,) = host.refusals(policy, HUGE_PAGES)
    assert said.endswith("expected pages of 64 KiB, for which its host policy is, found 4 KiB [page_size_differs]")
