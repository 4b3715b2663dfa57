"""Is a stamp due on a host, and what shall it say. Pure."""

from typing import ClassVar, Literal

from fleet.desired import DesiredSpark
from fleet.generation import BEGUN, STAMP, Begun, Generation, Stamp
from fleet.invocation import Invocation
from fleet.observation import Observation, known
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.step import Effect, Step
from fleet.target import Scope


class WriteStamp(Step):
    """Write down which plan was carried out. No plan holds it: it is due where a run acted, and nowhere else."""

    is_planned: ClassVar[bool] = False

    kind: Literal["generation"] = "generation"
    effect: Effect = Effect.WRITE
    generation: Generation


def stamp_step(desired: DesiredSpark, applied: Begun | None, seen: Observation) -> WriteStamp | Refusal | None:
    """The stamp that is due at the end of a run, or why it cannot be written; None where none is due.

    + applied: the plan that had steps for this host; None where it had none. A run that was cut off after its last
      step is brought to its end all the same.
    """
    if blind := seen.unobserved("generation"):
        return blind
    stamp = known(seen.generation)
    begun = applied or (stamp.begun if isinstance(stamp.begun, Begun) else None)
    if begun is None:
        return None
    left = _left_running(desired, begun, stamp, seen)
    if isinstance(left, Refusal):
        return left
    generation = Generation(**{name: getattr(begun, name) for name in Begun.model_fields}, invocations=left)
    if stamp.begun is None and stamp.generation == generation:
        return None
    return WriteStamp(
        subject=f"{seen.host} {STAMP}",
        before=_words(stamp),
        after=f"plan {generation.plan}",
        reason="the plan was carried out here" if applied else f"{BEGUN} is there: a run was cut off before its end",
        generation=generation,
    )


def _left_running(
    desired: DesiredSpark, begun: Begun, stamp: Stamp, seen: Observation
) -> tuple[Invocation, ...] | Refusal:
    """What serves now; a run that was not about it vouches for nothing that it did not start."""
    if not begun.scope.includes(Scope.SERVE):
        return () if stamp.known is None else stamp.known.invocations
    if desired.ollama is None:
        return ()
    if blind := seen.unobserved("invocation"):
        return blind
    running = known(seen.invocation).invocation
    return () if running is None else (running,)


def _words(stamp: Stamp) -> str:
    if isinstance(stamp.generation, Unobserved):
        return "a stamp that cannot be read"
    return "no stamp" if stamp.generation is None else f"plan {stamp.generation.plan}"
