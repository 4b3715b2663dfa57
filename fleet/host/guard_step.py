"""Does the memory guard of a policy sample, with exactly its levels and its container, and will a boot start it?"""

from collections.abc import Iterator

from fleet.host.files import file_steps
from fleet.host.guard_service import GUARD_UNIT, PLACES, MemoryGuard, MemoryGuardPolicy
from fleet.host.policy import HostPolicy
from fleet.host.steps import RunMemoryGuard, SetUnitActive
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step


def guard_steps(policy: HostPolicy, seen: Observation) -> Iterator[Step | Refusal]:
    """What makes it so. One that nobody declares is stopped before its files go."""
    if blind := seen.unobserved("host_files", "memory_guard"):
        yield blind
        return
    wish, found = policy.memory_guard, known(seen.memory_guard)
    if wish is None and found.argv:
        yield SetUnitActive(
            subject=f"{seen.host} {GUARD_UNIT} now",
            before="active",
            after="inactive",
            reason="its host policy does not have it any more",
            unit=GUARD_UNIT,
            active=False,
        )
    why = "a host without its guard runs out of memory, and takes SSH with it"
    yield from file_steps(seen.host, wish.files if wish else (), PLACES, known(seen.host_files), why)
    if wish is not None and not (found.argv == wish.argv and found.is_sampling):
        yield RunMemoryGuard(
            subject=f"{seen.host} memory guard now",
            before=_words(found),
            after=_wanted(wish),
            reason="it samples with other values, or not at all",
            unit=GUARD_UNIT,
            argv=wish.argv,
        )


def _wanted(wish: MemoryGuardPolicy) -> str:
    whom = wish.container or f"those with {wish.label}"
    return f"kills {whom} below {wish.startup_gib} GiB at its start, {wish.steady_gib} GiB after"


def _words(found: MemoryGuard) -> str:
    if not found.argv:
        return "does not run"
    return "runs with other values" if found.is_sampling else "runs and does not sample"
