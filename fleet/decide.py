"""What one Spark needs: every decision about it, in the order in which a deploy carries it out. Pure."""

from collections.abc import Iterator
from typing import NamedTuple

from fleet.beside import ALONE, Beside
from fleet.desired import DesiredSpark
from fleet.fit.admission import NOBODY, Admission
from fleet.guard import guard_at_work
from fleet.hardware import INTERFACES
from fleet.host.decide import PARTS, part_steps
from fleet.kernel.decide import KERNEL_PARTS, kernel_steps
from fleet.locked import lock_refusal
from fleet.management_step import management_step
from fleet.observation import Observation, known
from fleet.ollama.decide import evict_steps, model_step, resident_step, service_step
from fleet.ollama.deployment import UNIT, OllamaDeployment
from fleet.ollama.disrupt import Drained, undrained
from fleet.ollama.fit import admitted
from fleet.ollama.offer import offer_step
from fleet.ollama.program_due import install_step
from fleet.ollama.retire import RUNTIME, retire_step
from fleet.rail_guarded import durable_step, running_step
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.revert import RemoveFile, declared_refusals, revert_steps
from fleet.step import Step
from fleet.target import Scope
from fleet.transit.decide import transit_steps

MACHINE, LOCK, GUARD = "machine", "lock", "guard"
"""Decided before anything else; no operation makes these so."""
FILES_OF_OTHERS, TRANSIT, MANAGEMENT = "files of others", "transit between rails", "management"
OLLAMA_PROGRAM, OLLAMA_SETTINGS = "ollama program", "ollama settings"
OLLAMA_MODELS, OLLAMA_RESIDENTS = "ollama models", "ollama residents"
"""The operations of our deploys by their names; those of rail ends have `durable` and `active`."""
OLLAMA_OFFERS = "ollama offers"
"""Before models: what another Spark copies from this one."""
OLLAMA_STOPS_FIRST, OLLAMA_STOPS = "ollama stops first", "ollama stops"
"""Where it serves no more: before the operations that serve elsewhere, and after them."""
GENERATION = "generation stamp"
"""The last operation of a deploy; no decision is about it."""


def durable(interface: str) -> str:
    """The name of the operation that makes a rail end durable."""
    return f"{interface} durable"


def active(interface: str) -> str:
    """The name of the operation that makes a rail end active."""
    return f"{interface} active"


OPERATIONS = frozenset(
    (
        FILES_OF_OTHERS,
        *map(durable, INTERFACES),
        *map(active, INTERFACES),
        TRANSIT,
        MANAGEMENT,
        OLLAMA_PROGRAM,
        OLLAMA_SETTINGS,
        OLLAMA_OFFERS,
        OLLAMA_MODELS,
        OLLAMA_RESIDENTS,
        OLLAMA_STOPS_FIRST,
        OLLAMA_STOPS,
        *KERNEL_PARTS,
        *PARTS,
    )
)
"""Every operation that a plan is about."""


class Decided(NamedTuple):
    """What was decided about one thing."""

    operation: str
    """The name of the operation that makes it so."""
    subject: str
    """The thing, in words, without its host."""
    ports: tuple[str, ...]
    """The ports of those rail ends that it is about; none for the rest of the Spark."""
    outcome: Step | Refusal | None
    """None where it needs nothing."""


def decide(
    desired: DesiredSpark, seen: Observation, scope: Scope = Scope.SERVE, drained: Drained = frozenset()
) -> Iterator[Step | Refusal]:
    """What one Spark needs, and what stands in the way."""
    return (each.outcome for each in considered(desired, seen, scope, drained) if each.outcome is not None)


def decide_by_port(desired: DesiredSpark, seen: Observation) -> Iterator[tuple[tuple[str, ...], Step | Refusal]]:
    """The same, each with the rail ends that cannot be called as desired for it."""
    return ((each.ports, each.outcome) for each in considered(desired, seen) if each.outcome is not None)


def considered(
    desired: DesiredSpark,
    seen: Observation,
    scope: Scope = Scope.SERVE,
    drained: Drained = frozenset(),
    admission: Admission = NOBODY,
    beside: Beside = ALONE,
) -> Iterator[Decided]:
    """Every decision about one Spark. Where it cannot be seen at all, or a guard is at work, there is no other.

    + drained: digests of the serving processes that were drained, and so may be disrupted whoever started them
    + admission: what is known to have fitted, and what shall be tried for the first time
    + beside: the other Sparks of the run
    """
    ports = tuple(end.interface for end in desired.rail_ends)
    if blind := seen.blind:
        yield Decided(MACHINE, MACHINE, ports, blind)
        return
    yield Decided(MACHINE, MACHINE, ports, another_machine(desired, seen))
    yield Decided(LOCK, LOCK, (), lock_refusal(desired.name, seen))
    at_work = guard_at_work(desired.name, seen)
    yield Decided(GUARD, GUARD, ports, at_work)
    if at_work is not None and not isinstance(seen.guard, Unobserved):
        return
    if scope.includes(Scope.KERNEL):
        for part in KERNEL_PARTS:
            yield from _each(part, part, kernel_steps(part, desired, seen))
    if scope.includes(Scope.HOST):
        for part in PARTS:
            yield from _each(part, part, part_steps(part, desired, seen))
        return
    if scope.includes(Scope.FABRIC):
        yield from _fabric(desired, seen)
    if scope.includes(Scope.SERVE):
        yield from _ollama(desired, seen, drained, admission, beside)


def _fabric(desired: DesiredSpark, seen: Observation) -> Iterator[Decided]:
    for outcome in (*declared_refusals(desired, seen), *revert_steps(desired, seen)) or (None,):
        ports = outcome.ports if isinstance(outcome, RemoveFile) else ()
        yield Decided(FILES_OF_OTHERS, FILES_OF_OTHERS, ports, outcome)
    by_port = sorted(desired.rail_ends, key=lambda end: INTERFACES.index(end.interface))
    for end in by_port:
        name = durable(end.interface)
        yield Decided(name, name, (end.interface,), durable_step(end, seen))
    for end in by_port:
        name = active(end.interface)
        yield Decided(name, name, (end.interface,), running_step(end, seen))
    yield from _each(TRANSIT, TRANSIT, transit_steps(desired, seen))
    yield Decided(MANAGEMENT, MANAGEMENT, (), management_step(desired, seen))


def _ollama(
    desired: DesiredSpark, seen: Observation, drained: Drained, admission: Admission, beside: Beside
) -> Iterator[Decided]:
    ollama: OllamaDeployment | None = desired.ollama
    for offer in beside.offers:
        yield Decided(OLLAMA_OFFERS, f"ollama model {offer.model} for {offer.to}", (), offer_step(offer, seen))
    if ollama is None:
        stops = retire_step(desired.name, desired.retirement, seen, drained, beside.hosts)
        yield Decided(OLLAMA_STOPS_FIRST if desired.stops_first else OLLAMA_STOPS, RUNTIME, (), stops)
        return
    for each in _ollama_alone(ollama, seen, beside):
        outcome = undrained(each.outcome, ollama, seen, drained)
        yield each._replace(outcome=admitted(outcome, ollama, seen, desired.memory_policy, admission))


def _ollama_alone(ollama: OllamaDeployment, seen: Observation, beside: Beside) -> Iterator[Decided]:
    """What it needs, whoever is served now."""
    if ollama.program is not None:
        yield Decided(OLLAMA_PROGRAM, OLLAMA_PROGRAM, (), install_step(ollama.program, seen))
    yield Decided(OLLAMA_SETTINGS, UNIT, (), service_step(ollama, seen))
    for model in ollama.models:
        outcome = model_step(model, seen, beside.sources.get(model.name))
        yield Decided(OLLAMA_MODELS, f"ollama model {model.name}", (), outcome)
    yield from _each(OLLAMA_RESIDENTS, "ollama residents that nobody declared", evict_steps(ollama, seen))
    for resident in ollama.residents:
        subject = f"ollama resident {resident.model}"
        yield Decided(OLLAMA_RESIDENTS, subject, (), resident_step(resident, ollama, seen))


def _each(operation: str, subject: str, outcomes: tuple[Step | Refusal, ...]) -> Iterator[Decided]:
    yield from (Decided(operation, subject, (), each) for each in outcomes or (None,))


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
