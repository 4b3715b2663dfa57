"""A finding: one thing that doctor has to say of a host, of the roster, or of what the controller keeps."""

from collections.abc import Iterable
from enum import StrEnum

from fleet.record import Record
from fleet.target import Scope


class Level(StrEnum):
    """How much it matters; a later one is graver."""

    INFO = "INFO"
    """Worth knowing, and as it may be."""
    WARN = "WARN"
    """Not as desired, or about to hurt: nothing is lost yet."""
    ERROR = "ERROR"
    """It does not work, a run would be refused, or nobody could look."""


class Finding(Record):
    """One thing that was found; `str()` is its line, and below it what would help."""

    level: Level
    id: str
    """Stable, with its domain first: `fabric.link_speed`. Each has a section in docs/reference/doctor.md."""
    host: str | None
    """None for what is about the site as a whole."""
    subject: str
    """What it is about, host first where there is one: `srv5 enp1s0f0np0`."""
    expected: str
    found: str
    fix: str | None = None
    """The command or the edit that would help. Doctor never runs it."""
    scope: Scope | None = None
    """The scope of the plan that would mend it; None where no plan does."""

    def __str__(self) -> str:
        line = f"{self.level} {self.id} {self.subject}: expected {self.expected}, found {self.found}"
        return line if self.fix is None else f"{line}\n  {self.fix}"


def gravest(findings: Iterable[Finding]) -> Level | None:
    """The gravest level; None where nothing was found."""
    order = tuple(Level)
    return max((each.level for each in findings), key=order.index, default=None)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each once: of the site first, then host by host, on each the gravest first."""
    order = tuple(reversed(Level))
    once = dict.fromkeys(findings)
    return tuple(sorted(once, key=lambda each: (each.host or "", order.index(each.level), each.id, each.subject)))
