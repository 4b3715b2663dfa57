"""Make the rest of a host as its policy says, part by part: what lasts first, what runs now second."""

from collections.abc import Callable, Generator
from typing import Any

from pyinfra import host
from pyinfra.api import operation

from facts.needs import observation
from facts.needs_host import part_looks
from fleet.desired import DesiredSpark
from fleet.host.decide import part_steps
from fleet.refusal import Refusal
from fleet.step import Step
from operations.acting import carry_out, read_back, refuse
from operations.host_script import script
from operations.lock import under_lock

SETTLE_SECONDS = 30.0
"""For what happens after systemd has answered: logind reads its files, a guard takes its first sample."""


@operation()
def part(desired: DesiredSpark, name_of_part: str) -> Generator[Any, None, None]:
    """
    Make one part of a host policy so, for good and now. A host without a policy is left alone.

    + desired: what the host should be
    + name_of_part: one of ``fleet.host.decide.PARTS``

    .. code:: python

        host.part(name="kernel settings", desired=desired, name_of_part="kernel settings")
    """
    yield from _so(lambda: _outcomes(name_of_part, desired), name_of_part)


def _so(decide: Callable[[], tuple[Step | Refusal, ...]], what: str) -> Generator[Any, None, None]:
    outcomes = yield from under_lock(host, decide)
    refusals = [each for each in outcomes if isinstance(each, Refusal)]
    steps = [each for each in outcomes if isinstance(each, Step)]
    if refusals:
        yield from refuse(*refusals)
    elif not steps:
        host.noop(f"{what}: as desired")
    else:
        yield from carry_out(host, steps, script)
        yield from read_back(lambda _: _difference(decide), timeout_seconds=SETTLE_SECONDS)


def _outcomes(name: str, desired: DesiredSpark) -> tuple[Step | Refusal, ...]:
    return part_steps(name, desired, observation(host, host.name, part_looks(name, desired)))


def _difference(decide: Callable[[], tuple[Step | Refusal, ...]]) -> Refusal | None:
    """What is left to do after acting, as the reason why acting failed."""
    outcome = next(iter(decide()), None)
    if outcome is None or isinstance(outcome, Refusal):
        return outcome
    return Refusal(code="not_as_desired", subject=outcome.subject, expected=outcome.after, found=outcome.before)
