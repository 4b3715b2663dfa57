"""Make the Ollama of a host so: its service, then the models it holds, then the models it has loaded."""

import json
from collections.abc import Generator, Sequence
from importlib.resources import files
from shlex import quote
from typing import Any

from pyinfra import host
from pyinfra.api import operation

from facts.needs import observation, ollama_looks
from fleet.observation import Observation
from fleet.ollama.decide import evict_steps, model_step, resident_step, service_step
from fleet.ollama.deployment import UNIT, OllamaDeployment
from fleet.ollama.disrupt import Drained, undrained
from fleet.ollama.residents_unit import RESIDENTS, RESIDENTS_PATH
from fleet.ollama.steps import ConfigureService, EvictResident, LoadResident, PullModel
from fleet.refusal import Refusal
from fleet.step import Step
from operations.acting import carry_out, read_back, refuse, write_file
from operations.lock import under_lock

ANSWERS_WITHIN_SECONDS = 60.0
"""How long the API may take to answer after a restart: under 1 s for the stand-in, a few for the real server
while it looks for GPUs."""
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
            yield from carry_out(host, [step], _configure)
            yield from read_back(lambda _: _service_difference(desired), ANSWERS_WITHIN_SECONDS)


@operation()
def model(desired: OllamaDeployment | None) -> Generator[Any, None, None]:
    """
    Make every declared model present by its digest. An absent one is pulled where its pin allows that, and
    a pull that ends on another digest is a failure; a tag that holds another digest is refused.

    + desired: the deployment, or None where this host serves nothing

    .. code:: python

        ollama.model(name="models", desired=OllamaDeployment(models=(pin,)))
    """
    yield from _make_so(desired, _model_outcomes, "every declared model is there")


@operation()
def resident(desired: OllamaDeployment | None, drained: Drained = frozenset()) -> Generator[Any, None, None]:
    """
    Make every declared resident loaded, on the GPU, at its context and for its time. Other loaded models are
    unloaded first where the deployment has ``evict_undeclared``. What no run of ours has started is drained before any
    model of it is unloaded.

    + desired: the deployment, or None where this host serves nothing
    + drained: digests of the processes that were drained

    .. code:: python

        ollama.resident(name="residents", desired=OllamaDeployment(models=(pin,), residents=(resident,)))
    """
    yield from _make_so(desired, _resident_outcomes, "every declared resident is loaded", drained)


Outcomes = Sequence[Step | Refusal | None]


def _service_outcome(desired: OllamaDeployment, drained: Drained) -> Step | Refusal | None:
    seen = _seen(desired)
    return undrained(service_step(desired, seen), desired, seen, drained)


def _undrained(outcomes: Outcomes, desired: OllamaDeployment, drained: Drained) -> Outcomes:
    seen = _seen(desired)
    return [undrained(each, desired, seen, drained) for each in outcomes]


def _model_outcomes(desired: OllamaDeployment) -> Outcomes:
    seen = _seen(desired)
    return [model_step(pin, seen) for pin in desired.models]


def _resident_outcomes(desired: OllamaDeployment) -> Outcomes:
    """What nobody declared goes first: its memory is needed."""
    seen = _seen(desired)
    return [*evict_steps(desired, seen), *(resident_step(pin, desired, seen) for pin in desired.residents)]


def _make_so(
    desired: OllamaDeployment | None, decide: Any, done: str, drained: Drained = frozenset()
) -> Generator[Any, None, None]:
    """The three arms for several subjects: nothing is done where one of them is refused."""
    if desired is None:
        host.noop("serves nothing with ollama")
        return
    outcomes: Outcomes = yield from under_lock(host, lambda: _undrained(decide(desired), desired, drained))
    refusals = [each for each in outcomes if isinstance(each, Refusal)]
    steps = [each for each in outcomes if isinstance(each, Step)]
    if refusals:
        yield from refuse(*dict.fromkeys(refusals))
    elif not steps:
        host.noop(done)
    else:
        yield from carry_out(host, steps, lambda step: _ask(desired, step))
        yield from read_back(lambda _: _first_difference(decide(desired)), SHOWS_WITHIN_SECONDS)


def _seen(desired: OllamaDeployment) -> Observation:
    return observation(host, host.name, ollama_looks(desired))


def _first_difference(outcomes: Outcomes) -> Refusal | None:
    return next((_still(each) for each in outcomes if each is not None), None)


def _still(outcome: Step | Refusal) -> Refusal:
    """What is left to do after acting, as the reason why acting failed."""
    if isinstance(outcome, Refusal):
        return outcome
    return Refusal(code="not_as_desired", subject=outcome.subject, expected=outcome.after, found=outcome.before)


def _service_difference(desired: OllamaDeployment) -> Refusal | None:
    seen = _seen(desired)
    outcome = service_step(desired, seen)
    return _still(outcome) if outcome is not None else seen.unobserved("ollama_models", "ollama_residency")


def _configure(step: ConfigureService) -> str:
    """One script; killed anywhere in it, it leaves a state from which this step or a smaller one is due.

    The residents unit is enabled last: a restart before that would ask for models that are still to be pulled.
    """
    directory = quote(step.path.rpartition("/")[0])
    parts = []
    if step.write:
        parts += [
            f"[ -d {directory} ] || mkdir -m 0755 {directory}",
            f"({write_file(step.path, step.text, 0o644)})",
        ]
    if step.residents:
        parts += [_residents(step.residents_text)]
    if step.reload or step.residents:
        parts += ["timeout 60 systemctl daemon-reload"]
    if step.enable:
        parts += [f"timeout 60 systemctl --quiet enable {UNIT}"]
    if step.restart:
        parts += [
            f"timeout 120 systemctl restart {UNIT} || {{",
            f'  echo "{UNIT}: expected it to restart, found it refused; see journalctl -u {UNIT}" >&2',
            "  exit 69",
            "}",
        ]
    if step.residents and step.residents_text is not None:
        parts += [f"timeout 60 systemctl --quiet enable {RESIDENTS}"]
    return "\n".join(parts)


def _residents(text: str | None) -> str:
    if text is None:
        return f"timeout 60 systemctl --quiet disable {RESIDENTS}\nrm -f {quote(RESIDENTS_PATH)}"
    return f"({write_file(RESIDENTS_PATH, text, 0o644)})"


def _ask(desired: OllamaDeployment, step: Step) -> str:
    match step:
        case PullModel():
            asked: dict[str, Any] = {"do": "pull", "model": step.model, "digest": step.manifest_digest}
        case LoadResident():
            asked = {
                "do": "load",
                "model": step.model,
                "context": step.context,
                "keep_alive": step.keep_alive,
            }
        case EvictResident():
            asked = {"do": "unload", "model": step.model}
        case _:
            raise AssertionError(f"expected a step of a model, found {step.kind}")
    source = files("operations.remote").joinpath("ollama_ask.py").read_text(encoding="utf-8")
    call = f"{source}\nmain({json.dumps(json.dumps(asked | {'endpoint': desired.endpoint.url}))})\n"
    return f"python3 -c {quote(call)}"
