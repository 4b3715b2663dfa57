"""What `sparks converge`, `apply` and `readback` found, as one document."""

from typing import Self

from fleet.health import Finding
from fleet.outcome import Outcome
from fleet.plan import Refusals
from fleet.record import Digest, Record
from fleet.refusal import Refusal
from fleet.target import Scope, Target


class Converged(Record):
    """`sparks converge --json`, and that of `apply`."""

    target: Target | None
    """None where what was named is none, so that no run was begun."""
    scope: Scope
    plan: Digest | None
    """None where there was none, since it was refused."""
    outcome: Outcome
    reason: str | None
    refusals: tuple[Refusal, ...]
    findings: tuple[Finding, ...]
    """Of health; none where the plan was not carried out to its end."""
    receipt: str | None
    """The name of the receipt that says the same; None where no run was begun."""

    @classmethod
    def no_target(cls, scope: Scope, refusals: Refusals) -> Self:
        """What is said where the target is refused."""
        return cls(target=None, scope=scope, plan=None, outcome=Outcome.REFUSED, reason="nothing was written",
                   refusals=refusals.refusals, findings=(), receipt=None)  # fmt: skip


class Readback(Record):
    """`sparks readback --json`."""

    target: Target | None
    """None where what was named is none."""
    scope: Scope
    plan: Digest | None
    due: tuple[str, ...]
    """The steps that a run would carry out now; none where all is as desired."""
    refusals: tuple[Refusal, ...]
    findings: tuple[Finding, ...]

    @classmethod
    def no_target(cls, scope: Scope, refusals: Refusals) -> Self:
        """What is said where the target is refused."""
        return cls(target=None, scope=scope, plan=None, due=(), refusals=refusals.refusals, findings=())
