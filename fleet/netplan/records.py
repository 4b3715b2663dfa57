"""What the netplan directories of one Spark hold, as netplan and NetworkManager understand it."""

from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Literal

from fleet.record import Record


class Directory(StrEnum):
    """Where netplan looks; a file hides those of the same name in the directories before it."""

    LIB = "lib"
    ETC = "etc"
    RUN = "run"

    @property
    def survives_reboot(self) -> bool:
        """/run is memory: what is only there is lost at the next boot."""
        return self is not Directory.RUN


class ErrorKind(StrEnum):
    """Why a file could not be taken as it is."""

    UNREADABLE = "unreadable"
    """It is there, and it could not be read as a text file."""
    INVALID_YAML = "invalid_yaml"
    """Netplan refuses the whole hierarchy for it."""
    REJECTED = "rejected"
    """Valid YAML that netplan refuses, again with the whole hierarchy."""


class NetplanFileError(Record):
    """One complaint about a file; it never quotes the file."""

    kind: ErrorKind
    reason: str
    """What is wrong, in words from a fixed list."""
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = f" at line {self.line}" if self.line else ""
        return f"{self.reason}{place}"


class Problem(Record):
    """A setting that netplan rejects, by its place in the file."""

    place: str
    """As `network.ethernets.enP7s7.mtu`; what may be personal in it is redacted."""
    reason: str
    line: int | None = None


class Route(Record):
    """One static route; `default` is written out as 0.0.0.0/0 or ::/0."""

    to: str
    via: str | None = None
    metric: int | None = None
    table: int | None = None
    source: str | None = None
    scope: str | None = None
    type: str | None = None
    on_link: bool = False

    @property
    def is_default(self) -> bool:
        """Does it match every destination?"""
        return self.to.endswith("/0")


class Binds(Record):
    """Which interface a definition really applies to: `interface` alone, or all that meet every criterion.

    No interface and no criterion means any interface of the definition's kind.
    """

    interface: str | None = None
    """Exactly this one."""
    names: tuple[str, ...] = ()
    """Shell patterns, one of which must match; `!` before a pattern excludes."""
    drivers: tuple[str, ...] = ()
    macaddress: str | None = None
    """Lower case."""

    @property
    def how(self) -> Literal["interface", "match", "any"]:
        """By exact name, by criteria, or without restriction."""
        if self.interface is not None:
            return "interface"
        return "match" if self.names or self.drivers or self.macaddress else "any"

    @property
    def is_certain(self) -> bool:
        """Can a name alone tell whether it hits?"""
        return self.interface is not None or not (self.drivers or self.macaddress)

    def may_bind(self, interface: str, macaddress: str | None = None) -> bool:
        """Could it hit that interface? A criterion that cannot be judged from here counts as met."""
        if self.macaddress and macaddress and self.macaddress != macaddress.lower():
            return False
        if self.interface is not None:
            return self.interface == interface
        wanted = [name for name in self.names if not name.startswith("!")]
        unwanted = [name[1:] for name in self.names if name.startswith("!")]
        return (not wanted or any(fnmatchcase(interface, name) for name in wanted)) and not any(
            fnmatchcase(interface, name) for name in unwanted
        )
