"""Every decision about the rest of a host, part by part, in the order in which a deploy carries it out. Pure."""

from collections.abc import Callable, Iterator, Mapping

from fleet.desired import DesiredSpark
from fleet.host.guard_step import guard_steps
from fleet.host.held_step import held_steps
from fleet.host.kernel_values_step import governor_steps, huge_page_steps
from fleet.host.logins_step import login_steps
from fleet.host.manager_step import default_target_steps, watchdog_steps
from fleet.host.modules_step import module_steps
from fleet.host.mount_step import mount_steps
from fleet.host.oom_step import oom_steps
from fleet.host.policy import HostPolicy
from fleet.host.swap_step import swap_steps
from fleet.host.sysctl_step import sysctl_steps
from fleet.host.time_servers_step import time_server_steps
from fleet.host.tmpfiles_step import tmpfile_steps
from fleet.host.units_step import unit_steps
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step

HUGE_PAGES, SYSCTLS, GOVERNOR = "huge pages", "kernel settings", "cpu governor"
UNITS, DEFAULT_TARGET, WATCHDOG, OOM = "units", "default target", "watchdog", "what outlives a shortage of memory"
SWAP, LOGINS, MOUNTS, GUARD = "swap", "logins", "mounts", "memory guard"
MODULES, TMPFILES = "module options", "tmpfiles"
HELD = "held packages"
TIME_SERVERS = "time servers"

PARTS: Mapping[str, Callable[[HostPolicy, Observation], Iterator[Step | Refusal]]] = {
    HELD: held_steps,
    HUGE_PAGES: huge_page_steps,
    SYSCTLS: sysctl_steps,
    GOVERNOR: governor_steps,
    MODULES: module_steps,
    TMPFILES: tmpfile_steps,
    SWAP: swap_steps,
    UNITS: unit_steps,
    TIME_SERVERS: time_server_steps,
    DEFAULT_TARGET: default_target_steps,
    WATCHDOG: watchdog_steps,
    OOM: oom_steps,
    GUARD: guard_steps,
    LOGINS: login_steps,
    MOUNTS: mount_steps,
}
"""By the name of the operation that makes a part so; each starts with what is durable."""


def part_steps(part: str, desired: DesiredSpark, seen: Observation) -> tuple[Step | Refusal, ...]:
    """What one part of a host needs, or everything that stands in the way; nothing where it has no policy."""
    if desired.host is None:
        return ()
    other = _another_page_size(desired.host, seen)
    return tuple(PARTS[part](desired.host, seen)) if other is None else (other,)


def _another_page_size(policy: HostPolicy, seen: Observation) -> Refusal | None:
    """Values for one size of pages are wrong for another: reserves count in them, and so does a swap file's head."""
    if policy.page_size_kib is None:
        return None
    if blind := seen.unobserved("kernel"):
        return blind
    found = known(seen.kernel).page_size_bytes // 1024
    if found == policy.page_size_kib:
        return None
    return Refusal(
        code="page_size_differs",
        subject=f"{seen.host} kernel {known(seen.kernel).release}",
        expected=f"pages of {policy.page_size_kib} KiB, for which its host policy is",
        found=f"{found} KiB",
        hint="converge its kernel first, or give it a policy for this page size",
    )
