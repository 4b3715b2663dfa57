"""Assemblies: models that an engine of others serves on some Sparks. They are asked about, and never converged."""

from collections.abc import Collection, Mapping
from typing import Literal, Self

from pydantic import model_validator

from fleet.candidate.draft import Binding, Draft, bound
from fleet.candidate.identity import ModelId
from fleet.candidate.released import RELEASED, released
from fleet.cluster import Cluster
from fleet.fabric import Fabric
from fleet.fit.demand import Demand, Split
from fleet.fit.limits import Limits
from fleet.fit.needs import Count, Needs
from fleet.fit.policy import Fraction
from fleet.record import Record
from fleet.shape import Shape
from fleet.spark import HostName, RosterName
from fleet.wall import wall

Engine = Literal["vllm", "llama.cpp", "llama.cpp-rpc"]
"""As `fleet.candidate.identity.Runtime` spells them; what Ollama serves is a deployment."""
_SPLITS: Mapping[Engine, Literal["whole", "tensor", "layers"]] = {
    "vllm": "tensor",
    "llama.cpp": "whole",
    "llama.cpp-rpc": "layers",
}


class AssemblyDraft(Record):
    """A speculative draft as an engine is told it: one of the released, or one that is written out here."""

    name: ModelId
    tokens: Count
    """`num_speculative_tokens`."""
    unreleased: Draft | None = None
    """What it is, for one that is not in the grid of released ones."""

    @model_validator(mode="after")
    def _walls(self) -> Self:
        is_in_grid, mine = released(self.name) is not None, self.unreleased
        if is_in_grid == (mine is not None) or (mine is not None and mine.name != self.name):
            grid = ", ".join(each.draft.name for each in RELEASED)
            expected = "none, since it is released" if is_in_grid else f"one of that name, or one of {grid}"
            found = "none" if mine is None else mine.name
            raise wall("draft_unknown", f"draft {self.name}: unreleased: expected {expected}, found {found}")
        return self

    @property
    def draft(self) -> Draft:
        """What it is."""
        found = released(self.name)
        draft = self.unreleased if found is None else found.draft
        assert draft is not None, "expected a wall before"
        return draft


class Assembly(Record):
    """One model, on the Sparks of one cluster, by an engine that takes one program on each of them."""

    engine: Engine
    cluster: RosterName
    """Its Sparks, in the order of their ranks."""
    model: ModelId
    memory: Needs
    context: Count
    """Tokens of each slot."""
    slots: Count
    transport: Literal["tcp", "rdma"] | None = None
    """How its ranks reach each other; None on one Spark."""
    fraction: Fraction | None = None
    """`--gpu-memory-utilization`, where somebody has decided it; else it is resolved."""
    kv_cache_bytes: Count | None = None
    """The size that its KV cache is pinned to, on each Spark."""
    draft: AssemblyDraft | None = None
    spares: tuple[HostName, ...] = ()
    """Sparks that could join, in the order in which they would."""

    @model_validator(mode="after")
    def _walls(self) -> Self:
        if self.engine != "vllm" and (told := _only_vllm(self)):
            raise wall("only_vllm", f"{told}: expected none with {self.engine}, found one; vLLM alone is told that")
        weights = None if self.memory.draft is None else self.memory.draft.weights_bytes
        if (self.draft is None) != (self.memory.draft is None):
            found = "it alone" if self.memory.draft is None else "memory.draft alone"
            raise wall(
                "draft_of_none", f"draft: expected it and memory.draft, what it needs, or neither, found {found}"
            )
        if self.draft is not None and not isinstance(
            made := bound(self.draft.draft, self.model, self.draft.tokens, weights), Binding
        ):
            raise wall("draft_unbound", "; ".join(map(str, made)))
        return self

    @property
    def demand(self) -> Demand:
        """What it needs of memory."""
        return Demand(
            model=self.model, needs=self.memory, context=self.context, slots=self.slots,
            kv_cache_bytes=self.kv_cache_bytes,
        )  # fmt: skip

    @property
    def limits(self) -> Limits:
        """What its engine is told."""
        takes = self.engine == "vllm"
        return Limits(takes_fraction=takes, fraction=self.fraction, kv_cache_bytes=self.kv_cache_bytes)

    def split(self, ranks: int) -> Split:
        """How its model lies on so many Sparks."""
        return Split(kind=_SPLITS[self.engine], ranks=ranks)


def _only_vllm(assembly: Assembly) -> str | None:
    names = ("fraction", "kv_cache_bytes", "draft")
    return next((name for name in names if getattr(assembly, name) is not None), None)


def assembled(
    assemblies: Mapping[str, Assembly],
    clusters: Mapping[str, Cluster],
    fabrics: Mapping[str, Fabric],
    taken: Collection[str],
) -> None:
    """The walls of assemblies in their roster.

    + taken: names that mean something else on a command line
    """
    for name, each in assemblies.items():
        place = f"assemblies.{name}"
        if name in taken:
            raise wall("assembly_name_taken", f"{place}: expected a name of its own, found a spark's or deployment's")
        cluster = clusters.get(each.cluster)
        if cluster is None:
            known = ", ".join(sorted(clusters)) or "none"
            raise wall("unknown_cluster", f"{place}.cluster: expected one of {known}, found {each.cluster}")
        _ranks(place, each, cluster)
        _spares(place, each, cluster, fabrics)


def _ranks(place: str, assembly: Assembly, cluster: Cluster) -> None:
    count = len(cluster.sparks)
    if assembly.engine == "llama.cpp" and count > 1:
        found = f"{count} of {assembly.cluster}"
        raise wall("whole_on_several", f"{place}.cluster: expected one spark for {assembly.engine}, found {found}")
    if (assembly.transport is None) != (count == 1):
        expected = "none on one spark" if count == 1 else "rdma or tcp between several sparks"
        raise wall("transport_of_one", f"{place}.transport: expected {expected}, found {assembly.transport or 'none'}")


def _spares(place: str, assembly: Assembly, cluster: Cluster, fabrics: Mapping[str, Fabric]) -> None:
    """Only a switch lets one more join: in every other shape all that are joined are in it."""
    if not assembly.spares:
        return
    fabric = fabrics.get(cluster.fabric or "")
    able = fabric.sparks if fabric is not None and fabric.shape is Shape.SWITCH else ()
    able = tuple(each for each in able if each not in cluster.sparks)
    wrong = [each for each in assembly.spares if each not in able or assembly.spares.count(each) > 1]
    if wrong:
        expected = f"each once of {', '.join(able)}" if able else "none, since no other is on one switch with them"
        raise wall("assembly_spare", f"{place}.spares: expected {expected}, found {wrong[0]}")
