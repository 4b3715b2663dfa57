"""What would take a served model away from whoever uses it, and when that must wait for a drain. Pure.

A process that a run of ours left running may be changed by an approved plan. One that nobody knows may be in the
middle of somebody's night: it is drained first.
"""

from collections.abc import Iterable

from fleet.generation import Origin, origin
from fleet.invocation import Running
from fleet.observation import Observation, known
from fleet.ollama.decide import residency_to_be
from fleet.ollama.deployment import UNIT, OllamaDeployment
from fleet.ollama.service import ServiceState
from fleet.ollama.steps import ConfigureService, CopyModel, EvictResident, LoadResident, PullModel, RetireOllama
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.step import Step

Drained = frozenset[str]
"""Digests of the invocations that were drained."""

OURS = frozenset({Origin.STARTED, Origin.BOOTED, Origin.RESTARTED})
"""Where a process that may be disrupted comes from."""

MAX_LOADED = 3
"""How many models Ollama keeps loaded for each GPU where OLLAMA_MAX_LOADED_MODELS is not set (`server/sched.go`,
defaultModelsPerGPU; a Spark has one GPU)."""


def undrained(
    outcome: Step | Refusal | None, desired: OllamaDeployment, seen: Observation, drained: Drained
) -> Step | Refusal | None:
    """The same outcome, or in its place why it must not be carried out now.

    + drained: what was drained; a digest names one process, so an old one lets nothing else pass
    """
    if not isinstance(outcome, Step) or not disrupts(outcome, desired, seen):
        return outcome
    if blind := seen.unobserved("invocation", "generation"):
        return blind
    running = known(seen.invocation)
    if isinstance(outcome, ConfigureService) and running.other is not None:
        return _taken(desired, running.other, seen)
    return drain_needed(running, seen, drained) or outcome


def disrupts(step: Step, desired: OllamaDeployment | None, seen: Observation) -> bool:
    """Would a step end the process, or unload a model that it has loaded?"""
    if desired is None:
        return isinstance(step, RetireOllama) and step.restart
    match step:
        case ConfigureService():
            return step.restart
        case EvictResident():
            return True
        case PullModel() | CopyModel():
            return step.replaces is not None and known(seen.ollama_residency).resident(step.model) is not None
        case LoadResident():
            return _displaces(step, desired, seen)
        case _:
            return False


def interrupted(steps: Iterable[Step], desired: OllamaDeployment | None, seen: Observation) -> tuple[str, ...]:
    """What steps take away from whoever uses it now, in words: it changes by itself, so no plan rests on it."""
    found = [each for each in steps if disrupts(each, desired, seen)]
    running = None if isinstance(seen.invocation, Unobserved) else seen.invocation
    if not found or running is None or running.invocation is None:
        return ()
    if not running.may_serve:
        return (f"{seen.host} {UNIT}: has no model loaded, so no request runs that could be interrupted",)
    restarts = any(isinstance(each, ConfigureService | RetireOllama) for each in found)
    what = "its restart" if restarts else "a model that goes"
    return (
        f"{seen.host} {UNIT}: {what} interrupts what runs: {_connected(running)}, {running.loaded} loaded; "
        f"sparks drain {seen.host} waits for an end of that",
    )


def _connected(running: Running) -> str:
    """Ollama tells nobody how many requests run; a connection that is up may carry one, or be idle."""
    if isinstance(running.clients, Unobserved):
        return f"connections that could not be observed ({running.clients.reason})"
    count, hosts = len(running.clients), ", ".join(sorted(set(running.clients)))
    if not count:
        return "no connection is up"
    return f"{count} connection{'s are' if count > 1 else ' is'} up, from {hosts}"


def _displaces(step: LoadResident, desired: OllamaDeployment, seen: Observation) -> bool:
    """A model with another context is loaded again; where there is no room, another goes for it."""
    residents = residency_to_be(desired, seen).residents
    found = next((each for each in residents if each.name == step.model), None)
    if found is not None:
        return not found.is_loading and found.context_length != step.context
    return len(residents) >= _room(known(seen.ollama_service))


def _room(state: ServiceState) -> int:
    """How many models are loaded at once."""
    setting = (state.process_environment or {}).get("OLLAMA_MAX_LOADED_MODELS", "")
    return int(setting) if setting.isdecimal() and int(setting) > 0 else MAX_LOADED


def _taken(desired: OllamaDeployment, other: str, seen: Observation) -> Refusal:
    return Refusal(
        code="ollama_port_taken",
        subject=f"{seen.host} {desired.listen}",
        expected=f"{UNIT} alone to listen there",
        found=other,
        hint="find out whose it is; it is not ours to stop",
    )


def drain_needed(running: Running, seen: Observation, drained: Drained) -> Refusal | None:
    """Why a process must not be ended now: it serves, nobody of ours left it running, and it was not drained."""
    invocation = running.invocation
    if invocation is None or not running.may_serve or invocation.digest in drained:
        return None
    where = origin(invocation, known(seen.generation))
    if where in OURS:
        return None
    return Refusal(
        code="drain_needed",
        subject=f"{seen.host} {UNIT}",
        expected="a process that a run of ours left running, or one that was drained",
        found=f"pid {invocation.pid}, {where}, with {running.loaded} loaded",
        hint=f"sparks drain {seen.host}",
    )
