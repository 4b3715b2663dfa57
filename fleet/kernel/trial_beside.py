"""Who must not be tried at the same time: Sparks that serve together, of which one alone may be away. Pure."""

from collections.abc import Iterable

from fleet.desired import DesiredSpark
from fleet.kernel.standing import standing
from fleet.kernel.trial import Standing
from fleet.locked import lock_refusal
from fleet.observation import Observation
from fleet.refusal import Refusal
from fleet.roster import Roster


def together(roster: Roster, hosts: Iterable[str]) -> tuple[str, ...]:
    """The other enrolled Sparks of every deployment and cluster that one of these is in, sorted."""
    wanted = set(hosts)
    groups = (
        *(each.served_on for each in roster.deployments.values()),
        *(each.sparks for each in roster.clusters.values()),
    )
    found = {spark for group in groups if wanted & set(group) for spark in group}
    return tuple(sorted((found - wanted) & set(roster.enrolled)))


def beside(desired: DesiredSpark, seen: Observation) -> tuple[Refusal, ...]:
    """Why no other Spark may be tried now; one that does not answer may be in the boot of somebody else's trial."""
    locked, now = lock_refusal(seen.host, seen), standing(seen)
    blind = now if not isinstance(now, Standing) else ()
    found = "" if not isinstance(now, Standing) else _under_way(desired, now)
    refusals = (*blind, *(() if locked is None or locked in blind else (locked,)))
    if refusals or not found:
        return refusals
    return (
        Refusal(
            code="trial_beside",
            subject=f"{seen.host} kernel",
            expected="no trial under way on a Spark that serves together with the one to be tried",
            found=found,
            hint=f"sparks kernel trial {seen.host} goes on with it; a power cycle returns it to its fallback",
        ),
    )


def _under_way(desired: DesiredSpark, now: Standing) -> str:
    """What says that it is being tried, or was and is no further; nothing where it is not."""
    if now.one_shot is not None:
        return f"{now.one_shot} pending for its next boot alone"
    release = None if desired.kernel is None else desired.kernel.release
    return f"it running {release}, with {now.default} as its default" if now.running == release != now.default else ""
