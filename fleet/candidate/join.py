"""The join of what is known: a candidate exists only where every leg is there, about exactly the same things.

A missing leg is a refusal with a code of its own, never a candidate that ranks low.
"""

from collections.abc import Collection, Sequence
from typing import Self, TypeVar

from pydantic import model_validator

from fleet.candidate.identity import ArtifactIdentity, RuntimeIdentity
from fleet.candidate.incompatible import KNOWN, Incompatible
from fleet.candidate.legs import (
    AnyLeg,
    ArtifactRuntimeCompatibility,
    Hosts,
    Leg,
    ParallelStrategyFeasibility,
    RuntimeHostKernelCompatibility,
    Transport,
    TransportFeasibility,
)
from fleet.fit.demand import Split
from fleet.record import Digest, Record
from fleet.refusal import Refusal
from fleet.wall import wall

L = TypeVar("L", bound=Leg)


class Asked(Record):
    """What somebody would serve, with what, and where."""

    artifact: ArtifactIdentity
    runtime: RuntimeIdentity
    environment: Digest
    """Of the effective environment of the runtime."""
    hosts: Hosts
    release: str
    """The kernel that runs on all of them."""
    command_line: frozenset[str] = frozenset()
    """Words of that kernel's command line that are on all of them."""
    split: Split
    transport: Transport

    @model_validator(mode="after")
    def _walls(self) -> Self:
        if len(set(self.hosts)) != self.split.ranks or len(self.hosts) != self.split.ranks:
            raise wall("ranks_and_hosts", f"hosts: expected {self.split.ranks} sparks, found {', '.join(self.hosts)}")
        if (self.transport is Transport.NONE) != (len(self.hosts) == 1):
            raise wall("transport_of_one", f"transport: expected one between several sparks, found {self.transport}")
        return self


class DeploymentCandidate(Record):
    """What could be deployed: every leg is there."""

    asked: Asked
    loads: ArtifactRuntimeCompatibility
    runs: RuntimeHostKernelCompatibility
    splits: ParallelStrategyFeasibility
    reaches: TransportFeasibility | None
    """None on one Spark."""

    @model_validator(mode="after")
    def _walls(self) -> Self:
        legs = [each for each in (self.loads, self.runs, self.splits, self.reaches) if each is not None]
        if not all(_is_about(each, self.asked) for each in legs) or (self.reaches is None) != (len(legs) == 3):
            raise wall("legs_of_another", "candidate: expected legs about what is asked, found others")
        if (self.asked.transport is Transport.NONE) != (self.reaches is None):
            raise wall("legs_of_another", "candidate: expected a transport between several sparks, found another")
        return self


def candidate(
    asked: Asked, known: Sequence[AnyLeg], incompatible: Collection[Incompatible] = KNOWN
) -> DeploymentCandidate | tuple[Refusal, ...]:
    """The candidate, or every reason why there is none.

    + known: every leg that is known, about whatever
    + incompatible: what is known not to go together; that wins over any leg
    """
    against = tuple(each for each in incompatible if _is_met(each, asked))
    loads = _leg(asked, known, ArtifactRuntimeCompatibility)
    runs = _leg(asked, known, RuntimeHostKernelCompatibility)
    splits = _leg(asked, known, ParallelStrategyFeasibility)
    reaches = _leg(asked, known, TransportFeasibility)
    refusals = [_incompatible(asked, each) for each in against]
    missing = (_no_runtime(asked) if loads is None else None, _no_kernels(asked) if runs is None else None,
               _no_split(asked) if splits is None else None, _no_transport(asked, reaches))  # fmt: skip
    refusals += [each for each in missing if each is not None]
    if refusals or loads is None or runs is None or splits is None:
        return tuple(refusals)
    return DeploymentCandidate(asked=asked, loads=loads, runs=runs, splits=splits, reaches=reaches)


def _leg(asked: Asked, known: Sequence[AnyLeg], kind: type[L]) -> L | None:
    return next((each for each in known if isinstance(each, kind) and _is_about(each, asked)), None)


def _is_about(leg: Leg, asked: Asked) -> bool:
    """Is every single thing that the leg is about the one that is asked about?"""
    mine = {
        "artifact": asked.artifact.digest, "runtime": asked.runtime.digest, "environment": asked.environment,
        "hosts": asked.hosts, "release": asked.release, "split": asked.split, "transport": asked.transport,
    }  # fmt: skip
    return all(value == mine[name] for name, value in leg if name != "source")


def _is_met(entry: Incompatible, asked: Asked) -> bool:
    pairs = (
        (entry.runtime, asked.runtime.digest), (entry.environment, asked.environment),
        (entry.artifact, asked.artifact.digest), (entry.release, asked.release), (entry.transport, asked.transport),
    )  # fmt: skip
    return all(mine is None or mine == found for mine, found in pairs) and entry.unless not in asked.command_line


def _where(asked: Asked) -> str:
    return ", ".join(asked.hosts)


def _incompatible(asked: Asked, entry: Incompatible) -> Refusal:
    expected, found = entry.remedy, entry.told
    if entry.runtime is not None and entry.transport is None:
        return Refusal(code="kernel_dispatch_unsupported", subject=_scope(asked), expected=expected, found=found)
    if entry.transport is not None:
        return Refusal(
            code="transport_unavailable", subject=f"{_where(asked)} {asked.transport} under {asked.release}",
            expected=expected, found=found,
        )  # fmt: skip
    return Refusal(
        code="known_incompatible", subject=f"{_where(asked)} {asked.release}", expected=expected, found=found
    )


def _scope(asked: Asked) -> str:
    """The exact image and environment: another one of either is another question."""
    runtime = f"{asked.runtime.runtime} {asked.runtime.form} {asked.runtime.content_digest}"
    return f"{_where(asked)} {runtime} in environment {asked.environment}"


def _no_runtime(asked: Asked) -> Refusal:
    return Refusal(
        code="artifact_present_but_no_admitted_runtime",
        subject=f"{_where(asked)} artefact {asked.artifact.digest}",
        expected="a runtime that is known to load it",
        found=f"nothing known of {asked.runtime}",
    )


def _no_kernels(asked: Asked) -> Refusal:
    found = f"nothing known under kernel {asked.release}"
    return Refusal(
        code="kernel_dispatch_unsupported", subject=_scope(asked), expected="kernels for the GPU", found=found
    )


def _no_split(asked: Asked) -> Refusal:
    return Refusal(
        code="parallel_strategy_infeasible",
        subject=f"{_where(asked)} artefact {asked.artifact.digest}",
        expected=f"to be split as {asked.split} by {asked.runtime.runtime}",
        found="nothing known of that",
    )


def _no_transport(asked: Asked, reaches: TransportFeasibility | None) -> Refusal | None:
    if reaches is not None or asked.transport is Transport.NONE:
        return None
    return Refusal(
        code="transport_unavailable",
        subject=f"{_where(asked)} {asked.transport} under {asked.release}",
        expected="proof that they reach each other",
        found="none",
    )
