"""A host that never was, as far as its policy goes: what looks would find, and what carrying a step out does to it."""

from collections.abc import Callable
from typing import Any

from facts.remote import host_mounts
from fleet.host.clock import Logins
from fleet.host.files import HostFiles, wanted
from fleet.host.fstab import fstab_entry
from fleet.host.guard_service import GuardSample, MemoryGuard
from fleet.host.kernel_values import Choice, CpuGovernor, Governors, HugePages
from fleet.host.manager import Manager, WatchdogDevice
from fleet.host.mounts import Mount, Mounts
from fleet.host.oom_step import SCORE, SETS_ITS_OWN
from fleet.host.policy import HostPolicy
from fleet.host.steps import (
    EnableLinger,
    FeedWatchdog,
    MakeDirectory,
    MakeSwap,
    MountNow,
    RebuildInitramfs,
    ReloadLogind,
    ReloadSystemd,
    RemoveHostFile,
    RunMemoryGuard,
    SetDefaultTarget,
    SetKernelValues,
    SetOomScore,
    SetUnitActive,
    SetUnitFile,
    Unmount,
    UseSwap,
    UseTimeServers,
    WriteFstab,
    WriteHostFile,
)  # fmt: skip
from fleet.host.swap import ActiveSwap, Swap, SwapFile
from fleet.host.sysctl import Sysctls
from fleet.host.time_servers import TimeServers
from fleet.host.tmpfiles import FoundPath, Paths
from fleet.host.units import Units, UnitState
from fleet.kernel.running import CommandLine, Kernel
from fleet.observation import Observation, known
from fleet.step import Step
from tests.fleet.observed import BOOT, blank

DESKTOP = {"gdm.service": "static", "bluetooth.service": "enabled", "cups.service": "enabled",
           "systemd-timesyncd.service": "enabled", "ssh.service": "enabled"}  # fmt: skip
"""What a Spark with a desktop has of the units that policies name; the others are not there."""


def unit(name: str) -> UnitState:
    there = name in DESKTOP
    return UnitState(
        name=name, id=name, load_state="loaded" if there else "not-found", file_state=DESKTOP.get(name, ""),
        active_state="active" if there else "inactive", oom_policy="stop",
        oom_score=-1000 if name in SETS_ITS_OWN else None,
    )  # fmt: skip


def with_desktop(host: str, policy: HostPolicy, page_size: int = 4096) -> Observation:
    """A Spark as DGX OS leaves it, seen through the looks of a policy."""
    names = dict.fromkeys((*policy.every_unit, *policy.oom_protected))
    plain = Choice(value="madvise", choices=("always", "madvise", "never"))
    governor = Choice(value="schedutil", choices=("performance", "schedutil"))
    found = {
        "host_files": HostFiles(),
        "kernel": Kernel(release="7.0.0-1019-nvidia-64k", page_size_bytes=page_size, boot_id=BOOT, uptime_seconds=1,
                         command_line=CommandLine(parameters=())),
        "sysctls": Sysctls(now=dict.fromkeys(policy.settings, "15000")),
        "huge_pages": HugePages(page_size_bytes=page_size, enabled=plain, defrag=plain, shmem_enabled=plain),
        "governors": Governors(cpus=tuple(CpuGovernor(cpu=each, governor=governor) for each in range(20))),
        "units": Units(units={each: unit(each) for each in names}),
        "manager": Manager(default_target="graphical.target", watchdog_seconds=0.0,
                           devices=(WatchdogDevice(name="watchdog0"),)),
        "swap": Swap(active=(), page_size_bytes=page_size, filesystem="ext4", available_bytes=2**40),
        "memory_guard": MemoryGuard(),
        "logins": Logins(removes_ipc=True, users=dict.fromkeys(policy.linger, True)),
        "mounts": Mounts(mounts=(), fstab=()),
        "time_servers": TimeServers(service="timesyncd", running=("ntp.ubuntu.com",)),
    }  # fmt: skip
    return blank(host).model_copy(update=found)


def _file(seen: Observation, step: Any) -> dict[str, Any]:
    path = step.file.path if isinstance(step, WriteHostFile) else step.path
    others = [each for each in known(seen.host_files).files if each.path != path]
    files = [*others, wanted(step.file)] if isinstance(step, WriteHostFile) else others
    return {"host_files": HostFiles(files=tuple(sorted(files, key=lambda each: each.path)))}


def _values(seen: Observation, step: SetKernelValues) -> dict[str, Any]:
    def chosen(path: str, found: Choice | None) -> Any:
        value = step.values.get(path)
        return found if found is None or value is None else found.replaced(value=value)

    thp, cpus = known(seen.huge_pages), known(seen.governors).cpus
    names = ("enabled", "defrag", "shmem_enabled")
    kept = {name: chosen(f"/sys/kernel/mm/transparent_hugepage/{name}", getattr(thp, name)) for name in names}
    place = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
    moved = tuple(each.replaced(governor=chosen(place.format(each.cpu), each.governor)) for each in cpus)
    settings = {path.removeprefix("/proc/sys/"): value for path, value in step.values.items() if "/proc/" in path}
    state = known(seen.sysctls)
    return {"sysctls": state.replaced(now=state.now | settings), "huge_pages": thp.replaced(**kept),
            "governors": Governors(cpus=moved)}  # fmt: skip


def _unit(seen: Observation, name: str, **changed: Any) -> dict[str, Any]:
    units = known(seen.units).units
    return {"units": Units(units=units | {name: units[name].replaced(**changed)})}


def _unit_file(seen: Observation, step: SetUnitFile) -> dict[str, Any]:
    return _unit(seen, step.unit, file_state=step.wish, load_state="masked" if step.wish == "masked" else "loaded")


def _active(seen: Observation, step: SetUnitActive) -> dict[str, Any]:
    if step.unit not in known(seen.units).units:
        return {"memory_guard": MemoryGuard()}
    return _unit(seen, step.unit, active_state="active" if step.active else "inactive")


def _reload(seen: Observation, step: ReloadSystemd) -> dict[str, Any]:
    files, units = known(seen.host_files), dict(known(seen.units).units)
    for name, each in units.items():
        if files.at(f"/etc/systemd/system/{name}.d/90-sparks-host.conf") is not None:
            adjust = 0 if name in SETS_ITS_OWN else SCORE
            units[name] = each.replaced(oom_policy="continue", oom_score_adjust=adjust, needs_reload=False)
    mounts = known(seen.mounts)
    loaded = tuple(each.replaced(load_state="loaded", needs_reload=False) for each in mounts.units)
    return {"units": Units(units=units), "mounts": mounts.replaced(units=loaded)}


def _fstab(seen: Observation, step: WriteFstab) -> dict[str, Any]:
    lines, marks = host_mounts.fstab("".join(f"{each}\n" for each in step.lines), step.marks)
    entries = tuple(fstab_entry(each["number"], each["fields"], each["ours"]) for each in lines)
    others = tuple(each for each in known(seen.mounts).fstab if not each.ours)
    return {"mounts": known(seen.mounts).replaced(fstab=(*others, *entries), fstab_marks=tuple(marks))}


def _mounted(seen: Observation, step: MountNow | Unmount) -> dict[str, Any]:
    mounts = known(seen.mounts)
    others = tuple(each for each in mounts.mounts if each.target != step.target)
    if isinstance(step, Unmount):
        return {"mounts": mounts.replaced(mounts=others)}
    entry = next(each for each in mounts.fstab if each.target == step.target)
    mount = Mount(target=entry.target, source=entry.source, type="nfs4", options=("rw", "vers=4.2", *entry.options))
    return {"mounts": mounts.replaced(mounts=(*others, mount))}


def _swap(seen: Observation, step: MakeSwap | UseSwap) -> dict[str, Any]:
    swap = known(seen.swap)
    if isinstance(step, MakeSwap):
        file = SwapFile(size_bytes=step.size_bytes, mode=0o600, page_size_bytes=swap.page_size_bytes)
        return {"swap": swap.replaced(file=file)}
    return {"swap": swap.replaced(active=(*swap.active, ActiveSwap(path=step.path, size_bytes=1, used_bytes=0)))}


def _directory(seen: Observation, step: MakeDirectory) -> dict[str, Any]:
    made = FoundPath(kind="directory", mode=step.mode, user=step.user, group=step.group)
    return {"paths": Paths(paths=known(seen.paths).paths | {step.path: made})}


def _guard(seen: Observation, step: RunMemoryGuard) -> dict[str, Any]:
    sample = GuardSample(at=1, available_bytes=1, level="startup", threshold_bytes=1)
    return {"memory_guard": MemoryGuard(argv=step.argv, sample=sample, age_seconds=0.5)}


_APPLIED: dict[type[Step], Callable[[Observation, Any], dict[str, Any]]] = {
    WriteHostFile: _file,
    RemoveHostFile: _file,
    SetKernelValues: _values,
    SetUnitFile: _unit_file,
    SetUnitActive: _active,
    ReloadSystemd: _reload,
    SetDefaultTarget: lambda seen, step: {"manager": known(seen.manager).replaced(default_target=step.target)},
    FeedWatchdog: lambda seen, step: {"manager": known(seen.manager).replaced(watchdog_seconds=float(step.seconds))},
    SetOomScore: lambda seen, step: _unit(seen, step.unit, oom_score=step.score),
    WriteFstab: _fstab,
    Unmount: _mounted,
    MountNow: _mounted,
    MakeSwap: _swap,
    UseSwap: _swap,
    ReloadLogind: lambda seen, _: {"logins": known(seen.logins).replaced(removes_ipc=False)},
    EnableLinger: lambda seen, step: {
        "logins": known(seen.logins).replaced(lingering=(*known(seen.logins).lingering, step.user))
    },
    UseTimeServers: lambda seen, step: {
        "time_servers": known(seen.time_servers).replaced(running=tuple(step.after.split(", ")))
    },
    RunMemoryGuard: _guard,
    RebuildInitramfs: lambda seen, _: {"modules": known(seen.modules).replaced(initrds=())},
    MakeDirectory: _directory,
}


def applied(step: Step, seen: Observation) -> Observation:
    """The host after a step was carried out."""
    return seen.model_copy(update=_APPLIED[type(step)](seen, step))
