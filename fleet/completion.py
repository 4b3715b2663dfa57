"""Does a resident really answer: what came back when it was asked for one token. Pure."""

import json
from typing import Literal

from fleet.record import Record


class Completion(Record):
    """What one declared resident answered."""

    model: str
    kind: Literal["completion", "embedding"]
    """What it was asked for: what the model is for."""
    asked: bool
    """Was it asked at all? What is not loaded as declared is not, since asking would load it."""
    count: int
    """How many tokens, or embeddings, came."""
    failure: str | None
    """Why none came, or why it was not asked."""

    @property
    def is_answered(self) -> bool:
        """Did it compute anything? An empty answer with status 200 is none."""
        return self.asked and self.failure is None and self.count > 0


def parse_completions(text: str) -> tuple[Completion, ...]:
    """From the JSON of a look at them; raises ValueError."""
    found = json.loads(text)
    if isinstance(found, dict):
        raise ValueError(found["error"])
    return tuple(Completion(**each) for each in found)
