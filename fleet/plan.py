"""The only place that decides: desired state and observations in, a plan or every refusal out. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pydantic import SerializeAsAny

from fleet.desired import DesiredSpark
from fleet.foreign import lost_at_next_boot
from fleet.guard import guard_at_work
from fleet.management_step import management_step
from fleet.observation import Observation, known
from fleet.ollama.decide import evict_steps, model_step, resident_step, service_step
from fleet.rail_guarded import durable_step, running_step
from fleet.record import Record, Unobserved
from fleet.refusal import Refusal
from fleet.revert import RemoveFile, declared_refusals, revert_steps
from fleet.roster import Roster
from fleet.step import Step
from fleet.transit.decide import transit_steps


class HostPlan(Record):
    """What one Spark needs, in order; empty when it is as desired."""

    host: str
    steps: tuple[SerializeAsAny[Step], ...]
    notes: tuple[str, ...] = ()
    """What is there, is left alone, and is lost at the next boot."""


class Plan(Record):
    """What every Spark of a target needs. It leaves nothing to decide."""

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


class Decided(NamedTuple):
    """A step or a refusal, and the ports of those rail ends that it is about: none for the rest of the Spark."""

    ports: tuple[str, ...]
    outcome: Step | Refusal


def plan(roster: Roster, collection: Mapping[str, Observation]) -> Plan | Refusals:
    """The plan for the observed hosts, or every refusal.

    A host that is not an enrolled Spark of the roster raises KeyError: a target is exact, and its caller
    has made it so.
    """
    outcomes = {host: tuple(decide(roster.desired_for(host), seen)) for host, seen in sorted(collection.items())}
    refusals = tuple(each for found in outcomes.values() for each in found if isinstance(each, Refusal))
    if refusals:
        return Refusals(refusals=_once(refusals))
    return Plan(
        hosts=tuple(
            HostPlan(
                host=host,
                steps=tuple(each for each in found if isinstance(each, Step)),
                notes=lost_at_next_boot(roster.desired_for(host), collection[host]),
            )
            for host, found in outcomes.items()
        )
    )


def decide(desired: DesiredSpark, seen: Observation) -> Iterator[Step | Refusal]:
    """What one Spark needs, and what stands in the way, in the order in which a deploy would do it."""
    return (each.outcome for each in decide_by_port(desired, seen))


def decide_by_port(desired: DesiredSpark, seen: Observation) -> Iterator[Decided]:
    """The same, each with the rail ends that cannot be called as desired for it."""
    ports = tuple(end.interface for end in desired.rail_ends)
    if blind := seen.blind:
        yield Decided(ports, blind)
        return
    yield from _about(ports, another_machine(desired, seen))
    at_work = guard_at_work(desired.name, seen)
    yield from _about(ports, at_work)
    if at_work is not None and not isinstance(seen.guard, Unobserved):
        return
    for outcome in (*declared_refusals(desired, seen), *revert_steps(desired, seen)):
        yield from _about(outcome.ports if isinstance(outcome, RemoveFile) else (), outcome)
    for end in desired.rail_ends:
        yield from _about((end.interface,), durable_step(end, seen))
    for end in desired.rail_ends:
        yield from _about((end.interface,), running_step(end, seen))
    yield from _about((), *transit_steps(desired, seen))
    yield from _about((), management_step(desired, seen))
    yield from _about((), *_ollama(desired, seen))


def _about(ports: tuple[str, ...], *outcomes: Step | Refusal | None) -> Iterable[Decided]:
    return (Decided(ports, each) for each in outcomes if each is not None)


def another_machine(desired: DesiredSpark, seen: Observation) -> Refusal | None:
    """A refusal when it is not the machine that the roster names: cloned images share one host key."""
    expected = desired.spark.machine_id
    if expected is None:
        return None
    if blind := seen.unobserved("machine"):
        return blind
    found = known(seen.machine).machine_id_digest
    if found == expected:
        return None
    return Refusal(code="another_machine", subject=f"{seen.host} machine-id", expected=expected, found=str(found))


def _ollama(desired: DesiredSpark, seen: Observation) -> Iterator[Step | Refusal]:
    ollama = desired.ollama
    if ollama is None:
        return
    steps: list[Step | Refusal | None] = [service_step(ollama, seen)]
    steps += [model_step(pin, seen) for pin in ollama.models]
    steps += evict_steps(ollama, seen)
    steps += [resident_step(pin, ollama, seen) for pin in ollama.residents]
    yield from (each for each in steps if each is not None)


def _once(refusals: tuple[Refusal, ...]) -> tuple[Refusal, ...]:
    """The same reason can stand before several steps; people need to read it once."""
    return tuple(dict.fromkeys(refusals))
