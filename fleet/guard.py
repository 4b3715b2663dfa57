"""A change that undoes itself unless a fresh SSH connection confirms it: what it takes, and what forbids it."""

from typing import Annotated, ClassVar, Literal

from fleet.netplan.document import NetplanDocument
from fleet.observation import Observation, known
from fleet.record import Record
from fleet.refusal import Refusal
from fleet.step import FOUND, TOUCH_PORTS, Effect, Step
from fleet.trial import Guard


class ToUp(Record):
    """A profile to bring up on an interface."""

    uuid: str
    interface: str
    anew: bool = False
    """Is its address taken away first, so that the kernel makes its GID anew?"""


class Undoing(Record):
    """What brings an interface back once the files are as before."""

    interface: str
    uuid: str
    """The profile that was up, or where none was the one that goes down."""
    was_up: bool


class GuardedChange(Step):
    """Try files under /run/netplan and bring profiles up; move them to /etc once a fresh connection confirms it."""

    follows: ClassVar[frozenset[str]] = TOUCH_PORTS

    kind: Literal["guarded_change"] = "guarded_change"
    effect: Effect = Effect.GUARDED
    documents: tuple[NetplanDocument, ...] = ()
    """What is written."""
    removed: tuple[str, ...] = ()
    """Paths under /etc/netplan that go."""
    profiles: tuple[ToUp, ...]
    undoing: Annotated[tuple[Undoing, ...], FOUND]
    window_seconds: int
    reach: tuple[str, ...] = ()
    """Addresses, besides the inventory's, where the host may answer afterwards."""


def guard_refusal(host: str, seen: Observation) -> Refusal | None:
    """Why a host cannot be changed under guard; None when it can."""
    if blind := seen.unobserved("session"):
        return blind
    if refusal := guard_at_work(host, seen):
        return refusal
    if known(seen.session).ssh is None:
        return Refusal(
            code="guard_without_ssh",
            subject=f"{host} guard",
            expected="SSH, since a fresh connection confirms the change",
            found="another way to the host",
        )
    return _cannot_arm(host, known(seen.guard))


def guard_at_work(host: str, seen: Observation) -> Refusal | None:
    """A refusal where a trial has not ended: nothing on the host stays as it is seen."""
    if blind := seen.unobserved("guard"):
        return blind
    trial = known(seen.guard).trial
    if trial is None:
        return None
    if not trial.is_armed:
        return Refusal(
            code="guard_abandoned",
            subject=f"{host} guard",
            expected="its timer to undo what nobody confirms",
            found=f"a trial without one, by {trial.by}",
            hint=f"sudo sh {trial.script} restore, on the host",
        )
    return Refusal(
        code="guard_armed",
        subject=f"{host} guard",
        expected="no trial of another run",
        found=f"one by {trial.by}, undone within {trial.seconds} s of that unless it is confirmed",
        hint="wait for its end",
    )


def _cannot_arm(host: str, guard: Guard) -> Refusal | None:
    if not guard.missing:
        return None
    return Refusal(
        code="guard_unavailable",
        subject=f"{host} guard",
        expected="what a change that undoes itself needs",
        found=f"no {', no '.join(guard.missing)}",
    )


def cannot_be_undone(subject: str, expected: str, found: str) -> Refusal:
    """The refusal of a change whose old state nothing could bring back."""
    return Refusal(
        code="cannot_be_undone",
        subject=subject,
        expected=expected,
        found=found,
        hint="make that state durable first, or come in over another connection",
    )
