"""What `sparks converge`, `apply` and `readback` found, as one document."""

from fleet.health import Finding
from fleet.outcome import Outcome
from fleet.record import Digest, Record
from fleet.refusal import Refusal
from fleet.target import Scope, Target


class Converged(Record):
    """`sparks converge --json`, and that of `apply`."""

    target: Target
    scope: Scope
    plan: Digest | None
    """None where there was none, since it was refused."""
    outcome: Outcome
    reason: str | None
    refusals: tuple[Refusal, ...]
    findings: tuple[Finding, ...]
    """Of health; none where the plan was not carried out to its end."""
    receipt: str
    """The name of the receipt that says the same."""


class Readback(Record):
    """`sparks readback --json`."""

    target: Target
    scope: Scope
    plan: Digest | None
    due: tuple[str, ...]
    """The steps that a run would carry out now; none where all is as desired."""
    refusals: tuple[Refusal, ...]
    findings: tuple[Finding, ...]
