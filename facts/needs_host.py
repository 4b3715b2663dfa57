"""Which looks the decisions about the rest of a host rest on."""

from collections.abc import Callable, Mapping

from facts.bundle import Wanted
from facts.host_files import HostFiles
from facts.host_guard import MemoryGuard
from facts.host_kernel import Governors, HugePages
from facts.host_modules import ModuleOptions, Paths
from facts.host_mounts import Mounts
from facts.host_swap import Swap
from facts.host_sysctl import Sysctls
from facts.host_systemd import Logins, Manager, Units
from facts.host_time import TimeServers
from facts.kernel import Kernel
from facts.kernels import KernelPackages
from fleet.desired import DesiredSpark
from fleet.host.decide import (
    DEFAULT_TARGET,
    GOVERNOR,
    GUARD,
    HELD,
    HUGE_PAGES,
    LOGINS,
    MODULES,
    MOUNTS,
    OOM,
    SWAP,
    SYSCTLS,
    TIME_SERVERS,
    TMPFILES,
    UNITS,
    WATCHDOG,
)
from fleet.host.policy import HostPolicy

Looks = dict[str, Wanted]


def _sysctls(policy: HostPolicy) -> Looks:
    return {"sysctls": Wanted(Sysctls, (("keys", tuple(policy.settings)),))}


def _units(policy: HostPolicy) -> Looks:
    """One look for all parts that ask about units."""
    names = tuple(dict.fromkeys((*policy.every_unit, *policy.oom_protected)))
    return {"units": Wanted(Units, (("names", names),))}


def _time_servers(policy: HostPolicy) -> Looks:
    asked = {"time_servers": Wanted(TimeServers, (("service", policy.time_sync),))}
    return asked if policy.time_servers else {}


def _modules(policy: HostPolicy) -> Looks:
    """To list an initramfs takes seconds: a policy without options does not ask."""
    names = tuple((module, name) for module, options in policy.modules.items() for name in options)
    return {"modules": Wanted(ModuleOptions, (("parameters", names),))} if names else {}


_PARTS: Mapping[str, Callable[[HostPolicy], Looks]] = {
    HELD: lambda _: {},
    HUGE_PAGES: lambda _: {"huge_pages": Wanted(HugePages)},
    SYSCTLS: _sysctls,
    GOVERNOR: lambda _: {"governors": Wanted(Governors)},
    SWAP: lambda policy: {"swap": Wanted(Swap, (("path", policy.swap.path),) if policy.swap else ())},
    UNITS: _units,
    TIME_SERVERS: _time_servers,
    DEFAULT_TARGET: lambda _: {"manager": Wanted(Manager)},
    WATCHDOG: lambda _: {"manager": Wanted(Manager)},
    OOM: _units,
    MODULES: _modules,
    TMPFILES: lambda policy: {"paths": Wanted(Paths, (("paths", tuple(each.path for each in policy.tmpfiles)),))},
    GUARD: lambda _: {"memory_guard": Wanted(MemoryGuard)},
    LOGINS: lambda policy: {"logins": Wanted(Logins, (("users", policy.linger),))},
    MOUNTS: lambda policy: {"mounts": Wanted(Mounts, (("targets", tuple(policy.mounts)),))},
}


def _packages(desired: DesiredSpark) -> Wanted:
    """With those of the kernel policy: doctor takes one look for both."""
    kernel = () if desired.kernel is None else desired.kernel.held
    held = () if desired.host is None else desired.host.held
    return Wanted(KernelPackages, (("named", " ".join(dict.fromkeys((*kernel, *held)))),))


def part_looks(part: str, desired: DesiredSpark) -> Looks:
    """What a decision about one part rests on; nothing where the Spark has no host policy."""
    if desired.host is None:
        return {}
    always = {"host_files": Wanted(HostFiles), "kernel": Wanted(Kernel)}
    packages = {"packages": _packages(desired)} if part == HELD and desired.host.held else {}
    return always | packages | _PARTS[part](desired.host)


def policy_looks(desired: DesiredSpark) -> Looks:
    """What the decisions about every part rest on."""
    return {section: look for part in _PARTS for section, look in part_looks(part, desired).items()}
