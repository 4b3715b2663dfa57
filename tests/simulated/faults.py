"""What can happen to a run at one of its commands."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Who or what fails."""

    KILLED = "controller killed"
    """The run stops dead; what the host was doing goes on to its end."""
    DROPPED = "SSH dropped"
    """The connection is gone for the rest of the run; the host goes on."""
    POWER = "host power-cycled"
    """What is in memory is gone, the connection too."""
    DISK = "disk full"
    """From here on the run's writes fail."""
    SUDO = "sudo lost"
    """From here on root is out of reach."""
    CLOCK = "clock jumped"
    """The controller's clock, two days ahead."""
    LOST = "write lost"
    """The host says that it was done, and it was not."""


class Moment(StrEnum):
    """When, seen from the command."""

    BEFORE = "before"
    """It does not reach the host."""
    MIDST = "in"
    """Some of it is done."""
    AFTER = "after"
    """It is done, its answer does not arrive."""


@dataclass(frozen=True)
class Fault:
    """One fault at one command of a run."""

    kind: Kind
    at: int
    """The number of the command, from 0."""
    moment: Moment = Moment.BEFORE
    parts: int = 1
    """With `Moment.MIDST`: how many of the command's parts are done."""

    def __str__(self) -> str:
        parts = f" after {self.parts} of its parts" if self.moment is Moment.MIDST else ""
        return f"{self.kind} {self.moment} command {self.at}{parts}"
