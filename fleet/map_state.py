"""How a thing on a map stands: one word, and what the plan said of it."""

from collections.abc import Iterable
from enum import StrEnum

from fleet.record import Record
from fleet.refusal import Refusal
from fleet.step import Step


class State(StrEnum):
    """Desired against observed, from harmless to grave."""

    AS_DESIRED = "as desired"
    """Observed, and nothing is left to do."""
    DECLARED = "declared"
    """The roster says so; no host was asked."""
    ONLY_NAMED = "only named"
    """Known and never touched, so never asked."""
    PENDING = "pending"
    """Observed, and a step would make it as desired."""
    NOT_OBSERVED = "not observed"
    """A look failed: nothing is known, and nothing is assumed."""
    REFUSED = "refused"
    """Observed, and something stands in the way."""


def gravity(state: State) -> int:
    """How grave a state is, from 0."""
    return tuple(State).index(state)


def worst(states: Iterable[State], of_none: State = State.AS_DESIRED) -> State:
    """The gravest of some states: a whole is no better than its parts."""
    return max(states, key=gravity, default=of_none)


def worst_of_ours(states: Iterable[State], of_none: State = State.AS_DESIRED) -> State:
    """The same where many Sparks come together: what is only named counts where there is nothing else."""
    found = set(states)
    return worst(found - {State.ONLY_NAMED} or found, of_none)


class Finding(Record):
    """One thing that the plan says of a Spark: a step that is due, a refusal, or a look that failed."""

    state: State
    """`pending`, `not observed` or `refused`."""
    code: str
    """The kind of a step or the code of a refusal."""
    subject: str
    expected: str
    found: str
    reason: str | None = None
    """Why a step is due."""
    hint: str | None = None
    """What would help against a refusal."""

    def __str__(self) -> str:
        if self.state is State.NOT_OBSERVED:
            return f"{self.subject}: {self.found}"
        return f"{self.subject}: expected {self.expected}, found {self.found}"


def finding(outcome: Step | Refusal) -> Finding:
    """What an outcome of a decision is on a map."""
    match outcome:
        case Step():
            return Finding(state=State.PENDING, code=outcome.kind, subject=outcome.subject, expected=outcome.after,
                           found=outcome.before, reason=outcome.reason)  # fmt: skip
        case Refusal():
            state = State.NOT_OBSERVED if outcome.code == "unobserved" else State.REFUSED
            return Finding(state=state, code=outcome.code, subject=outcome.subject, expected=outcome.expected,
                           found=outcome.found, hint=outcome.hint)  # fmt: skip
