"""The steps that make one Spark pass on what its neighbours send each other, or stop it from doing so."""

from typing import Annotated, ClassVar, Literal

from fleet.step import FOUND, TOUCH_PORTS, Effect, Step
from fleet.transit.desired import Transit


class WriteTransit(Step):
    """Make transit last: the sysctl file and the unit, each as it should be, loaded and linked to Docker's start."""

    kind: Literal["write_transit"] = "write_transit"
    effect: Effect = Effect.WRITE
    transit: Transit


class ActivateTransit(Step):
    """Make the kernel forward between the rails now, and put our rules first in DOCKER-USER where there is one."""

    follows: ClassVar[frozenset[str]] = TOUCH_PORTS
    """A port that comes up may have the kernel's settings anew."""

    kind: Literal["activate_transit"] = "activate_transit"
    effect: Effect = Effect.ACTIVATE
    transit: Transit
    start: Annotated[bool, FOUND]
    """Whether the unit is started, which puts the rules in."""


class RemoveTransit(Step):
    """Take away everything of ours that makes the Spark forward between its rails."""

    kind: Literal["remove_transit"] = "remove_transit"
    effect: Effect = Effect.REMOVE
    settings: dict[str, str]
    """The kernel's settings to put back, by their path below /proc/sys."""
