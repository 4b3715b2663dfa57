"""The only place that decides: desired state and observations in, a plan or every refusal out. Pure."""

from collections.abc import Mapping

from pydantic import SerializeAsAny

from fleet.decide import Decided, considered
from fleet.foreign import lost_at_next_boot
from fleet.observation import Observation
from fleet.record import Record
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.step import Step
from fleet.target import Scope, Target


class HostPlan(Record):
    """What one Spark needs, in order; empty when it is as desired."""

    host: str
    steps: tuple[SerializeAsAny[Step], ...]
    notes: tuple[str, ...] = ()
    """What is there, is left alone, and is lost at the next boot."""


class Plan(Record):
    """What every Spark of a target needs. It leaves nothing to decide."""

    target: Target
    scope: Scope
    hosts: tuple[HostPlan, ...]

    @property
    def is_noop(self) -> bool:
        """Is everything as desired?"""
        return not any(each.steps for each in self.hosts)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step on every host."""
        return tuple(step for each in self.hosts for step in each.steps)


class Refusals(Record):
    """Why there is no plan: every reason, on every host of the target, at once."""

    refusals: tuple[Refusal, ...]


def plan(
    roster: Roster, target: Target, collection: Mapping[str, Observation], scope: Scope = Scope.SERVE
) -> Plan | Refusals:
    """The plan for a target, or every refusal; a host of it that nobody looked at is one.

    A target with a host that the roster does not enrol raises KeyError: `target_of` makes none.
    """
    decided = {host: _decided(roster, host, collection, scope) for host in sorted(target.hosts)}
    refusals = [each.outcome for found in decided.values() for each in found if isinstance(each.outcome, Refusal)]
    if refusals:
        return Refusals(refusals=tuple(dict.fromkeys(refusals)))
    return Plan(
        target=target,
        scope=scope,
        hosts=tuple(
            HostPlan(
                host=host,
                steps=tuple(each.outcome for each in found if isinstance(each.outcome, Step)),
                notes=lost_at_next_boot(roster.desired_for(host), collection[host]),
            )
            for host, found in decided.items()
        ),
    )


def _decided(roster: Roster, host: str, collection: Mapping[str, Observation], scope: Scope) -> tuple[Decided, ...]:
    if host not in collection:
        never = Refusal(code="unobserved", subject=host, expected="an observation", found="none at all")
        return (Decided("", host, (), never),)
    return tuple(considered(roster.desired_for(host), collection[host], scope))
