"""A wall: why a value has no constructor. Pydantic carries it with its stable code."""

from pydantic_core import PydanticCustomError


def wall(code: str, sentence: str) -> PydanticCustomError:
    """The error to raise in a validator; `sentence` is `{subject}: expected {x}, found {y}`."""
    return PydanticCustomError(code, "{sentence}", {"sentence": sentence})
