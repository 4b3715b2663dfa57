"""The only place that decides: desired state and observations in, a plan or every refusal out. Pure.

A plan is an immutable document. Its digest is of what it says and not of who made it, when and with what: the same
desired state and the same host give the same digest on every day, in every process.
"""

from collections.abc import Mapping
from itertools import groupby
from typing import Annotated, Any, Literal, Self

from pydantic import Field
from typing_extensions import override

from fleet.beside import beside
from fleet.decide import Decided, considered
from fleet.desired import DesiredSpark
from fleet.files import found_files
from fleet.fit.admission import NOBODY, Admission, Admitted
from fleet.fit.policy import Policy
from fleet.observation import Observation
from fleet.ollama.disrupt import Drained
from fleet.ollama.fit import memory_word
from fleet.plan_notes import notes
from fleet.planned import HostPlan, PlannedCommand, PlannedOperation
from fleet.prestate import prestate, unseen
from fleet.record import Digest, Record, canonical_json, sha256_digest
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.spark import Spark
from fleet.step import Step
from fleet.target import Scope, Target


class Metadata:
    """Marks a field of a plan that is no part of its digest, as `Annotated[str, METADATA]`."""


METADATA = Metadata()


class Made(Record):
    """Where a plan comes from."""

    observed_at: str | None = None
    """When its hosts were looked at, in UTC: `2026-11-29T16:15:00Z`."""
    by: str | None = None
    """Who asked for it: `user@controller`."""
    roster_digest: Digest
    """Of the whole roster, which has other hosts in it too."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Of what made it: `sparks`, `pyinfra`."""


class Plan(Record):
    """What every Spark of a target needs. It leaves nothing to decide."""

    format: Literal[1] = 1
    """Of this document; another number is another meaning."""
    target: Target
    scope: Scope
    desired_digest: Digest
    """Of what the target's hosts should be, and no other host."""
    prestate_digest: Digest
    """Of what the decisions rest on, on all of its hosts: see `HostPlan.prestate`."""
    hosts: tuple[HostPlan, ...]
    made: Annotated[Made, METADATA]

    @property
    @override
    def digest(self) -> str:
        """Of all that is stable, but for `made`."""
        content = {name: value for name, value in self.stable.items() if name not in self.metadata()}
        return sha256_digest(canonical_json(content).encode())

    @classmethod
    def metadata(cls) -> frozenset[str]:
        """The fields that are no part of the digest."""
        marked = {name: field.metadata for name, field in cls.model_fields.items()}
        return frozenset(name for name, marks in marked.items() if any(isinstance(each, Metadata) for each in marks))

    @property
    def is_noop(self) -> bool:
        """Is everything as desired?"""
        return not self.steps

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step on every host."""
        return tuple(step for each in self.hosts for step in each.steps)

    def host(self, name: str) -> HostPlan:
        """What it says of one host; KeyError for a host of another target."""
        return {each.host: each for each in self.hosts}[name]

    def with_commands(self, commands: Mapping[str, Mapping[str, tuple[PlannedCommand, ...]]]) -> Self:
        """The same plan with the commands of each host's operations, by host and operation."""
        hosts = tuple(host.with_commands(commands[host.host]) for host in self.hosts)
        return self.replaced(hosts=hosts)

    def made_by(self, by: str, observed_at: str, versions: Mapping[str, str]) -> Self:
        """The same plan with where it comes from; its digest stays."""
        made = Made(by=by, observed_at=observed_at, versions=dict(versions), roster_digest=self.made.roster_digest)
        return self.replaced(made=made)


class Refusals(Record):
    """Why there is no plan: every reason, on every host of the target, at once."""

    refusals: tuple[Refusal, ...]


def plan(
    roster: Roster,
    target: Target,
    collection: Mapping[str, Observation],
    scope: Scope = Scope.SERVE,
    drained: Drained = frozenset(),
    admission: Admission = NOBODY,
) -> Plan | Refusals:
    """The plan for a target, or every refusal; a host of it that nobody looked at is one.

    + drained: digests of the serving processes that were drained
    + admission: what is known to have fitted, and what shall be tried for the first time

    A target with a host that the roster does not enrol raises KeyError: `target_of` makes none.
    """
    desired = {host: _asked(roster.desired_for(host), scope) for host in sorted(target.hosts)}
    # The others of a run count, as those that have a model to offer; an observation from a file may be of strangers.
    seen = {host: found for host, found in collection.items() if host in roster.enrolled}
    decided = {host: _decided(roster, wanted, seen, scope, drained, admission) for host, wanted in desired.items()}
    refusals = [each.outcome for found in decided.values() for each in found if isinstance(each.outcome, Refusal)]
    if refusals:
        return Refusals(refusals=tuple(dict.fromkeys(refusals)))
    hosts = tuple(_host_plan(desired[host], seen[host], found, scope, admission) for host, found in decided.items())
    return Plan(
        target=target,
        scope=scope,
        desired_digest=_digest([each.to_json() for each in desired.values()]),
        prestate_digest=_digest({each.host: each.prestate for each in hosts}),
        hosts=hosts,
        made=Made(roster_digest=roster.digest),
    )


def _asked(desired: DesiredSpark, scope: Scope) -> DesiredSpark:
    """What a scope does not ask about does not move its plans."""
    spark = desired.spark.replaced(kernel=None, host=None, retire=())
    if scope is Scope.KERNEL:
        spark = Spark(enrolled=True, machine_id=spark.machine_id)
        return DesiredSpark(name=desired.name, spark=spark, rail_ends=(), ollama=None, kernel=desired.kernel)
    asked = desired.replaced(spark=spark, kernel=None)
    unserved = {"ollama": None, "retirement": None, "is_source": False, "memory_policy": Policy()}
    if scope is Scope.HOST:
        return asked.replaced(rail_ends=(), transit=None, **unserved)
    asked = asked.replaced(host=None)
    return asked if scope.includes(Scope.SERVE) else asked.replaced(**unserved)


def _decided(
    roster: Roster,
    desired: DesiredSpark,
    seen: Mapping[str, Observation],
    scope: Scope,
    drained: Drained,
    admission: Admission,
) -> tuple[Decided, ...]:
    name = desired.name
    if name not in seen:
        never = Refusal(code="unobserved", subject=name, expected="an observation", found="none at all")
        return (Decided("", name, (), never),)
    return tuple(considered(desired, seen[name], scope, drained, admission, beside(roster, name, seen)))


def _host_plan(
    desired: DesiredSpark, seen: Observation, decided: tuple[Decided, ...], scope: Scope, admission: Admission
) -> HostPlan:
    due = [each for each in decided if each.outcome is not None]
    return HostPlan(
        host=desired.name,
        prestate=prestate(seen, scope),
        operations=tuple(
            PlannedOperation(name=name, steps=tuple(each.outcome for each in found))
            for name, found in groupby(due, key=lambda each: each.operation)
        ),
        considered=tuple(dict.fromkeys(each.subject for each in decided if each.outcome is None)),
        unseen=unseen(seen, scope),
        found=found_files((each.outcome for each in due if isinstance(each.outcome, Step)), seen),
        memory_fit=_memory_fit(desired, seen, admission),
        notes=notes(desired, seen, [each.outcome for each in due if isinstance(each.outcome, Step)], scope),
    )


def _memory_fit(desired: DesiredSpark, seen: Observation, admission: Admission) -> Admitted | None:
    """What was said of its memory where it is not refused."""
    if desired.ollama is None or not desired.ollama.residents:
        return None
    word = memory_word(desired.ollama, seen, desired.memory_policy, admission)
    return word if isinstance(word, Admitted) else None


def _digest(value: Any) -> str:
    return sha256_digest(canonical_json(value).encode())
