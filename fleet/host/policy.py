"""What the rest of a host should be: one text that several Sparks share. What a policy leaves out is not ours."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fleet.host.guard_service import MemoryGuardPolicy
from fleet.host.kernel_values import Governor, HugePagePolicy
from fleet.host.manager import TargetName, WatchdogPolicy
from fleet.host.modules import ModuleName, ParameterName, ParameterValue
from fleet.host.mount_policy import MountPoint, MountPolicy, mount_wall
from fleet.host.swap import SwapPolicy
from fleet.host.sysctl import SysctlKey, canonical_key, same_value
from fleet.host.time_servers import TIME_UNITS, TimeServer, TimeService
from fleet.host.tmpfiles import TmpfilePolicy
from fleet.host.units import UnitName, UnitWish, unit_wall
from fleet.kernel.words import PackageName
from fleet.record import Record
from fleet.wall import each_once, wall

PRINTED = r"^[!\"$-:<-~]([\t -~]*[!-~])?$"
"""Printable ASCII that begins no comment: nothing that ends a line, and nothing that /proc/sys cannot take."""
SysctlValue = Annotated[int, Field(strict=True)] | Annotated[str, Field(pattern=PRINTED, max_length=256)]
"""A number, or text for a setting that has several or none."""


UserName = Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_-]{0,31}$")]


class HostPolicy(Record):
    """What the rest of a host should be; everything that is left out stays as it is."""

    page_size_kib: Literal[4, 16, 64] | None = None
    """The page size that its values are meant for; a Spark whose kernel has another is refused."""
    sysctls: dict[SysctlKey, SysctlValue] = Field(default_factory=dict)
    """Kernel settings by name, as sysctl.d(5) writes them: `vm.watermark_boost_factor`."""

    huge_pages: HugePagePolicy | None = None
    """Transparent huge pages."""
    governor: Governor | None = None
    """Of every CPU that is online."""
    units: dict[UnitName, UnitWish] = Field(default_factory=dict)
    """Units that are started at boot and run, or that are not and do not."""
    held: tuple[PackageName, ...] = ()
    """Packages that apt leaves as they are, as the driver's; they must be installed."""
    time_sync: TimeService | None = None
    """The one service that keeps the clock; the other one is turned off where it is there."""
    time_servers: tuple[TimeServer, ...] = ()
    """Whom that service asks: timesyncd these alone, chrony these beside those of its own files."""
    default_target: TargetName | None = None
    """What a boot goes to: `multi-user.target` for a Spark without a desktop."""
    watchdog: WatchdogPolicy | None = None
    oom_protected: tuple[UnitName, ...] = ()
    """Services that the kernel kills last when memory runs out, where they are there: what the host is reached by."""
    swap: SwapPolicy | None = None
    """A swap file of ours, beside what swap there is."""
    remove_ipc: bool | None = None
    """Does logind remove a user's shared memory at the end of the last session? `False` for engines."""
    linger: tuple[UserName, ...] = ()
    """Users whose processes outlive their last session; others are left as they are."""
    mounts: dict[MountPoint, MountPolicy] = Field(default_factory=dict)
    """NFS shares by where they are mounted."""
    modules: dict[ModuleName, dict[ParameterName, ParameterValue]] = Field(default_factory=dict)
    """Options of kernel modules."""
    tmpfiles: tuple[TmpfilePolicy, ...] = ()
    """Directories, and values below /sys, that every boot makes."""
    memory_guard: MemoryGuardPolicy | None = None
    """A service that kills one declared container before the host runs out of memory."""

    @property
    def settings(self) -> dict[str, str]:
        """The kernel settings by their path below /proc/sys."""
        return {canonical_key(key): same_value(str(value)) for key, value in self.sysctls.items()}

    @property
    def every_unit(self) -> dict[str, UnitWish]:
        """Every unit that it has a word about, those that keep the time among them."""
        keeps: dict[str, UnitWish] = {}
        if self.time_sync is not None:
            keeps = {unit: "enabled" if name == self.time_sync else "disabled" for name, unit in TIME_UNITS.items()}
        return keeps | self.units

    @model_validator(mode="after")
    def _each_by_itself(self) -> Self:
        for target in self.mounts:
            mount_wall(target)
        for name, wish in self.units.items():
            unit_wall(name, wish)
            if self.time_sync is not None and name in TIME_UNITS.values():
                raise wall(
                    "time_twice", f"units.{name}: expected time_sync alone to say what keeps the time, found both"
                )
        for name in self.oom_protected:
            if not name.endswith(".service"):
                raise wall("not_a_service", f"oom_protected: expected a service, found {name}")
        if self.time_servers and self.time_sync is None:
            raise wall("time_servers_alone", "time_servers: expected time_sync beside it, found none")
        return self

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        each_once("held", self.held)
        each_once("time_servers", self.time_servers)
        each_once("oom_protected", self.oom_protected)
        each_once("linger", self.linger)
        each_once("tmpfiles", (each.path for each in self.tmpfiles))
        return self

    @model_validator(mode="after")
    def _one_word_for_a_setting(self) -> Self:
        seen: dict[str, str] = {}
        for key in self.sysctls:
            other = seen.setdefault(canonical_key(key), key)
            if other != key:
                raise wall("sysctl_twice", f"sysctls: expected one value for a setting, found {other} and {key}")
        return self
