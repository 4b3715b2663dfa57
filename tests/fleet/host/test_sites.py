"""The host policies of the example sites: exactly these plans, and then nothing."""

import runpy
from pathlib import Path
from typing import get_args

import pytest

from fleet.host.policy import HostPolicy
from fleet.host.steps import HostStep
from fleet.observation import Observation
from fleet.plan import Plan, Refusals, plan
from fleet.roster import Roster
from fleet.target import Scope, Target
from tests.fleet.host import host

ROOT = Path(__file__).parents[3]
UNITS = "/etc/systemd/system"

RING = [
    f"write_host_file {UNITS}/sparks-host-huge-pages.service",
    f"write_host_file {UNITS}/sysinit.target.wants/sparks-host-huge-pages.service",
    "set_kernel_values huge pages now",
    "write_host_file /etc/sysctl.d/90-sparks-host.conf",
    "set_kernel_values sysctls now",
    f"write_host_file {UNITS}/sparks-host-governor.service",
    f"write_host_file {UNITS}/multi-user.target.wants/sparks-host-governor.service",
    "set_kernel_values cpu governors now",
    "make_swap /sparks-swap.img",
    f"write_host_file {UNITS}/sparks\\x2dswap.img.swap",
    f"write_host_file {UNITS}/swap.target.wants/sparks\\x2dswap.img.swap",
    "use_swap /sparks-swap.img now",
    "set_unit_file gdm.service at boot",
    "set_unit_active gdm.service now",
    "set_unit_file bluetooth.service at boot",
    "set_unit_active bluetooth.service now",
    "set_unit_file cups.service at boot",
    "set_unit_active cups.service now",
    "set_default_target default target",
    "write_host_file /etc/systemd/system.conf.d/90-sparks-host.conf",
    "feed_watchdog watchdog now",
    f"write_host_file {UNITS}/ssh.service.d/90-sparks-host.conf",
    "reload_systemd systemd",
    "write_host_file /usr/local/lib/sparks/memory-guard-PROGRAM.py",
    f"write_host_file {UNITS}/sparks-host-memory-guard.service",
    f"write_host_file {UNITS}/multi-user.target.wants/sparks-host-memory-guard.service",
    "run_memory_guard memory guard now",
    "write_host_file /etc/systemd/logind.conf.d/90-sparks-host.conf",
    "reload_logind logind now",
    "enable_linger linger of spark",
]
SWITCH = [
    f"write_host_file {UNITS}/ssh.service.d/90-sparks-host.conf",
    "reload_systemd systemd",
    "write_host_file /etc/systemd/logind.conf.d/90-sparks-host.conf",
    "reload_logind logind now",
    "enable_linger linger of spark",
    "write_fstab /etc/fstab",
    "mount_now /mnt/models now",
]


def roster(site: str) -> Roster:
    return Roster.read(runpy.run_path(str(ROOT / f"group_data/{site}.py"))["roster"], site)


def planned(of: Roster, seen: Observation) -> Plan | Refusals:
    return plan(of, Target(name="dgx1", kind="spark", hosts=("dgx1",)), {"dgx1": seen}, Scope.HOST)


def policy_of(of: Roster) -> HostPolicy:
    policy = of.desired_for("dgx1").host
    assert policy is not None
    return policy


@pytest.mark.parametrize(("site", "page_size", "expected"), [("ring", 65536, RING), ("switch8", 4096, SWITCH)])
def test_a_site_plans_exactly_this_and_then_nothing(site: str, page_size: int, expected: list[str]) -> None:
    of = roster(site)
    seen = host.with_desktop("dgx1", policy_of(of), page_size)
    found = planned(of, seen)
    assert isinstance(found, Plan), found
    said = [f"{step.kind} {step.subject.removeprefix('dgx1 ')}" for step in found.steps]
    assert [each if "memory-guard-" not in each else expected[23] for each in said] == expected
    assert Plan.from_canonical(found.canonical) == found
    for step in found.steps:
        seen = host.applied(step, seen)
    again = planned(of, seen)
    assert isinstance(again, Plan)
    assert again.steps == ()


def test_a_run_that_was_cut_off_anywhere_is_finished_by_the_next() -> None:
    of = roster("ring")
    first = host.with_desktop("dgx1", policy_of(of), 65536)
    found = planned(of, first)
    assert isinstance(found, Plan)
    for cut in range(0, len(found.steps), 3):
        seen = first
        for step in found.steps[:cut]:
            seen = host.applied(step, seen)
        rest = planned(of, seen)
        assert isinstance(rest, Plan)
        assert [each.kind for each in rest.steps] == [each.kind for each in found.steps[cut:]]


def test_every_spark_of_a_site_has_the_policy() -> None:
    for site in ("ring", "switch8"):
        of = roster(site)
        assert all(of.desired_for(name).host is not None for name in of.enrolled)


def test_a_kernel_of_another_page_size_is_refused_as_a_whole_and_once() -> None:
    of = roster("ring")
    found = planned(of, host.with_desktop("dgx1", policy_of(of), 4096))
    assert isinstance(found, Refusals)
    assert [each.code for each in found.refusals] == ["page_size_differs"]


def test_every_kind_of_step_can_be_carried_out_here() -> None:
    assert set(host._APPLIED) == set(get_args(HostStep))
