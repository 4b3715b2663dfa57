"""Where a model can be copied from: another Spark of the run that has it by digest, and a rail to it. Pure."""

from collections.abc import Iterable, Mapping

from fleet.observation import Observation
from fleet.ollama.deployment import OllamaDeployment, OllamaModelPin
from fleet.rail import Segment
from fleet.record import Digest, Record, Unobserved
from fleet.refusal import Refusal

SLOWEST_BYTES_PER_SECOND = 20_000_000
"""What a copy is given time for; a rail of 200 Gb/s has a thousand times that."""
LEAST_SECONDS = 900


class Source(Record):
    """One Spark that has one model, as seen by one that has not."""

    spark: str
    rail: int
    address: str
    """Its end of the rail."""
    client: str
    """Our end of it."""


class Offer(Record):
    """The same, as seen by the Spark that has it."""

    to: str
    """The Spark that copies it."""
    rail: int
    address: str
    client: str
    model: str
    """The name that it has here; the other may have another for it."""
    manifest_digest: Digest
    size_bytes: int

    @property
    def seconds(self) -> int:
        """How long it is offered at most."""
        return LEAST_SECONDS + self.size_bytes // SLOWEST_BYTES_PER_SECOND


Sources = Mapping[str, Source]
"""By the name of a model."""


def sources(
    name: str,
    desired: OllamaDeployment,
    others: Iterable[str],
    segments: Iterable[Segment],
    collection: Mapping[str, Observation],
) -> dict[str, Source]:
    """Where each declared model of a Spark could be copied from.

    + others: the Sparks that the roster allows for it
    """
    joined = tuple(segments)
    found: dict[str, Source] = {}
    for pin in desired.models:
        for other in others:
            source = _joined(name, other, joined)
            if source is not None and other in collection and held(pin, collection[other]) is not None:
                found.setdefault(pin.name, source)
    return found


def held(pin: OllamaModelPin, seen: Observation) -> str | None:
    """The name under which a Spark has exactly the pinned model; None where it has it not, or nobody knows."""
    if isinstance(seen.ollama_models, Unobserved) or seen.ollama_models.directory is None:
        return None
    names = (each.name for each in seen.ollama_models.models if each.manifest_digest == pin.manifest_digest)
    return min(names, key=lambda name: (name != pin.name, name), default=None)


def _joined(name: str, other: str, segments: Iterable[Segment]) -> Source | None:
    """The rail of the lowest number between two Sparks."""
    for segment in sorted(segments, key=lambda each: each.rail):
        here, there = segment.end_of(name), segment.end_of(other)
        if here is not None and there is not None:
            return Source(spark=other, rail=segment.rail, address=str(there.address.ip), client=str(here.address.ip))
    return None


def gone(offer: Offer, seen: Observation) -> Refusal:
    """It was there when the run began."""
    return Refusal(
        code="offer_gone",
        subject=f"{seen.host} ollama model {offer.model}",
        expected=f"{offer.manifest_digest}, which {offer.to} copies",
        found="it is not there any more",
    )
