"""The base of every value in the model: frozen, closed, with one canonical spelling and one digest."""

import hashlib
import json
import re
from functools import cache
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class Volatile:
    """Marks a field that changes by itself, as `Annotated[int, VOLATILE]`: it is no part of `Record.stable`."""


VOLATILE = Volatile()


class Record(BaseModel):
    """A frozen value that refuses unknown fields.

    Two records with the same meaning have the same `canonical` text and so the same `digest`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)

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
    def is_volatile(cls, name: str) -> bool:
        """Does the field of that name change by itself?"""
        return any(isinstance(each, Volatile) for each in cls.model_fields[name].metadata)

    @property
    def comes_and_goes(self) -> bool:
        """Is it one of those that appear and vanish by themselves? Then it is no part of `stable` in a list."""
        return False

    @property
    def stable(self) -> Any:
        """The value as plain JSON types without what changes by itself, at any depth: equal while nobody acts."""
        return _stable(self, self.to_json())

    def replaced(self, **changes: Any) -> Self:
        """The same value with some fields changed; validated again, unlike `model_copy`."""
        return type(self)(**(dict(self) | changes))

    @classmethod
    def from_canonical(cls, text: str) -> Self:
        """The inverse of `canonical`; raises pydantic.ValidationError when the text is no such record."""
        return cls.model_validate_json(text)


def _stable(value: Any, plain: Any) -> Any:
    """What is stable of a value, taken from its JSON types."""
    if isinstance(value, Record):
        names = _lasting(type(value))
        return {key: _stable(getattr(value, names[key]), plain[key]) for key in plain if key in names}
    if isinstance(value, tuple):
        pairs = zip(value, plain, strict=True)
        return [_stable(*pair) for pair in pairs if not (isinstance(pair[0], Record) and pair[0].comes_and_goes)]
    if isinstance(value, dict):
        return {key: _stable(each, plain[key]) for key, each in zip(plain, value.values(), strict=True)}
    return plain


@cache
def _lasting(kind: type[Record]) -> dict[str, str]:
    """The fields that do not change by themselves, by how they are called in JSON."""
    return {_spelled(kind, name): name for name in kind.model_fields if not kind.is_volatile(name)}


def _spelled(kind: type[Record], name: str) -> str:
    """How a field is called in JSON."""
    by_alias = kind.model_config.get("serialize_by_alias", False)
    return (kind.model_fields[name].serialization_alias or name) if by_alias else name


DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
"""A digest as `sha256_digest` spells it."""

Digest = Annotated[str, Field(pattern=f"^{DIGEST.pattern}$")]


def short(text: str) -> str:
    """The text with its digests cut: people only compare them by eye, and the JSON has them whole."""
    return DIGEST.sub(lambda found: f"{found[0][:19]}…", text)


def told(error: Exception) -> str:
    """Why something could not be read, on one line; of what was found it quotes no more than the reader did."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    if isinstance(error, KeyError):
        return f"expected {error.args[0]}, found none"
    return str(error)


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
