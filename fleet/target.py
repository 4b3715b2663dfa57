"""What a run is about: one Spark, or one deployment and with it an exact set of Sparks. There is no "all"."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

from fleet.record import Record
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.spark import HostName

_ONE = "one spark or one deployment of the roster"


class Scope(StrEnum):
    """How much of what a Spark should be is asked about; each deploy has its own."""

    FABRIC = "fabric"
    """What `deploys/fabric.py` makes: the files of others, rails, transit, management."""
    SERVE = "serve"
    """What `deploys/serve.py` makes: the fabric, and what is served."""
    KERNEL = "kernel"
    """What `deploys/kernel.py` makes: which kernel the next boot starts, and how. No other scope includes it: what
    serves must not reboot."""
    HOST = "host"
    """What `deploys/host.py` makes: the rest of the host, by its policy. No other scope includes it."""

    def includes(self, other: "Scope") -> bool:
        """Is all that the other asks about asked here as well?"""
        return self is other or (self is Scope.SERVE and other is Scope.FABRIC)


class Target(Record):
    """An exact set of enrolled Sparks under one name."""

    name: str
    kind: Literal["spark", "deployment", "cluster"]
    """A cluster only where its Sparks are taken one after the other (`fleet.kernel.trial_target`)."""
    hosts: tuple[HostName, ...]

    def __str__(self) -> str:
        return self.name


def target_of(roster: Roster, name: str) -> Target | Refusal:
    """The target that a name means, or why it means none that may be converged."""
    is_spark, deployment = name in roster.sparks, roster.deployments.get(name)
    hint = _known(roster)
    if not name.strip():
        return Refusal(code="target_empty", subject="target", expected=_ONE, found="an empty name", hint=hint)
    if name == "all":
        return Refusal(code="target_all", subject=name, expected=_ONE, found="a word for everything", hint=hint)
    if is_spark and deployment is not None:
        found = f"a spark and a deployment on {deployment.spark}"
        return Refusal(code="target_ambiguous", subject=name, expected=_ONE, found=found, hint=hint)
    if deployment is not None:
        return Target(name=name, kind="deployment", hosts=deployment.hosts)
    if name in roster.enrolled:
        return Target(name=name, kind="spark", hosts=(name,))
    if is_spark:
        found = "one that is only named, and so never touched"
        return Refusal(code="target_only_named", subject=name, expected="an enrolled spark", found=found, hint=hint)
    if name in roster.assemblies:
        found, hint = (
            "an assembly, which nothing here converges",
            f"does it fit: sparks fit {name}; who is there now: sparks status {name}",
        )
        return Refusal(code="target_unknown", subject=name, expected=_ONE, found=found, hint=hint)
    return Refusal(code="target_unknown", subject=name, expected=_ONE, found="none of that name", hint=hint)


def targets_within(roster: Roster, hosts: Iterable[str]) -> tuple[Target, ...]:
    """Every target all of whose Sparks are among these: the Sparks first, then the deployments, by name."""
    there = set(hosts)
    sparks = [Target(name=name, kind="spark", hosts=(name,)) for name in sorted(there)]
    deployments = [
        Target(name=name, kind="deployment", hosts=deployment.hosts)
        for name, deployment in sorted(roster.deployments.items())
        if there.issuperset(deployment.hosts)
    ]
    return (*sparks, *deployments)


def _known(roster: Roster) -> str:
    sparks, deployments = ", ".join(roster.enrolled), ", ".join(sorted(roster.deployments))
    assemblies = ", ".join(sorted(roster.assemblies))
    only = f"; assemblies, for fit and status alone: {assemblies}" if assemblies else ""
    return f"sparks: {sparks or 'none'}; deployments: {deployments or 'none'}{only}"
