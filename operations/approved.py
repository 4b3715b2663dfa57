"""What was approved for a run: while it executes, nothing is carried out but that.

Operations work on their own in anybody's deploy: a run that has no plan needs no approval. One of our deploys makes a
plan first, and from then on the run is bound to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

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


@dataclass
class _Bound:
    """A run that has a plan."""

    approved: Mapping[str, Approved] = field(default_factory=dict)
    """By host."""
    carried_out: dict[str, set[str]] = field(default_factory=dict)
    """By host, the kinds of the steps that this run has carried out there."""


_BOUND: WeakKeyDictionary[State, _Bound] = WeakKeyDictionary()


def bind(state: State, approved: Mapping[str, Approved]) -> None:
    """From now on the run carries nothing out but what is approved, by host; nothing at all on other hosts."""
    _BOUND[state] = _Bound(approved)


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


def carried_out(host: Host, step: Step) -> None:
    """A step was carried out: what those that follow it find may have moved by it."""
    if host.state.is_executing and (bound := _BOUND.get(host.state)) is not None:
        bound.carried_out.setdefault(host.name, set()).add(step.kind)
