"""Kernel settings now and at boot: who sets them, in the order of sysctl.d(5) (systemd 255)."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import Field

from fleet.host.answer import answer
from fleet.record import Record
from fleet.transit.sysctl import canonical_key

__all__ = ["SysctlKey", "SysctlLine", "Sysctls", "canonical_key", "deciding", "parse_sysctls", "same_value"]

SysctlKey = Annotated[str, Field(pattern=r"^[a-z0-9_]+([./][A-Za-z0-9_:@./-]*[A-Za-z0-9_])+$", max_length=128)]
"""A setting, with dots or with slashes between its parts; no pattern, for one policy means one setting."""


WATCHED = (
    "vm/min_free_kbytes",
    "vm/watermark_boost_factor",
    "vm/watermark_scale_factor",
    "vm/swappiness",
    "vm/overcommit_memory",
    "vm/compaction_proactiveness",
    "vm/max_map_count",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/numa_balancing",
    "net/ipv4/ip_forward",
    "net/core/rmem_max",
    "net/core/wmem_max",
)
"""What a look asks for where nobody names settings: those that labs set on their Sparks (field notes, 2026-11)."""


class SysctlLine(Record):
    """One line of a file that systemd-sysctl reads and that is about a setting that was asked for."""

    path: str
    number: int
    """Its place in the file, from 1."""
    key: str
    """By its path below /proc/sys; `*` and `?` stand for parts of a name."""
    value: str | None
    """None where the line only takes the setting out of the patterns (`-net.ipv4.conf.lo.rp_filter`)."""

    @property
    def is_pattern(self) -> bool:
        """Does it mean every setting of a shape?"""
        return any(character in self.key for character in "*?[")

    def names(self, key: str) -> bool:
        """Is it about this setting? A `*` ends where a part ends, as for glob(3)."""
        mine, asked = self.key.split("/"), key.split("/")
        return len(mine) == len(asked) and all(map(fnmatchcase, asked, mine))

    def __str__(self) -> str:
        return f"{self.path} line {self.number}"


class Sysctls(Record):
    """The settings that were asked for, now and at boot."""

    now: dict[str, str | None]
    """By path below /proc/sys; None where this kernel has no such setting."""
    lines: tuple[SysctlLine, ...] = ()
    """In the order in which they are read at boot."""
    aside: tuple[SysctlLine, ...] = ()
    """Those of an /etc/sysctl.conf that no link in sysctl.d leads to: `sysctl --system` reads it last, a boot never."""


def deciding(lines: Iterable[SysctlLine], key: str) -> SysctlLine | None:
    """The line that has the last word about a setting; None where none has.

    A pattern never wins over a line that names the setting, even one without a value (sysctl.d(5)).
    """
    found, by_pattern = None, None
    for line in lines:
        if line.is_pattern:
            by_pattern = line if line.names(key) else by_pattern
        elif line.key == key:
            found = line
    return found or by_pattern


def same_value(value: str) -> str:
    """A value as it is compared: the kernel puts tabs between the parts of one that has several."""
    return " ".join(value.split())


def parse_sysctls(text: str) -> Sysctls:
    """The settings from the JSON of a look; raises ValueError."""
    found = answer(text)
    now = {key: None if value is None else same_value(value) for key, value in found["now"].items()}
    lines, aside = (tuple(_lines(each)) for each in (found["files"], found["aside"]))
    return Sysctls(now=now, lines=lines, aside=aside)


def _lines(files: Iterable[dict[str, object]]) -> Iterator[SysctlLine]:
    for file in files:
        for line in file["lines"]:  # type: ignore[attr-defined]
            yield SysctlLine(path=str(file["path"]), **line)
