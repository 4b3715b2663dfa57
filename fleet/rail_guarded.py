"""A rail end that is changed under guard: its document and its activation are one change, which undoes itself."""

from fleet.desired import DesiredEnd
from fleet.guard import GuardedChange, ToUp, cannot_be_undone
from fleet.keeper import BringUp
from fleet.links import find_link
from fleet.observation import Observation, known
from fleet.rail_active import active_step
from fleet.rail_document import WriteDocument, document_for, document_step
from fleet.rail_gid import RenewGid
from fleet.refusal import Refusal
from fleet.undoing import undoing

SECTIONS = ("links", "session")
"""What tells whether a change is guarded."""


def is_guarded(end: DesiredEnd, seen: Observation) -> bool:
    """Must a change of this end undo itself? By the roster's word, or since SSH may come in over it.

    The sections must have been observed.
    """
    return end.guarded or known(seen.session).may_be_carried_by(end.interface, known(seen.links))


def durable_step(end: DesiredEnd, seen: Observation) -> WriteDocument | Refusal | None:
    """What makes the end's document durable by itself; under guard that is a part of `running_step`."""
    if blind := seen.unobserved(*SECTIONS):
        return blind
    return None if is_guarded(end, seen) else document_step(end, seen)


def running_step(end: DesiredEnd, seen: Observation) -> BringUp | GuardedChange | Refusal | None:
    """What makes the end active, and under guard durable with it."""
    if blind := seen.unobserved(*SECTIONS):
        return blind
    return _guarded_step(end, seen) if is_guarded(end, seen) else active_step(end, seen)


def _guarded_step(end: DesiredEnd, seen: Observation) -> GuardedChange | Refusal | None:
    document, active = document_step(end, seen), active_step(end, seen)
    if isinstance(document, Refusal):
        return document
    if isinstance(active, Refusal):
        return active
    steps = [step for step in (document, active) if isinstance(step, WriteDocument | BringUp)]
    link = find_link(known(seen.links), end.interface)
    if not steps or link is None:
        return None
    up = _up(end, active, seen)
    if isinstance(up, Refusal):
        return up
    back = undoing(end.spark, link, up, seen)
    if isinstance(back, Refusal):
        return back
    return GuardedChange(
        subject=f"{end.spark} {end.interface}",
        before=", ".join(step.before for step in steps),
        after=", ".join(step.after for step in steps),
        reason=f"{_why(end)}: undone after {end.guard_seconds} s unless a fresh SSH connection confirms it",
        documents=(document.document,) if isinstance(document, WriteDocument) else (),
        profiles=(up,),
        undoing=(back,),
        window_seconds=end.guard_seconds,
        reach=(str(end.address.ip),),
    )


def _up(end: DesiredEnd, active: BringUp | None, seen: Observation) -> ToUp | Refusal:
    """The profile to bring up; that of an adopted file may have no uuid of its own, and is found by its file."""
    uuid: str | None = document_for(end).uuid
    if active is not None and active.keeper.uuid is None:
        profile = active.keeper.profile(known(seen.connections))
        uuid = None if profile is None else profile.uuid
    if uuid is None:
        return cannot_be_undone(str(end), "the profile of the adopted file loaded", "none of that file")
    return ToUp(uuid=uuid, interface=end.interface, anew=isinstance(active, RenewGid))


def _why(end: DesiredEnd) -> str:
    return "the fabric is guarded" if end.guarded else "SSH comes in over it"
