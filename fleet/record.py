"""The base of every value in the model: frozen, closed, with one canonical spelling and one digest."""

import hashlib
import json
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field


class Record(BaseModel):
    """A frozen value that refuses unknown fields.

    Two records with the same meaning have the same `canonical` text and so the same `digest`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    def to_json(self) -> Any:
        """The value as plain JSON types; pyinfra prints facts through this."""
        return self.model_dump(mode="json")

    @property
    def canonical(self) -> str:
        """Canonical JSON: sorted keys, no spaces, ASCII."""
        return canonical_json(self.to_json())

    @property
    def digest(self) -> str:
        """`sha256:` and the hex digest of `canonical`."""
        return sha256_digest(self.canonical.encode())

    @classmethod
    def from_canonical(cls, text: str) -> Self:
        """The inverse of `canonical`; raises pydantic.ValidationError when the text is no such record."""
        return cls.model_validate_json(text)


Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
"""A digest as `sha256_digest` spells it."""


def canonical_json(value: Any) -> str:
    """The one spelling of plain JSON types: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def sha256_digest(content: bytes) -> str:
    """The digest of some bytes, spelled `sha256:<64 hex digits>` as everywhere in this project."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


class Unobserved(Record):
    """We could not look, or could not read what we saw. Never a value, never an empty list."""

    reason: str
    """One line that a person can act on; it quotes no file content."""
