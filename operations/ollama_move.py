"""Make a host serve no more what another one serves now, or what nobody does; and prove that the other one does."""

from collections.abc import Callable, Collection, Generator
from shlex import quote
from typing import Any

from pyinfra import host
from pyinfra.api import operation

from facts.bundle import Wanted
from facts.completion import Completions
from facts.needs import observation, retire_looks
from fleet.desired import DesiredSpark
from fleet.observation import known
from fleet.ollama.deployment import DROP_IN, UNIT, OllamaDeployment
from fleet.ollama.disrupt import Drained
from fleet.ollama.residents_unit import RESIDENTS, RESIDENTS_PATH
from fleet.ollama.retire import RUNTIME, retire_step
from fleet.ollama.steps import RetireOllama
from fleet.refusal import Refusal
from operations.acting import carry_out, read_back, refuse
from operations.lock import under_lock

GONE_WITHIN_SECONDS = 60.0
"""How long the old process may take to end; what it has loaded goes with it."""
ANSWERS_WITHIN_SECONDS = 120.0
"""How long the first answer may take of a model that has just been loaded."""


@operation()
def stopped(
    desired: DesiredSpark, first: bool, drained: Drained = frozenset(), others: Collection[str] = ()
) -> Generator[Any, None, None]:
    """
    Take away what a deployment left on a host that serves it no more: drop-in, the unit that loads residents, and the
    process with those settings. A deploy calls it twice, before what others start and behind it; which of the two acts
    the roster says.

    + desired: what the host should be
    + first: is this the call before others start?
    + drained: digests of the processes that were drained
    + others: the other hosts of the run

    .. code:: python

        ollama_move.stopped(name="ollama stops", desired=desired, first=False, others=("srv6",))
    """
    if desired.ollama is not None or desired.stops_first != first:
        host.noop("nothing stops here now")
        return
    match (yield from under_lock(host, lambda: _outcome(desired, drained, others))):
        case None:
            host.noop("nothing of a deployment is left")
        case Refusal() as refusal:
            yield from refuse(refusal)
        case RetireOllama() as step:
            yield from carry_out(host, [step], _script)
            yield from read_back(lambda _: _difference(desired), GONE_WITHIN_SECONDS)


@operation()
def answers(desired: OllamaDeployment | None, asked: Callable[[], bool]) -> Generator[Any, None, None]:
    """
    Ask each resident for one token, and fail the host where none comes: what is stopped elsewhere must be served here.

    + desired: the deployment, or None where this host serves nothing
    + asked: is anything to be stopped elsewhere? It is asked each time: a plan stands once all operations are known

    .. code:: python

        ollama_move.answers(name="ollama answers", desired=serving, asked=lambda: hands_over(host))
    """
    if desired is None or not asked():
        host.noop("nothing is stopped elsewhere for what is served here")
        return
    yield from read_back(lambda _: _silent(desired), ANSWERS_WITHIN_SECONDS)


def _outcome(desired: DesiredSpark, drained: Drained, others: Collection[str]) -> RetireOllama | Refusal | None:
    seen = observation(host, host.name, retire_looks(desired))
    step = retire_step(desired.name, desired.retirement, seen, drained, others)
    failed = sorted(each.name for each in host.state.failed_hosts)
    if isinstance(step, RetireOllama) and failed and not desired.stops_first:
        return Refusal(
            code="move_not_proven",
            subject=step.subject,
            expected="every other host of the run to have come this far",
            found=f"{', '.join(failed)} failed",
        )
    return step


def _difference(desired: DesiredSpark) -> Refusal | None:
    seen = observation(host, host.name, retire_looks(desired))
    outcome = retire_step(desired.name, desired.retirement, seen, others=_named(desired))
    if not isinstance(outcome, RetireOllama):
        return outcome
    return Refusal(code="not_as_desired", subject=outcome.subject, expected=outcome.after, found=outcome.before)


def _named(desired: DesiredSpark) -> tuple[str, ...]:
    moved_to = desired.retirement.moved_to if desired.retirement else None
    return () if moved_to is None else (moved_to,)


def _script(step: RetireOllama) -> str:
    """The files go first: a process that starts again before the end of this one starts without our settings."""
    parts = []
    if step.files:
        directory = quote(DROP_IN.rpartition("/")[0])
        parts += [
            f"[ ! -e {quote(RESIDENTS_PATH)} ] || timeout 60 systemctl --quiet disable {RESIDENTS}",
            f"rm -f {quote(RESIDENTS_PATH)} {quote(DROP_IN)}",
            f"[ ! -d {directory} ] || {{ sync {directory}; rmdir --ignore-fail-on-non-empty {directory}; }}",
            f"sync {quote(RESIDENTS_PATH.rpartition('/')[0])}",
            "timeout 60 systemctl daemon-reload",
        ]
    if step.restart:
        parts += [f"timeout 120 systemctl restart {UNIT}"]
    return "\n".join(parts)


def _silent(desired: OllamaDeployment) -> Refusal | None:
    """The first resident that does not answer."""
    residents = tuple((pin.model, pin.context) for pin in desired.residents)
    look = Wanted(Completions, (("residents", residents), ("endpoint", desired.endpoint.url)))
    seen = observation(host, host.name, {"completions": look})
    if blind := seen.unobserved("completions"):
        return blind
    for said in known(seen.completions):
        if not said.is_answered:
            return Refusal(
                code="move_not_answered",
                subject=f"{host.name} {RUNTIME} completion {said.model}",
                expected="an answer of one token, before it is stopped where it was",
                found=said.failure or "an empty answer",
            )
    return None
