"""The steps that make the rest of a host as its policy says."""

from typing import ClassVar, Literal

from fleet.host.text import HostFile
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
)
"""Every kind of them."""
