"""What a plan of a Spark tells besides its steps, for whoever decides about it."""

from collections.abc import Sequence

from fleet.desired import DesiredSpark
from fleet.foreign import lost_at_next_boot
from fleet.host.notes import host_notes
from fleet.kernel.decide import kernel_notes
from fleet.observation import Observation
from fleet.ollama.disrupt import interrupted
from fleet.ollama.published import sizes
from fleet.step import Step
from fleet.target import Scope


def notes(desired: DesiredSpark, seen: Observation, steps: Sequence[Step], scope: Scope) -> tuple[str, ...]:
    """What is not ours, what the next boot loses, whom a step interrupts, how large a download is, and more.

    + steps: those that are due
    """
    return (
        *_not_ours(desired, scope),
        *lost_at_next_boot(desired, seen),
        *interrupted(steps, desired.ollama, seen),
        *sizes(steps, seen),
        *host_notes(desired, seen),
        *kernel_notes(desired, seen),
    )


def _not_ours(desired: DesiredSpark, scope: Scope) -> tuple[str, ...]:
    """What was asked about and has no policy: then nothing of it was judged."""
    without = (scope is Scope.KERNEL and desired.kernel is None) or (scope is Scope.HOST and desired.host is None)
    return (f"{desired.name} has no {scope} policy in the roster: nothing of that is ours",) if without else ()
