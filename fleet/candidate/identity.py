"""What exactly is served, and what exactly serves it. Evidence about one identity says nothing about another."""

import re
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from fleet.record import Digest, Record
from fleet.wall import wall


class Runtime(StrEnum):
    """What serves. Three, and four identities, even where one has another inside, as Ollama has llama.cpp."""

    OLLAMA = "ollama"
    VLLM = "vllm"
    LLAMA_CPP = "llama.cpp"
    LLAMA_CPP_RPC = "llama.cpp-rpc"
    """The same build over several Sparks: its memory, its transport and its speed are others."""


class RuntimeIdentity(Record):
    """One build of a runtime."""

    runtime: Runtime
    form: Literal["executable", "image"]
    content_digest: Digest
    """Of the executable with all that it loads, as far as that was looked at, or of the image: never a tag."""
    version: str | None = None
    """As it calls itself; None where it was not asked."""

    def __str__(self) -> str:
        return f"{self.runtime} {self.version or ''}".rstrip() + f" ({self.form} {self.content_digest})"


class ArtifactFile(Record):
    """One file of an artefact."""

    path: str
    """Relative, with `/` between parts."""
    size_bytes: Annotated[int, Field(ge=0)]
    content_digest: Digest

    @model_validator(mode="after")
    def _walls(self) -> Self:
        parts = self.path.split("/")
        if any(part in ("", ".", "..") for part in parts) or not self.path.isprintable():
            raise wall("artifact_path", f"path: expected one inside the artefact, found {self.path!r:.80}")
        return self


def _by_path(files: tuple[ArtifactFile, ...]) -> tuple[ArtifactFile, ...]:
    return tuple(sorted(files, key=lambda each: each.path))


class ClosedFiles(Record):
    """An artefact that is exactly these files: one more, or one less, is another artefact."""

    form: Literal["files"] = "files"
    files: Annotated[tuple[ArtifactFile, ...], Field(min_length=1), AfterValidator(_by_path)]

    @model_validator(mode="after")
    def _walls(self) -> Self:
        paths = [each.path for each in self.files]
        twice = sorted({path for path in paths if paths.count(path) > 1})
        if twice:
            raise wall("artifact_file_twice", f"files: expected each path once, found {', '.join(twice)} several times")
        return self

    @property
    def size_bytes(self) -> int:
        """Of all files."""
        return sum(each.size_bytes for each in self.files)


class OllamaManifest(Record):
    """An artefact of Ollama's: the manifest names every layer by its digest. A tag is no part of it."""

    form: Literal["ollama"] = "ollama"
    manifest_digest: Digest


ArtifactIdentity = Annotated[ClosedFiles | OllamaManifest, Field(discriminator="form")]

ModelId = Annotated[str, Field(pattern=re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?$"))]
"""A model as its publisher names it: `Qwen/Qwen3-8B`."""
