"""What a plan says of one host: every operation that has something to do, its steps, and the exact commands."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field

from fleet.files import FoundFile
from fleet.fit.admission import Admitted
from fleet.prestate import Unseen
from fleet.record import VOLATILE, Digest, Record
from fleet.step import Step
from fleet.steps import AnyStep


class PlannedCommand(Record):
    """One command of an operation, as the host would get it."""

    does: str
    """What it is for, in a few words: `ollama_pull`, `read back`."""
    sends: tuple[str, ...] = ()
    """What crosses SSH, byte for byte, in order, without the looks in between; `TOKEN` stands for a number that is
    drawn anew each time."""


class PlannedOperation(Record):
    """One operation of a deploy, as far as it has something to do."""

    name: str
    steps: tuple[AnyStep, ...]
    commands: tuple[PlannedCommand, ...] | None = None
    """None in a plan that was made without a connection to its host: such a plan cannot be applied."""


class HostPlan(Record):
    """What one Spark needs, in order; without operations it is as desired."""

    host: str
    prestate: dict[str, Digest]
    """What its decisions rest on: by section of the observation, the digest of what is stable there."""
    operations: tuple[PlannedOperation, ...]
    considered: tuple[str, ...]
    """What was decided about and needs nothing."""
    unseen: tuple[Unseen, ...] = ()
    """What could not be observed; no decision rests on it, or there would be no plan."""
    found: dict[str, FoundFile] = Field(default_factory=dict)
    """By path, the files that its steps write or remove and that are there."""
    memory_fit: Admitted | None = None
    """Whether what is to be loaded may be, and by what; None where nothing is declared resident."""
    notes: Annotated[tuple[str, ...], VOLATILE] = ()
    """What is there, is left alone, and is lost at the next boot; what may run on a process that is disrupted; how
    large a download is: told, and nothing rests on it."""

    def with_commands(self, commands: Mapping[str, tuple[PlannedCommand, ...]]) -> Self:
        """The same plan with the commands of each operation, by its name."""
        operations = tuple(each.replaced(commands=commands[each.name]) for each in self.operations)
        return self.replaced(operations=operations)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step, in order."""
        return tuple(step for each in self.operations for step in each.steps)
