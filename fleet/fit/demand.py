"""What each rank of an assembly must hold: a model at its context and slots, split over some Sparks."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import Literal, Self

from pydantic import model_validator

from fleet.fit.needs import Count, Needs
from fleet.record import Record
from fleet.wall import wall

KV = "KV cache"
DRAFT_KV = "draft KV cache"


class Split(Record):
    """How a model lies on its Sparks."""

    kind: Literal["whole", "tensor", "layers"]
    """`whole`: on one, as Ollama has it. `tensor`: each has a part of each layer, as vLLM. `layers`: each has some
    layers, as llama.cpp over RPC: heads need not be divisible there."""
    ranks: Count = 1

    @model_validator(mode="after")
    def _walls(self) -> Self:
        if self.kind == "whole" and self.ranks != 1:
            raise wall("whole_on_several", f"split: expected a whole model on one spark, found {self.ranks}")
        return self

    def infeasible(self, needs: Needs) -> tuple[str, str] | None:
        """What would have to be so for a model to be split like this, and what is; None where it can be."""
        if self.kind == "tensor" and self.ranks > 1:
            return self._infeasible_tensors(needs)
        if self.kind == "layers" and (needs.layers is None or needs.layers < self.ranks):
            return f"at least {self.ranks} layers", str(needs.layers or "no number of layers declared")
        return None

    def _infeasible_tensors(self, needs: Needs) -> tuple[str, str] | None:
        heads, kv_heads = needs.attention_heads, needs.kv_heads
        if heads is None or kv_heads is None:
            return "attention_heads and kv_heads declared", "no such numbers"
        if heads % self.ranks:
            return f"attention heads that {self.ranks} ranks divide", str(heads)
        if kv_heads % self.ranks and self.ranks % kv_heads:
            return f"KV heads that divide {self.ranks} ranks, or are divided by them", str(kv_heads)
        return None

    def weights(self, needs: Needs, rank: int) -> Fraction:
        """The share of all weights on a rank."""
        return Fraction(1, self.ranks) if self.kind == "tensor" else self._layers(needs, rank)

    def kv(self, needs: Needs, rank: int) -> Fraction:
        """The share of the KV cache on a rank; with fewer KV heads than ranks some have the same."""
        if self.kind == "tensor":
            return Fraction(1, min(self.ranks, needs.kv_heads or 1))
        return self._layers(needs, rank)

    def _layers(self, needs: Needs, rank: int) -> Fraction:
        if self.kind == "whole":
            return Fraction(1)
        assert needs.layers is not None, "expected a split that is feasible"
        each, over = divmod(needs.layers, self.ranks)
        return Fraction(each + (rank < over), needs.layers)

    def __str__(self) -> str:
        ways = {"whole": "whole", "tensor": f"tensors over {self.ranks}", "layers": f"layers over {self.ranks}"}
        return ways[self.kind]


WHOLE = Split(kind="whole")


class Line(Record):
    """One line of the arithmetic: what is held on a rank, and why that much."""

    model: str
    what: str
    amount_bytes: int
    how: str


class Demand(Record):
    """One model as it shall be served."""

    model: str
    needs: Needs
    context: Count
    """Tokens of context of each slot."""
    slots: Count
    """How many requests are served at once, each with its own context."""
    kv_cache_bytes: Count | None = None
    """What the engine takes for the KV cache on each rank, where that is pinned: also what no slot needs."""

    @property
    def tokens(self) -> int:
        """That the KV cache has room for."""
        return self.context * self.slots

    def lines(self, split: Split, rank: int) -> tuple[Line, ...]:
        """What a rank must hold; a split that is infeasible for it is a bug of ours."""
        needs = self.needs
        share, kv = split.weights(needs, rank), split.kv(needs, rank)
        found = [
            self._part("weights", needs.weights_bytes, share),
            self._kv(KV, needs.kv_bytes_per_token, kv),
        ]
        if needs.draft is not None:
            if needs.draft.weights_bytes is not None:
                found.append(self._part("draft weights", needs.draft.weights_bytes, share))
            found.append(self._kv(DRAFT_KV, needs.draft.kv_bytes_per_token, kv))
        found += self._beyond(sum(each.amount_bytes for each in found if each.what in (KV, DRAFT_KV)))
        for what, amount in (("graphs", needs.graphs_bytes), ("workspace", needs.workspace_bytes)):
            found += [Line(model=self.model, what=what, amount_bytes=amount, how="as declared")] if amount else []
        return tuple(found)

    def _part(self, what: str, whole: int, share: Fraction) -> Line:
        how = "as declared" if share == 1 else f"{share} of {whole:,} B"
        return Line(model=self.model, what=what, amount_bytes=ceil(share * whole), how=how)

    def _beyond(self, needed: int) -> list[Line]:
        """What a pinned KV cache takes beyond what the slots need of it."""
        pinned = self.kv_cache_bytes or 0
        how = f"a KV cache pinned to {pinned:,} B takes all of it"
        beyond = pinned - needed
        return [Line(model=self.model, what="KV beyond", amount_bytes=beyond, how=how)] if beyond > 0 else []

    def _kv(self, what: str, per_token: int, share: Fraction) -> Line:
        on_rank = ceil(share * per_token)
        how = f"{self.context:,} tokens x {slots_in_words(self.slots)} x {on_rank:,} B"
        return Line(model=self.model, what=what, amount_bytes=self.tokens * on_rank, how=how)


def infeasible(demands: Sequence[Demand], split: Split) -> tuple[Demand, tuple[str, str]] | None:
    """The first demand that cannot be split like this, and why; None where all can."""
    found = ((each, why) for each in demands if (why := split.infeasible(each.needs)) is not None)
    return next(found, None)


def slots_in_words(count: int) -> str:
    """`1 slot`, `4 slots`."""
    return f"{count} slot{'' if count == 1 else 's'}"
