"""Why a trial does not begin, or does not end well, where that is known only to whoever carries it out. Pure."""

from collections.abc import Sequence

from fleet.drain import Drain
from fleet.refusal import Refusal
from fleet.step import Step
from fleet.target import Scope


def not_as_desired(host: str, scope: Scope, due: Sequence[Step]) -> Refusal:
    """Something is due before the kernel is tried."""
    return Refusal(
        code="trial_not_as_desired",
        subject=f"{host} {scope}",
        expected="nothing due before another kernel is tried",
        found="; ".join(step.subject for step in due),
        hint=f"sparks converge {host} --scope {scope}",
    )


def not_drained(host: str, found: Drain) -> Refusal:
    """Requests may still run."""
    return Refusal(
        code="trial_not_drained",
        subject=f"{host} serving",
        expected="no request running before the boot",
        found=str(found),
        hint=f"sparks drain {host}",
    )


def not_persisted(host: str, release: str, found: str) -> Refusal:
    """The kernel has qualified and is not the default."""
    return Refusal(
        code="trial_not_persisted",
        subject=f"{host} kernel",
        expected=f"{release} made the default, and nothing else",
        found=found,
        hint=f"sparks plan {host} --scope kernel",
    )
