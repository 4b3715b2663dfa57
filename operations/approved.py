"""What was approved for a run: while it executes, nothing is carried out but that.

Operations work on their own in anybody's deploy: a run that has no plan needs no approval. One of our deploys makes a
plan first, and from then on the run is bound to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from weakref import WeakKeyDictionary

from pyinfra import logger
from pyinfra.api import Host, State

from fleet.approval import Approval, unapproved
from fleet.plan import Plan
from fleet.refusal import Refusal
from fleet.step import Step


@dataclass(frozen=True)
class Approved:
    """A plan, and the word of whoever looked at it."""

    plan: Plan
    approval: Approval


class Watcher(Protocol):
    """Whoever wants to know of each step, as a receipt does."""

    def step_begun(self, host: str, step: Step) -> None:
        """Before the first byte of it crosses the network; what it raises stops the step."""

    def step_done(self, host: str, step: Step) -> None:
        """After its command has ended well."""

    def going_on(self, host: str, line: str) -> None:
        """What a step that takes long says on its way."""

    def refused(self, host: str, refusal: Refusal) -> None:
        """An operation says why it goes no further."""

    def differs(self, host: str, refusal: Refusal) -> None:
        """What was carried out is not there when it is looked for, in all the time that it has."""


@dataclass
class _Bound:
    """A run that has a plan."""

    approved: Mapping[str, Approved] = field(default_factory=dict)
    """By host."""
    carried_out: dict[str, set[str]] = field(default_factory=dict)
    """By host, the kinds of the steps that this run has carried out there."""
    watcher: Watcher | None = None


_BOUND: WeakKeyDictionary[State, _Bound] = WeakKeyDictionary()


def bind(state: State, approved: Mapping[str, Approved], watcher: Watcher | None = None) -> None:
    """From now on the run carries nothing out but what is approved, by host; nothing at all on other hosts."""
    _BOUND[state] = _Bound(approved, watcher=watcher)


def approved_for(host: Host) -> Approved | None:
    """What was approved for a host; None where nothing was, or in a run without a plan."""
    bound = _BOUND.get(host.state)
    return None if bound is None else bound.approved.get(host.name)


def not_approved(host: Host, steps: Sequence[Step]) -> tuple[Refusal, ...]:
    """Why a run may not carry these steps out now; empty where it may, and while it does not execute yet."""
    bound = _BOUND.get(host.state)
    if bound is None or not host.state.is_executing:
        return ()
    approved = bound.approved.get(host.name)
    planned = None if approved is None else approved.plan.host(host.name).steps
    done = frozenset(bound.carried_out.get(host.name, ()))
    found = (unapproved(planned, step, done) for step in steps if step.is_planned)
    return tuple(dict.fromkeys(each for each in found if each is not None))


def begins(host: Host, step: Step) -> None:
    """A step is about to be carried out."""
    if (watcher := _watcher(host)) is not None:
        watcher.step_begun(host.name, step)


def carried_out(host: Host, step: Step) -> None:
    """A step was carried out: what those that follow it find may have moved by it."""
    if host.state.is_executing and (bound := _BOUND.get(host.state)) is not None:
        bound.carried_out.setdefault(host.name, set()).add(step.kind)
    if (watcher := _watcher(host)) is not None:
        watcher.step_done(host.name, step)


def going_on(host: Host, line: str) -> None:
    """A step that takes long has said something on its way; who has no watcher reads it as pyinfra tells things."""
    if (watcher := _watcher(host)) is not None:
        watcher.going_on(host.name, line)
    else:
        logger.info(f"{host.print_prefix}{line}")


def refused(host: Host, refusals: Sequence[Refusal]) -> None:
    """An operation has said why it goes no further."""
    if (watcher := _watcher(host)) is not None:
        for each in refusals:
            watcher.refused(host.name, each)


def differs(host: Host, refusal: Refusal) -> None:
    """What was carried out is not there."""
    if (watcher := _watcher(host)) is not None:
        watcher.differs(host.name, refusal)


def _watcher(host: Host) -> Watcher | None:
    bound = _BOUND.get(host.state)
    return bound.watcher if bound is not None and host.state.is_executing else None
