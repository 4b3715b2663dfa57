"""Checks of the named policies of a roster: who has them, and whether they fit what serves together."""

from collections.abc import Iterator

from fleet.doctor.check import Found, Site, SiteCheck
from fleet.doctor.finding import Level


def _unused(asked: Site) -> Iterator[Found]:
    roster = asked.roster
    for key, names in (("kernel", roster.kernels), ("host", roster.hosts)):
        had = {getattr(spark, key) for spark in roster.sparks.values() if spark.enrolled}
        for name in sorted(set(names) - had):
            yield Found(f"{key}s.{name}", f'an enrolled spark with "{key}": "{name}"', "none")


def _mixed(asked: Site) -> Iterator[Found]:
    roster = asked.roster
    for name, cluster in sorted(roster.clusters.items()):
        policies = {spark: roster.sparks[spark].kernel for spark in cluster.sparks if roster.sparks[spark].enrolled}
        if len(set(policies.values())) > 1:
            found = ", ".join(f"{each or 'none'} on {spark}" for spark, each in policies.items())
            yield Found(f"clusters.{name} kernel policies", "one for all of its sparks", found)


def _no_way_back(asked: Site) -> Iterator[Found]:
    had = {spark.kernel for spark in asked.roster.sparks.values() if spark.enrolled}
    for name, policy in sorted(asked.roster.kernels.items()):
        if name in had and policy.fallback is None:
            yield Found(f"kernels.{name}.fallback", "a release to return to", "none")


POLICIES: tuple[SiteCheck, ...] = (
    SiteCheck(
        id="roster.unused_policy",
        level=Level.INFO,
        looks_for="A kernel or host policy that no enrolled Spark names.",
        why="It reads as if it were in force, and nothing of it is made or looked at.",
        fix="Name it in a Spark, or take it out.",
        find=_unused,
    ),
    SiteCheck(
        id="roster.mixed_kernels",
        level=Level.WARN,
        looks_for="A cluster whose Sparks have different kernel policies, or some of them none.",
        why="They serve as one, as slow as the slowest, and a fault of one kernel is a fault of all.",
        fix="Give all Sparks of the cluster one policy.",
        find=_mixed,
    ),
    SiteCheck(
        id="roster.no_fallback",
        level=Level.INFO,
        looks_for="A kernel policy in use without a fallback.",
        why="Without one a kernel cannot be tried: there is nothing that a power cycle returns to.",
        fix="Name the release that works today as `fallback`.",
        find=_no_way_back,
    ),
)
