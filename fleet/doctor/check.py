"""A check: one question that doctor asks of a host or of a site, with why it matters and what helps. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from fleet.desired import DesiredSpark
from fleet.doctor.finding import Finding, Level
from fleet.fit.admission import NOBODY, Admission
from fleet.observation import Observation
from fleet.ollama.disrupt import Drained
from fleet.roster import Roster
from fleet.target import Scope


class Host(NamedTuple):
    """What a check of a host goes by."""

    desired: DesiredSpark
    seen: Observation
    drained: Drained = frozenset()
    """Digests of the serving processes that were drained."""
    admission: Admission = NOBODY
    ssh: str | None = None
    """The command by which whoever looks reaches it, for a shell; by its name alone where None."""


class Reached(NamedTuple):
    """How the inventory reaches a Spark, as far as that is known without asking it."""

    host: str
    place: str
    """The name or the address that is called."""
    unresolved: str | None = None
    """Why the name means no address here; None where it means one."""
    pinned: bool = True
    """Is there a host key for it in the site's known_hosts?"""
    known_hosts: str = ""
    """The file."""


class Site(NamedTuple):
    """What a check of a roster goes by."""

    roster: Roster
    reached: tuple[Reached, ...] = ()
    unread: str | None = None
    """Why the hosts of its inventory could not be read; None where they were."""


class Found(NamedTuple):
    """One thing that a check has found."""

    subject: str
    expected: str
    found: str
    fix: str | None = None
    host: str | None = None
    level: Level | None = None
    """Where it is another than the check's own."""


T = TypeVar("T")


@dataclass(frozen=True)
class Check(Generic[T]):
    """One question, asked of a `Host` or of a `Site`."""

    id: str
    level: Level
    looks_for: str
    """What it checks: a sentence."""
    why: str
    """Why that matters."""
    fix: str
    """What helps, for people."""
    find: Callable[[T], Iterable[Found]]
    sections: tuple[str, ...] = ()
    """The sections of an observation that it cannot do without: where one was not observed, it says nothing."""
    scope: Scope | None = None
    """The scope of the plan that would mend what it finds."""

    def findings(self, asked: T, host: str | None = None) -> tuple[Finding, ...]:
        """Everything that it finds."""
        return tuple(
            Finding(
                level=each.level or self.level, id=self.id, host=each.host or host, subject=each.subject,
                expected=each.expected, found=each.found, fix=each.fix, scope=self.scope,
            )
            for each in self.find(asked)
        )  # fmt: skip


HostCheck = Check[Host]
SiteCheck = Check[Site]
