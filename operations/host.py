"""Make the rest of a host as its policy says, part by part: what lasts first, what runs now second."""

from collections.abc import Generator
from typing import Any

from pyinfra import host
from pyinfra.api import operation

from facts.needs import observation
from facts.needs_host import part_looks
from fleet.desired import DesiredSpark
from fleet.host.decide import part_steps
from fleet.refusal import Refusal
from fleet.step import Step
from operations.host_script import script
from operations.made import made_so

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
    yield from made_so(host, name_of_part, lambda: _outcomes(name_of_part, desired), script, SETTLE_SECONDS)


def _outcomes(name: str, desired: DesiredSpark) -> tuple[Step | Refusal, ...]:
    return part_steps(name, desired, observation(host, host.name, part_looks(name, desired)))
