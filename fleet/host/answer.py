"""The JSON of a look at the host: an object, or the reason why there is none."""

import json
from typing import Any


def answer(text: str) -> dict[str, Any]:
    """What a look said; raises ValueError where it could not look, or said something else."""
    found: Any = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"expected an object, found {type(found).__name__}")
    if "error" in found:
        raise ValueError(found["error"])
    return found
