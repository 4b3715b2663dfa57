"""A wall: why a value has no constructor. Pydantic carries it with its stable code."""

from collections.abc import Iterable

from pydantic_core import PydanticCustomError


def wall(code: str, sentence: str) -> PydanticCustomError:
    """The error to raise in a validator; `sentence` is `{subject}: expected {x}, found {y}`."""
    return PydanticCustomError(code, "{sentence}", {"sentence": sentence})


def each_once(key: str, values: Iterable[str]) -> None:
    """The wall against a list that has one thing more than once; `key` is what the roster calls the list."""
    found = tuple(values)
    for each in found:
        if (times := found.count(each)) > 1:
            raise wall("listed_twice", f"{key}: expected each once, found {each} {times} times")
