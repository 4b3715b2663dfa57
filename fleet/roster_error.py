"""What is wrong with a roster, in lines that a person can act on."""

from collections.abc import Sequence

from pydantic import ValidationError
from pydantic_core import ErrorDetails


class RosterError(ValueError):
    """A roster that cannot be; `lines` has one complaint each, the file and the key first."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)


def complaints(error: ValidationError, source: str) -> list[str]:
    """One line for each thing that pydantic found wrong, in the order of the roster."""
    return [f"{source}: {_place(detail)}: {sentence_of(detail)}" for detail in error.errors(include_url=False)]


def _place(detail: ErrorDetails) -> str:
    place = "roster"
    for part in detail["loc"]:
        place += f"[{part}]" if isinstance(part, int) else f".{part}"
    return place


def sentence_of(detail: ErrorDetails) -> str:
    """A wall says its own sentence; the rest are pydantic's words put into ours."""
    if "expected " in detail["msg"]:
        return f"{detail['msg']} [{detail['type']}]"
    if detail["type"] == "missing":
        return "expected a value, found none"
    if detail["type"] == "extra_forbidden":
        return f"expected no such key, found it with {_shown(detail['input'])}"
    said = detail["msg"].replace("Input should be ", "").replace("Input ", "")
    return f"expected {said}, found {_shown(detail['input'])}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
