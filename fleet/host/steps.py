"""The steps that make the rest of a host as its policy says."""

from typing import ClassVar, Literal

from fleet.host.text import HostFile
from fleet.host.time_servers import TimeService
from fleet.host.units import UnitWish
from fleet.step import Effect, Step


class WriteHostFile(Step):
    """Put one file or link of ours where it should be."""

    kind: Literal["write_host_file"] = "write_host_file"
    effect: Effect = Effect.WRITE
    file: HostFile


class RemoveHostFile(Step):
    """Take away one file of ours that the policy does not have."""

    kind: Literal["remove_host_file"] = "remove_host_file"
    effect: Effect = Effect.REMOVE
    path: str


class SetKernelValues(Step):
    """Give settings of the running kernel their values, in this order."""

    follows: ClassVar[frozenset[str]] = frozenset({"set_kernel_values"})
    """The kernel computes some settings anew when others change, as `min_free_kbytes` with huge pages."""

    kind: Literal["set_kernel_values"] = "set_kernel_values"
    effect: Effect = Effect.ACTIVATE
    values: dict[str, str]
    """By path, below /proc/sys or /sys."""


class SetUnitFile(Step):
    """Have a unit started at boot, or not, or not at all."""

    kind: Literal["set_unit_file"] = "set_unit_file"
    effect: Effect = Effect.WRITE
    unit: str
    wish: UnitWish


class SetUnitActive(Step):
    """Start a unit, or stop it."""

    follows: ClassVar[frozenset[str]] = frozenset({"set_unit_file", "set_unit_active"})

    kind: Literal["set_unit_active"] = "set_unit_active"
    effect: Effect = Effect.ACTIVATE
    unit: str
    active: bool


class ReloadSystemd(Step):
    """Let systemd read its units again; nothing is restarted."""

    kind: Literal["reload_systemd"] = "reload_systemd"
    effect: Effect = Effect.ACTIVATE


class SetDefaultTarget(Step):
    """Choose what the next boot goes to."""

    kind: Literal["set_default_target"] = "set_default_target"
    effect: Effect = Effect.WRITE
    target: str


class FeedWatchdog(Step):
    """Let the running systemd feed the watchdog for this long."""

    kind: Literal["feed_watchdog"] = "feed_watchdog"
    effect: Effect = Effect.ACTIVATE
    seconds: int


class SetOomScore(Step):
    """Give the main process of a unit, as it runs, its score."""

    kind: Literal["set_oom_score"] = "set_oom_score"
    effect: Effect = Effect.ACTIVATE
    unit: str
    score: int


class WriteFstab(Step):
    """Put our lines into /etc/fstab in place of those of ours that are there; every other line stays, byte for byte."""

    kind: Literal["write_fstab"] = "write_fstab"
    effect: Effect = Effect.WRITE
    lines: tuple[str, ...]
    marks: tuple[str, str]


class Unmount(Step):
    """Unmount what nobody uses; a busy one fails, and is never forced."""

    kind: Literal["unmount"] = "unmount"
    effect: Effect = Effect.REMOVE
    target: str


class MountNow(Step):
    """Mount what fstab has at a target, or have it wait there for the first look."""

    follows: ClassVar[frozenset[str]] = frozenset({"unmount"})

    kind: Literal["mount_now"] = "mount_now"
    effect: Effect = Effect.ACTIVATE
    target: str
    automount: bool


class MakeSwap(Step):
    """Make a swap file, whole before it gets its name."""

    kind: Literal["make_swap"] = "make_swap"
    effect: Effect = Effect.WRITE
    path: str
    size_bytes: int


class UseSwap(Step):
    """Let the kernel use a swap file."""

    kind: Literal["use_swap"] = "use_swap"
    effect: Effect = Effect.ACTIVATE
    path: str


class ReloadLogind(Step):
    """Let logind read its configuration again; no session ends."""

    kind: Literal["reload_logind"] = "reload_logind"
    effect: Effect = Effect.ACTIVATE


class UseTimeServers(Step):
    """Let what keeps the time ask its servers: chrony reads its sources again, timesyncd starts again."""

    kind: Literal["use_time_servers"] = "use_time_servers"
    effect: Effect = Effect.ACTIVATE
    service: TimeService


class EnableLinger(Step):
    """Let a user's manager run without a session, for good and now."""

    kind: Literal["enable_linger"] = "enable_linger"
    effect: Effect = Effect.WRITE
    user: str


class RunMemoryGuard(Step):
    """Start the memory guard with its values, in place of one that has others; no container is touched by that."""

    kind: Literal["run_memory_guard"] = "run_memory_guard"
    effect: Effect = Effect.RESTART
    unit: str
    argv: tuple[str, ...]


class RebuildInitramfs(Step):
    """Make what kernels start from anew, with the files that are there now."""

    kind: Literal["rebuild_initramfs"] = "rebuild_initramfs"
    effect: Effect = Effect.WRITE
    releases: tuple[str, ...]


class MakeDirectory(Step):
    """Make a directory, or give one its mode and owner; what is in it stays."""

    kind: Literal["make_directory"] = "make_directory"
    effect: Effect = Effect.ACTIVATE
    path: str
    mode: str
    user: str
    group: str


HostStep = (
    WriteHostFile
    | RemoveHostFile
    | SetKernelValues
    | SetUnitFile
    | SetUnitActive
    | ReloadSystemd
    | SetDefaultTarget
    | FeedWatchdog
    | SetOomScore
    | WriteFstab
    | Unmount
    | MountNow
    | MakeSwap
    | UseSwap
    | ReloadLogind
    | EnableLinger
    | UseTimeServers
    | RebuildInitramfs
    | MakeDirectory
    | RunMemoryGuard
)
"""Every kind of them."""
