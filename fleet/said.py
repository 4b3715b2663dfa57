"""What a server said on one path: a value that was read, or why there is none. Pure."""

from collections.abc import Callable
from typing import Any, TypeVar

from fleet.record import Unobserved

T = TypeVar("T")

Said = dict[str, dict[str, Any]]
"""By path: `{"status": 200, "value": …}`, `{"status": 401}`, or `{"error": why}`."""


def read(path: str, said: Said, reader: Callable[[Any], T]) -> T | Unobserved:
    """What a path answered, read; else why there is nothing to read. It quotes nothing of a body."""
    answer = said[path]
    if answer.get("status") != 200:
        return Unobserved(reason=f"{path}: {complaint(answer)}")
    try:
        return reader(answer["value"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return Unobserved(reason=f"{path}: expected another shape, found {type(error).__name__}")


def as_text(value: Any) -> str:
    """A reader of text: `null` is no version."""
    if not isinstance(value, str):
        raise TypeError("expected text")
    return value


def as_truth(value: Any) -> bool:
    """A reader of a truth: the word `"false"` is none."""
    if not isinstance(value, bool):
        raise TypeError("expected true or false")
    return value


def complaint(answer: dict[str, Any]) -> str:
    """Why an answer is none."""
    if "error" in answer:
        return str(answer["error"])
    if answer["status"] in (401, 403):
        return f"status {answer['status']}: it asks for a key"
    return f"status {answer['status']}"
