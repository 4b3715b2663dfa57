"""What is known not to go together, as data with where each is known from.

Each entry is about exact things. What was published about a tag, as `vllm/vllm-openai:v0.12.0-aarch64` without kernels
for a GB10 (vllm-project/vllm issue 30163), is none: a tag moves, and names another image a month later. A lab that
found such a thing out says so of the digest that it ran, beside these.
"""

from collections.abc import Collection
from typing import Self

from pydantic import model_validator

from fleet.candidate.legs import Transport
from fleet.record import Digest, Record
from fleet.wall import wall


class Incompatible(Record):
    """Things that do not go together; what is None does not matter."""

    runtime: Digest | None = None
    environment: Digest | None = None
    artifact: Digest | None = None
    release: str | None = None
    """Of the kernel, exactly."""
    transport: Transport | None = None
    unless: str | None = None
    """A word of the kernel's command line with which they do go together."""
    effect: str
    """What is seen then."""
    source: str

    @model_validator(mode="after")
    def _walls(self) -> Self:
        if not any((self.runtime, self.artifact, self.release, self.transport)):
            raise wall("incompatible_with_all", "incompatible: expected at least one exact thing, found none")
        if self.environment and not self.runtime:
            raise wall("environment_of_none", "environment: expected it with the runtime that it is of, found it alone")
        return self

    @property
    def remedy(self) -> str:
        """What would have to be so."""
        return "things that go together" if self.unless is None else f"{self.unless} on the kernel's command line"

    @property
    def told(self) -> str:
        """What is seen, and who says so."""
        return f"{self.effect} ({self.source})"


_KHO = "long-term RDMA pins fail: `ibv_reg_mr_iova2 … Cannot allocate memory`, since KHO reserves about 9.3 GiB as CMA"

KNOWN = (
    *(
        Incompatible(
            release=release,
            transport=Transport.RDMA,
            unless="kho=off",
            effect=_KHO,
            source="field notes of 2026: 7.0.0-1019 turns KHO on",
        )
        for release in ("7.0.0-1019-nvidia", "7.0.0-1019-nvidia-64k")
    ),
    Incompatible(
        transport=Transport.GPUDIRECT,
        effect="GPUDirect RDMA is not supported on a DGX Spark",
        source="NVIDIA's documentation of the DGX Spark, from field notes of 2026",
    ),
)
"""By no means all: what is not here is not known to be incompatible, and not known to be compatible either."""


def unreachable(
    transport: Transport, release: str, command_line: Collection[str], known: Collection[Incompatible] = KNOWN
) -> tuple[Incompatible, ...]:
    """What is known against a transport under a kernel, whatever is served over it.

    + command_line: words of that kernel's command line
    """
    return tuple(
        each
        for each in known
        if (each.runtime, each.artifact) == (None, None)
        and each.transport is transport
        and each.release in (None, release)
        and each.unless not in command_line
    )
