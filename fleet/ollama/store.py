"""The models that a Spark holds, as Ollama's API lists them or as its store on disk has them."""

import json
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator

from fleet.record import Record, told


def _by_name(models: "tuple[OllamaModel, ...]") -> "tuple[OllamaModel, ...]":
    return tuple(sorted(models, key=lambda model: model.name))


class OllamaModel(Record):
    """One tag and what is behind it."""

    name: str
    manifest_digest: str
    """The digest of its manifest, `sha256:…`; the API writes it bare."""
    size_bytes: int
    family: str | None = None
    parameter_size: str | None = None
    quantization: str | None = None


class ModelStore(Record):
    """Every model of one store, by name."""

    source: Literal["api", "store"]
    """Who said so: the running server, or the files on disk where none runs on that store."""
    endpoint: str | None = None
    """The URL that answered."""
    directory: str | None = None
    models: Annotated[tuple[OllamaModel, ...], AfterValidator(_by_name)] = ()

    def model(self, name: str) -> OllamaModel | None:
        """The model of that name, or None where there is none."""
        return next((model for model in self.models if model.name == name), None)


def sha256_of(value: object) -> str:
    """A digest in our spelling from one with or without its `sha256:`; raises ValueError."""
    text = value if isinstance(value, str) else ""
    match = re.fullmatch(r"(?:sha256[:-])?([0-9a-f]{64})", text)
    if match is None:
        raise ValueError(f"expected a sha256 digest, found {value!r:.80}")
    return f"sha256:{match[1]}"


def listed(text: str) -> list[dict[str, Any]]:
    """The `models` of an answer of /api/tags or /api/ps, `null` being none.

    Raises ValueError for anything else: an error body or a page of text is not an empty list (cases/084).
    """
    try:
        found = json.loads(text)
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("expected text of whole Unicode characters, found another") from error
    except RecursionError as error:
        raise ValueError("expected models, found values nested too deep") from error
    except ValueError as error:
        raise ValueError(f"expected JSON, found {text[:40]!r}") from error
    if not isinstance(found, dict) or "models" not in found:
        told = found.get("error") if isinstance(found, dict) else None
        raise ValueError(f"expected models, found {told or type(found).__name__}")
    models = found["models"] if found["models"] is not None else []
    if not isinstance(models, list) or not all(isinstance(each, dict) for each in models):
        raise ValueError(f"expected a list of models, found {type(models).__name__}")
    return models


def parse_models(text: str) -> tuple[OllamaModel, ...]:
    """The models in an answer of /api/tags."""
    return tuple(_model(each) for each in listed(text))


def _model(found: dict[str, Any]) -> OllamaModel:
    details = found.get("details") or {}
    return OllamaModel(
        name=found["name"],
        manifest_digest=sha256_of(found["digest"]),
        size_bytes=found["size"],
        family=details.get("family") or None,
        parameter_size=details.get("parameter_size") or None,
        quantization=details.get("quantization_level") or None,
    )


def parse_store(text: str) -> ModelStore:
    """The models from the JSON of a look at them; raises ValueError."""
    found = json.loads(text)
    if "error" in found:
        raise ValueError(found["error"])
    try:
        models = parse_models(found["body"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"ollama {found['endpoint'] or found['directory']}: {told(error)}") from error
    return ModelStore(source=found["source"], endpoint=found["endpoint"], directory=found["directory"], models=models)
