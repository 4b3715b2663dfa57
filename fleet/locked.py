"""What a lock on a host forbids: a run beside another's, and breaking what still lives."""

from fleet.lock import LockState, Taker
from fleet.observation import Observation, known
from fleet.refusal import Refusal


def lock_refusal(host: str, seen: Observation) -> Refusal | None:
    """Why a run may not change the host; None where nobody holds its lock, this run does, or a dead one of our own did.

    What the same owner left behind is taken over: a run that was killed is finished by the next. What another left is
    theirs to explain, so that takes a person who breaks it by their name.
    """
    if blind := seen.unobserved("lock"):
        return blind
    state = known(seen.lock)
    if state.held is None or state.taker is Taker.THIS_RUN:
        return None
    if is_left(state):
        return None
    return Refusal(
        code="locked",
        subject=f"{host} lock",
        expected="no other run on this host",
        found=f"{state.held}; {state.alive or state.gone}",
        hint="wait for its end" if state.alive else f"sparks unlock {host} --owner {state.held.owner}",
    )


def is_left(state: LockState) -> bool:
    """Has a dead run of our own left it? The next one may take it over, or away."""
    return state.held is not None and state.alive is None and state.taker is Taker.SAME_OWNER


def is_ending(state: LockState) -> bool:
    """Is a run of our own dead, and its last command still at work on the host? That ends by itself."""
    idle = state.replaced(at_work=False)
    return state.taker is Taker.SAME_OWNER and state.at_work and idle.alive is None


def unlock_refusal(host: str, owner: str, state: LockState) -> Refusal | None:
    """Why the lock of this owner may not be broken; None where it may, or there is none."""
    if state.held is None:
        return None
    if state.held.owner != owner:
        return Refusal(
            code="lock_of_another", subject=f"{host} lock", expected=f"one of {owner}", found=str(state.held)
        )
    if state.alive is None:
        return None
    return Refusal(
        code="lock_alive",
        subject=f"{host} lock",
        expected="the process of its run gone",
        found=f"{state.held}; {state.alive}",
        hint="end that run, or wait for its end",
    )
