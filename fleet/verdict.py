"""How a run ended, from what was due, what was done, what is due now, and whether all is well. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from fleet.health import Finding
from fleet.outcome import Outcome
from fleet.plan import Plan, Refusals
from fleet.refusal import Refusal


class Ran(NamedTuple):
    """What became of carrying a plan out."""

    acted: bool
    """Did anything begin to be written on any host?"""
    failed: tuple[str, ...] = ()
    """The hosts that did not come to the end."""
    refusals: tuple[Refusal, ...] = ()
    """What operations refused, on whichever host."""
    differences: tuple[Refusal, ...] = ()
    """What was carried out and was not there when it was looked for."""


NOTHING_DUE = Ran(acted=False)


class Verdict(NamedTuple):
    """The outcome, why in a few words, and what stands in the way."""

    outcome: Outcome
    reason: str | None = None
    refusals: tuple[Refusal, ...] = ()


def verdict(ran: Ran, again: Plan | Refusals, findings: Iterable[Finding]) -> Verdict:
    """The end of a run whose target was looked at once more.

    + again: the plan made from that look
    + findings: of health, on every host
    """
    if ran.failed:
        return _not_carried_out(ran)
    if isinstance(again, Refusals):
        return Verdict(Outcome.DIFFERS, "what was read back cannot be planned", again.refusals)
    if not again.is_noop:
        left = "; ".join(step.subject for step in again.steps)
        return Verdict(Outcome.DIFFERS, f"{len(again.steps)} still due: {left}")
    bad = [each for each in findings if not each.is_good]
    if bad:
        return Verdict(Outcome.DIFFERS, "; ".join(map(str, bad)))
    return Verdict(Outcome.CONVERGED if ran.acted else Outcome.FOUND_AS_DESIRED)


def _not_carried_out(ran: Ran) -> Verdict:
    """Refused is what wrote nothing; once something was written, a refusal is a failure half way."""
    hosts = ", ".join(ran.failed)
    if ran.refusals and not ran.acted:
        return Verdict(Outcome.REFUSED, f"nothing was written on {hosts}", ran.refusals)
    if ran.differences and not ran.refusals:
        return Verdict(Outcome.DIFFERS, f"{hosts}: what was carried out is not there", ran.differences)
    said = (*ran.refusals, *ran.differences)
    return Verdict(Outcome.FAILED, f"{hosts} did not come to the end; run it again to finish", said)
