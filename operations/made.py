"""The shape that most operations have: decide, take the lock, refuse or carry out, and read back."""

from collections.abc import Callable, Generator
from typing import Any

from pyinfra.api import Host

from fleet.refusal import Refusal
from fleet.step import Step
from operations.acting import carry_out, read_back, refuse
from operations.lock import under_lock

Decide = Callable[[], tuple[Step | Refusal, ...]]
"""Looks, and says what is due or what stands in the way."""


def made_so(
    host: Host, what: str, decide: Decide, script: Callable[[Any], str], seconds: float = 0
) -> Generator[Any, None, None]:
    """Make one thing so, under the host's lock; afterwards nothing of it may be left to do.

    + seconds: how long it may take to show
    """
    outcomes = yield from under_lock(host, decide)
    refusals = [each for each in outcomes if isinstance(each, Refusal)]
    steps = [each for each in outcomes if isinstance(each, Step)]
    if refusals:
        yield from refuse(*refusals)
    elif not steps:
        host.noop(f"{what}: as desired")
    else:
        yield from carry_out(host, steps, script)
        yield from read_back(lambda _: left(decide), timeout_seconds=seconds)


def left(decide: Decide) -> Refusal | None:
    """What is left to do after acting, as the reason why acting failed."""
    outcome = next(iter(decide()), None)
    if outcome is None or isinstance(outcome, Refusal):
        return outcome
    return Refusal(code="not_as_desired", subject=outcome.subject, expected=outcome.after, found=outcome.before)
