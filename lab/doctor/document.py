"""What `sparks doctor` says, as one document."""

from typing import Literal

from fleet.doctor.finding import Finding, Level, gravest
from fleet.instant import Instant
from fleet.record import Digest, Record
from fleet.refusal import Refusal
from fleet.target import Scope


class FixPlan(Record):
    """What became of asking for a plan of one Spark that mends what was found."""

    host: str
    scope: Scope
    file: str | None = None
    """What `sparks apply` takes; None where there is none."""
    plan: Digest | None = None
    """None where it was refused."""
    refusals: tuple[Refusal, ...] = ()


class DoctorDocument(Record):
    """`sparks doctor --json`."""

    format: Literal[1] = 1
    observed_at: Instant
    hosts: tuple[str, ...]
    """The Sparks that were asked; none with --static."""
    level: Level | None
    """The gravest; None where nothing was found."""
    findings: tuple[Finding, ...]
    plans: tuple[FixPlan, ...] = ()
    """With --fix-plan."""

    @classmethod
    def of(
        cls, hosts: tuple[str, ...], findings: tuple[Finding, ...], plans: tuple[FixPlan, ...], now: Instant
    ) -> "DoctorDocument":
        """The document of one visit."""
        return cls(observed_at=now, hosts=hosts, level=gravest(findings), findings=findings, plans=plans)
