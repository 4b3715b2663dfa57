"""Make the Ollama of a host so: its service, then the models it holds, then the models it has loaded."""

from collections.abc import Callable, Generator, Sequence
from typing import Any

from pyinfra import host
from pyinfra.api import operation

from facts.needs import observation, ollama_looks
from fleet.fit.admission import NOBODY, Admission
from fleet.fit.policy import Policy
from fleet.observation import Observation
from fleet.ollama.decide import evict_steps, model_step, resident_step, service_step
from fleet.ollama.deployment import UNIT, OllamaDeployment
from fleet.ollama.disrupt import Drained, undrained
from fleet.ollama.fit import admitted
from fleet.ollama.short import did_not_fit
from fleet.ollama.source import Sources
from fleet.ollama.steps import ConfigureService
from fleet.refusal import Refusal
from fleet.step import Step
from operations.acting import carry_out, carry_out_telling, read_back, refuse
from operations.lock import under_lock
from operations.ollama_copy import given
from operations.ollama_script import ask_script, configure_script
from operations.started import has_started, started

ANSWERS_WITHIN_SECONDS = 60.0
"""How long the API may take to answer after a restart: under 1 s for the stand-in, a few for the real server
while it looks for GPUs."""
NOWHERE: Sources = {}
"""No model can be copied."""
_USUAL = Policy()
Outcome = Step | Refusal | None
Outcomes = Sequence[Outcome]
Allowed = Callable[[Outcome, OllamaDeployment, Observation], Outcome]
"""Gives an outcome back, or why it must not be carried out now."""
SHOWS_WITHIN_SECONDS = 60.0
"""How long a pull, a load or an unload may take to show once Ollama has said that it is done."""


@operation()
def service(desired: OllamaDeployment | None, drained: Drained = frozenset()) -> Generator[Any, None, None]:
    """
    Make ``ollama.service`` so: our drop-in durable and loaded, the unit enabled, its process running with
    these settings. It restarts only where the running process differs, and waits until the API answers. A process
    that has models loaded and that no run of ours has started is not restarted before it was drained.

    + desired: the deployment, or None where this host serves nothing
    + drained: digests of the processes that were drained (`facts.desired.drained_for`)

    .. code:: python

        ollama.service(name="ollama settings", desired=OllamaDeployment(listen="0.0.0.0:11434"))
    """
    if desired is None:
        host.noop("serves nothing with ollama")
        return
    match (yield from under_lock(host, lambda: _service_outcome(desired, drained))):
        case None:
            host.noop(f"{UNIT} is as desired")
        case Refusal() as refusal:
            yield from refuse(refusal)
        case ConfigureService() as step:
            yield from carry_out(host, [step], lambda step: configure_script(step, desired.endpoint.url))
            yield from read_back(lambda _: _service_read_back(desired, step), ANSWERS_WITHIN_SECONDS)


@operation()
def model(
    desired: OllamaDeployment | None, drained: Drained = frozenset(), sources: Sources = NOWHERE
) -> Generator[Any, None, None]:
    """
    Make every declared model present by its digest. An absent one is copied from another host that has it, else pulled
    where its pin allows that, and a pull that ends on another digest is a failure; a tag that holds another digest is
    refused, unless its pin says that it goes.

    + desired: the deployment, or None where this host serves nothing
    + drained: digests of the processes that were drained
    + sources: by model, where one can be copied from (`ollama_copy.offered` comes before it there)

    .. code:: python

        ollama.model(name="models", desired=OllamaDeployment(models=(pin,)))
    """
    yield from _make_so(
        desired,
        lambda desired: _model_outcomes(desired, sources),
        "every declared model is there",
        lambda outcome, wanted, seen: undrained(outcome, wanted, seen, drained | started(host)),
    )


@operation()
def resident(
    desired: OllamaDeployment | None,
    drained: Drained = frozenset(),
    policy: Policy = _USUAL,
    admission: Admission = NOBODY,
) -> Generator[Any, None, None]:
    """
    Make every declared resident loaded, on the GPU, at its context and for its time. Others are unloaded first where
    the deployment has ``evict_undeclared``; what no run of ours has started is drained before that. Where ``memory`` of
    its models is declared, what is loaded must fit into what is free, and have fitted before.

    + desired: the deployment, or None where this host serves nothing
    + drained: digests of the processes that were drained
    + policy: how much of the host's memory may be taken
    + admission: what is known to have fitted (`facts.desired.admission_for`)

    .. code:: python

        ollama.resident(name="residents", desired=OllamaDeployment(models=(pin,), residents=(resident,)))
    """

    def allowed(outcome: Outcome, wanted: OllamaDeployment, seen: Observation) -> Outcome:
        return admitted(undrained(outcome, wanted, seen, drained | started(host)), wanted, seen, policy, admission)

    yield from _make_so(desired, _resident_outcomes, "every declared resident is loaded", allowed)


def _service_outcome(desired: OllamaDeployment, drained: Drained) -> Outcome:
    seen = _seen(desired)
    return undrained(service_step(desired, seen), desired, seen, drained | started(host))


def _model_outcomes(desired: OllamaDeployment, sources: Sources) -> Outcomes:
    seen = _seen(desired)
    return [model_step(pin, seen, sources.get(pin.name)) for pin in desired.models]


def _resident_outcomes(desired: OllamaDeployment) -> Outcomes:
    """What nobody declared goes first: its memory is needed."""
    seen = _seen(desired)
    return [*evict_steps(desired, seen), *(resident_step(pin, desired, seen) for pin in desired.residents)]


def _make_so(desired: OllamaDeployment | None, decide: Any, done: str, allowed: Allowed) -> Generator[Any, None, None]:
    """The three arms for several subjects: nothing is done where one of them is refused."""
    if desired is None:
        host.noop("serves nothing with ollama")
        return
    outcomes: Outcomes = yield from under_lock(host, lambda: _allowed(desired, decide, allowed))
    refusals = [each for each in outcomes if isinstance(each, Refusal)]
    steps = [each for each in outcomes if isinstance(each, Step)]
    if refusals:
        yield from refuse(*dict.fromkeys(refusals))
    elif not steps:
        host.noop(done)
    else:
        yield from carry_out_telling(
            host, steps, lambda step: ask_script(desired, step), lambda step: given(host, step), did_not_fit
        )
        yield from read_back(lambda _: _first_difference(decide(desired)), SHOWS_WITHIN_SECONDS)


def _allowed(desired: OllamaDeployment, decide: Any, allowed: Allowed) -> Outcomes:
    seen = _seen(desired)
    return [allowed(each, desired, seen) for each in decide(desired)]


def _seen(desired: OllamaDeployment) -> Observation:
    return observation(host, host.name, ollama_looks(desired))


def _first_difference(outcomes: Outcomes) -> Refusal | None:
    return next((_still(each) for each in outcomes if each is not None), None)


def _still(outcome: Step | Refusal) -> Refusal:
    """What is left to do after acting, as the reason why acting failed."""
    if isinstance(outcome, Refusal):
        return outcome
    return Refusal(code="not_as_desired", subject=outcome.subject, expected=outcome.after, found=outcome.before)


def _service_read_back(desired: OllamaDeployment, step: ConfigureService) -> Refusal | None:
    difference = _service_difference(desired)
    if difference is None and step.restart:
        has_started(host, _seen(desired))
    return difference


def _service_difference(desired: OllamaDeployment) -> Refusal | None:
    seen = _seen(desired)
    outcome = service_step(desired, seen)
    return _still(outcome) if outcome is not None else seen.unobserved("ollama_models", "ollama_residency")
