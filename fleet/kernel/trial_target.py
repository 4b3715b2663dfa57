"""What a trial of a kernel can be of: a Spark, a deployment, or a cluster, whose Sparks are taken in the order of their
ranks. Pure."""

from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.target import Target, target_of


def trial_target(roster: Roster, name: str) -> Target | Refusal:
    """The target that a name means, or why it means none."""
    cluster = roster.clusters.get(name)
    if cluster is None or name in roster.sparks or name in roster.deployments:
        return target_of(roster, name)
    named = [each for each in cluster.sparks if each not in roster.enrolled]
    if named:
        found = f"{', '.join(named)}, only named and so never touched"
        return Refusal(code="target_only_named", subject=name, expected="only enrolled sparks in it", found=found)
    return Target(name=name, kind="cluster", hosts=cluster.sparks)
