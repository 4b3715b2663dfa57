"""What a model needs of memory, as a roster declares it beside the model's digest. It is about that artefact alone."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fleet.record import Record
from fleet.wall import wall

Bytes = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(gt=0)]


class DraftNeeds(Record):
    """What a speculative draft needs beside its target."""

    attachment: Literal["separate", "fused"]
    weights_bytes: Annotated[int, Field(gt=0)] | None = None
    """Of a separate draft. The weights of a fused one are in the artefact that it is fused into, and nowhere else."""
    kv_bytes_per_token: Bytes

    @model_validator(mode="after")
    def _walls(self) -> Self:
        if self.attachment == "fused" and self.weights_bytes is not None:
            sentence = "draft.weights_bytes: expected none, since the fused artefact has them, found"
            raise wall("fused_draft_weights", f"{sentence} {self.weights_bytes:,}")
        if self.attachment == "separate" and self.weights_bytes is None:
            raise wall(
                "separate_draft_weights", "draft.weights_bytes: expected those of the separate draft, found none"
            )
        return self


class Needs(Record):
    """What one model needs, whole: what each Spark needs of that follows from how it is split."""

    weights_bytes: Count
    """All weights as they lie in memory."""
    kv_bytes_per_token: Bytes
    """KV cache of all layers for one token, at the cache's own type; 0 for a model without one."""
    graphs_bytes: Bytes = 0
    """CUDA graphs and compute buffers, on each Spark."""
    workspace_bytes: Bytes = 0
    """Activations, NCCL buffers and the like, on each Spark."""
    layers: Count | None = None
    """Where layers are split over Sparks."""
    attention_heads: Count | None = None
    """Where tensors are split over Sparks."""
    kv_heads: Count | None = None
    """Into how many parts the KV cache of a layer can be split; 1 where each Spark has all of it (MLA)."""
    draft: DraftNeeds | None = None
