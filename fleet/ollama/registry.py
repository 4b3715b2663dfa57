"""What the registry has under the tags of models that are not here, as far as it could be asked. Pure."""

import json
from typing import Annotated, Any

from fleet.ollama.store import sha256_of
from fleet.record import VOLATILE, Record


class Published(Record):
    """One tag as it is published now. Only which one was asked about is stable: others publish, and networks fail."""

    model: str
    digests: Annotated[tuple[str, ...], VOLATILE] = ()
    """What its manifest's digest may be here: of its bytes, or as an older Ollama writes them anew. Empty: unknown."""
    size_bytes: Annotated[int | None, VOLATILE] = None
    missing_bytes: Annotated[int | None, VOLATILE] = None
    """What of it is not in the store yet."""
    reason: Annotated[str | None, VOLATILE] = None
    """Why it is not known."""

    def __str__(self) -> str:
        if self.size_bytes is None or self.missing_bytes is None:
            return f"the registry could not be asked ({self.reason}), so its size is what the roster says"
        return f"{self.size_bytes:,} bytes at the registry, {self.missing_bytes:,} of them to download"


def parse_published(text: str) -> tuple[Published, ...]:
    """From the JSON of a look; raises ValueError where it could not look."""
    found = json.loads(text)
    if isinstance(found, dict):
        raise ValueError(found["error"])
    return tuple(map(_published, found))


def _published(found: dict[str, Any]) -> Published:
    if "error" in found:
        return Published(model=found["model"], reason=found["error"])
    digests = tuple(dict.fromkeys(map(sha256_of, found["digests"])))
    return Published(model=found["model"], digests=digests, size_bytes=found["size"], missing_bytes=found["missing"])
