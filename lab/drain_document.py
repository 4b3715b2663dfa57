"""What `sparks drain` found, as one document."""

from fleet.drain import Drain, End
from fleet.outcome import Outcome
from fleet.record import Record
from fleet.refusal import Refusal


class Drains(Record):
    """`sparks drain --json`."""

    target: str
    receipt: str | None
    """The name of the receipt that says the same; None where the target was refused, so that nothing was begun."""
    outcome: Outcome
    drains: tuple[Drain, ...]
    """One for each host that could be waited for."""
    refusals: tuple[Refusal, ...] = ()


def outcome_of(drains: tuple[Drain, ...], refusals: tuple[Refusal, ...]) -> Outcome:
    """Where no process runs it was as desired before: nothing is served."""
    if any(each.code != "drain_failed" for each in refusals):
        return Outcome.REFUSED
    if refusals or any(each.end in (End.TIMEOUT, End.GONE) for each in drains):
        return Outcome.FAILED
    nothing = all(each.end is End.NOTHING for each in drains)
    return Outcome.FOUND_AS_DESIRED if nothing else Outcome.DRAINED
