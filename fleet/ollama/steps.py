"""The steps that bring one Spark's Ollama to its deployment."""

from typing import Annotated, ClassVar, Literal

from fleet.step import FOUND, Effect, Step


class InstallProgram(Step):
    """Bring one build of Ollama onto the host, verified before anything of it is unpacked, beside whatever runs."""

    kind: Literal["ollama_install"] = "ollama_install"
    version: str
    archive: str
    archive_digest: str
    size_bytes: int
    folder: str


class ConfigureService(Step):
    """Make drop-in and residents unit durable, load them, enable both, and restart Ollama where its process differs."""

    kind: Literal["ollama_service"] = "ollama_service"
    path: str
    text: str
    write: bool
    reload: bool
    enable: bool
    restart: bool
    residents: bool
    """Whether the residents unit is to be made as `residents_text`."""
    residents_text: str | None
    """None where there should be no such unit."""
    switch: str | None = None
    """The executable that the link shall lead to; the old one is back where the new one does not answer."""
    kept: str | None = None
    """The digest of the foreign program at the link's place, which is kept aside."""
    version: str | None = None
    """What its API must say of its version; None where the roster names no build."""
    unit_text: str | None = None
    """The unit file to be written; None where there is one."""
    user: bool = False
    """Whether the user that runs it is to be made."""
    forgets: tuple[str, ...] = ()
    """Folders of builds that go once it answers."""


class PullModel(Step):
    """Download one model that is not there, or that goes for another under its tag."""

    kind: Literal["ollama_pull"] = "ollama_pull"
    effect: Effect = Effect.DOWNLOAD
    model: str
    manifest_digest: str
    size_bytes: int
    replaces: str | None = None
    """The digest that is under the tag now, where there is one: what is loaded of it is unloaded first."""


class OfferModel(Step):
    """Give one model of this store to one other Spark over a rail, for a while."""

    kind: Literal["ollama_offer"] = "ollama_offer"
    effect: Effect = Effect.ACTIVATE
    model: str
    manifest_digest: str
    directory: str
    """The store that has it."""
    address: str
    """Where it is offered: this Spark's end of the rail."""
    to: str
    """The Spark that copies it."""
    client: str
    """That one's end of the rail; nobody else is answered."""
    seconds: int
    """After which the offer ends, whatever became of it."""


class CopyModel(Step):
    """Copy one model from another Spark's store, by digest, over a rail."""

    follows: ClassVar[frozenset[str]] = frozenset({"ollama_service"})
    """A service that is made so may have its store elsewhere."""

    kind: Literal["ollama_copy"] = "ollama_copy"
    effect: Effect = Effect.DOWNLOAD
    model: str
    manifest_digest: str
    size_bytes: int
    source: str
    address: str
    client: str
    directory: Annotated[str, FOUND]
    """The store that gets it."""
    replaces: str | None = None
    """The digest that is under the tag now, where there is one: what is loaded of it is unloaded first."""


class LoadResident(Step):
    """Load one model, or load it again as declared."""

    follows: ClassVar[frozenset[str]] = frozenset(
        {"ollama_service", "ollama_pull", "ollama_copy", "ollama_evict", "ollama_load"}
    )
    """A restart unloads everything, and the residents unit begins to load by itself."""

    kind: Literal["ollama_load"] = "ollama_load"
    effect: Effect = Effect.LOAD
    model: str
    context: int
    keep_alive: int | str
    """As the request spells it: -1, or a duration with its unit."""


class EvictResident(Step):
    """Unload one model that nobody declared."""

    kind: Literal["ollama_evict"] = "ollama_evict"
    effect: Effect = Effect.EVICT
    model: str


class RetireOllama(Step):
    """Take away what makes Ollama serve a deployment, and end the process that does."""

    kind: Literal["ollama_retire"] = "ollama_retire"
    files: bool
    """Whether drop-in and residents unit go."""
    restart: bool
    """Whether its process starts again without our settings, and so with nothing loaded."""
