"""One resident of a Spark's memory: what it serves, what it runs as, whose it is, what each instrument says. Pure."""

from enum import StrEnum
from typing import Annotated

from fleet.candidate.identity import Runtime, RuntimeIdentity
from fleet.record import VOLATILE, Digest, Record, Unobserved


class Owner(StrEnum):
    """Whose it is."""

    OURS = "ours"
    """A run of ours left it running, or made it."""
    NEIGHBOUR = "declared"
    """The roster declares it as somebody else's."""
    UNKNOWN = "unknown"
    """Nobody has said so, and so it is not ours to end."""


class Held(Record):
    """Bytes by instrument, at one moment. They overlap in ways that nobody sees from outside: no sum joins them."""

    engine_bytes: Annotated[int | Unobserved | None, VOLATILE] = None
    """By the engine's own word; None where it has no such word, as vLLM."""
    engine_covers: str | None = None
    """What that word is about: `weights`, or `weights and context`."""
    rss_bytes: Annotated[int | Unobserved, VOLATILE]
    """Resident memory of its processes, pages of files among it; what is shared counts for each."""
    own_bytes: Annotated[int | Unobserved, VOLATILE]
    """Of that what nobody else can get while it runs: without pages of files, and of what is shared its part."""
    compute_apps_bytes: Annotated[int | Unobserved, VOLATILE]
    """What the GPU's driver has given its processes."""


class Resident(Record):
    """One model with the processes that are its own, or the processes of an engine that no model tells apart."""

    name: str
    """The model, else the program."""
    runtime: Runtime | None
    """None for a program that is none of our engines."""
    identity: RuntimeIdentity | None = None
    """The build that runs, by the digest of its image or its executable; None where that is not known."""
    artifact_digest: Digest | None = None
    """Of its model's manifest; None where the engine does not tell."""
    context: int | None = None
    """Tokens of each slot."""
    owner: Owner
    generation: Digest | None = None
    """The plan whose run left it running; None where no run has stamped it."""
    note: str | None = None
    """What the roster says of a neighbour."""
    unit: str | None = None
    container: str | None = None
    """The name of its container, or its id where Docker was not asked."""
    user: str | None = None
    pids: Annotated[tuple[int, ...], VOLATILE] = ()
    """None at all where its processes cannot be told from those of another."""
    orphan: bool = False
    """Has the server that started it gone?"""
    held: Held

    @property
    def comes_and_goes(self) -> bool:
        """It is what a host does, not how it is set up."""
        return True
