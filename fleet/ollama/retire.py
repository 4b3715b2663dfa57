"""What a deployment leaves on a Spark that serves it no more: found, and stopped where the roster says so. Pure.

What is ours there is the drop-in, the unit that loads residents again, and a process that runs with those settings. The
program, its models and a unit file that others wrote stay: nothing of them holds memory.
"""

from collections.abc import Collection

from fleet.observation import Observation, known
from fleet.ollama.deployment import DROP_IN, UNIT
from fleet.ollama.disrupt import Drained, drain_needed
from fleet.ollama.residents_unit import RESIDENTS_PATH
from fleet.ollama.retirement import Retirement
from fleet.ollama.service import ServiceState, ollama_settings
from fleet.ollama.steps import RetireOllama
from fleet.refusal import Refusal
from fleet.step import Effect

RUNTIME = "ollama"


def retire_step(
    host: str,
    retirement: Retirement | None,
    seen: Observation,
    drained: Drained = frozenset(),
    others: Collection[str] = (),
) -> RetireOllama | Refusal | None:
    """What is to be stopped on a Spark without a deployment; what nobody said shall go is refused.

    + retirement: what the roster says of it; None where it says nothing
    + others: the Sparks that are in the same run
    """
    if blind := seen.unobserved("ollama_service"):
        return blind
    state = known(seen.ollama_service)
    files, running = _files(state), _runs_with_ours(state)
    if retirement is None:
        return _undeclared(host, files) if files else None
    if not files and running is None:
        return None
    if retirement.moved_to is not None and retirement.moved_to not in others:
        return _alone(host, retirement.moved_to)
    step = _step(host, retirement, files, running)
    return (_drain_needed(seen, drained) if step.restart else None) or step


def _files(state: ServiceState) -> tuple[str, ...]:
    """Our files that are there."""
    residents = RESIDENTS_PATH if state.residents.content_digest is not None else None
    return tuple(each for each in (DROP_IN if state.own_drop_in else None, residents) if each is not None)


def _runs_with_ours(state: ServiceState) -> str | None:
    """Settings that the process has from us and would not have without us; None where it has none."""
    if state.process_environment is None:
        return None
    found, without = ollama_settings(state.process_environment), ollama_settings(state.expected_environment({}))
    ours = [f"{name}={found[name]}" for name in found if found[name] != without.get(name)]
    return ", ".join(ours) or None


def _step(host: str, retirement: Retirement, files: tuple[str, ...], running: str | None) -> RetireOllama:
    before = [*files, *([f"running with {running}"] if running else [])]
    return RetireOllama(
        subject=f"{host} {RUNTIME}",
        before="; ".join(before),
        after="nothing of a deployment",
        reason=_reason(retirement),
        effect=Effect.RESTART if running else Effect.REMOVE,
        files=bool(files),
        restart=running is not None,
    )


def _reason(retirement: Retirement) -> str:
    if retirement.moved_to is None:
        return "the roster retires it here"
    when = "stopped before it starts there" if retirement.first else "stopped once it answers there"
    return f"{retirement.moved_to} serves it now: {when}"


def _drain_needed(seen: Observation, drained: Drained) -> Refusal | None:
    if blind := seen.unobserved("invocation", "generation"):
        return blind
    return drain_needed(known(seen.invocation), seen, drained)


def _alone(host: str, moved_to: str) -> Refusal:
    return Refusal(
        code="moved_alone",
        subject=f"{host} {UNIT}",
        expected=f"{moved_to} in the same run, since it serves what is stopped here",
        found="it is not",
        hint="converge the deployment by its name: that is about both",
    )


def _undeclared(host: str, files: tuple[str, ...]) -> Refusal:
    return Refusal(
        code="ollama_left_behind",
        subject=f"{host} {UNIT}",
        expected="nothing of a deployment, since the roster has none there",
        found=" and ".join(files),
        hint=f'put the deployment back; or "moved_from": "{host}" where it went on; '
        f'or "retire": ["{RUNTIME}"] of {host}: its next run stops what was left',
    )
