"""How a run ended, from what was due, what was done, what is due now, and whether all is well. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from fleet.health import Finding
from fleet.health import Verdict as Health
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
    finished: bool = False
    """Was a run that had been cut off brought to its end?"""


NOTHING_DUE = Ran(acted=False)
NOT_READ_BACK = "what was done could not be read back; run it again to look"
"""Nobody can say then that it differs."""


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
    if isinstance(again, Refusals) and _are_blind(again.refusals):
        return Verdict(Outcome.FAILED, NOT_READ_BACK, again.refusals)
    if isinstance(again, Refusals):
        return Verdict(Outcome.DIFFERS, "what was read back cannot be planned", again.refusals)
    if not again.is_noop:
        left = "; ".join(step.subject for step in again.steps)
        return Verdict(Outcome.DIFFERS, f"{len(again.steps)} still due: {left}")
    bad = [each for each in findings if not each.is_good]
    if bad:
        is_blind = all(each.verdict is Health.UNOBSERVED for each in bad)
        return Verdict(Outcome.FAILED if is_blind else Outcome.DIFFERS, "; ".join(map(str, bad)))
    return Verdict(Outcome.CONVERGED if ran.acted or ran.finished else Outcome.FOUND_AS_DESIRED)


def _are_blind(refusals: Iterable[Refusal]) -> bool:
    """Do all of them say that nothing could be seen? That is no difference."""
    return all(each.code == "unobserved" for each in refusals)


def _not_carried_out(ran: Ran) -> Verdict:
    """Refused is what wrote nothing; once something was written, a refusal is a failure half way."""
    hosts = ", ".join(ran.failed)
    if ran.refusals and not ran.acted:
        return Verdict(Outcome.REFUSED, f"nothing was written on {hosts}", ran.refusals)
    if ran.differences and not ran.refusals and _are_blind(ran.differences):
        return Verdict(Outcome.FAILED, f"{hosts}: {NOT_READ_BACK}", ran.differences)
    if ran.differences and not ran.refusals:
        return Verdict(Outcome.DIFFERS, f"{hosts}: what was carried out is not there", ran.differences)
    said = (*ran.refusals, *ran.differences)
    return Verdict(Outcome.FAILED, f"{hosts} did not come to the end; run it again to finish", said)
