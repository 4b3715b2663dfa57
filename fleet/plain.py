"""Plain values, as a roster is spelled in: dicts by name, lists, text, numbers, truths. All else is named."""

import reprlib
from collections.abc import Iterator
from typing import Any

DEPTH = 32
"""How deep values may be nested; a roster needs 8. A value that holds itself has no end."""
_WIDTH = 80
"""Characters of what was found that a complaint quotes."""
_WHOLE = range(-(2**63), 2**63)
"""Whole numbers of 64 bits: nothing in a roster counts further."""

_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother, _SHORT.maxlong = 4, 2 * _WIDTH, 2 * _WIDTH, 2 * _WIDTH
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 12


def shown(value: object) -> str:
    """A value as a complaint quotes it: on one line, cut short, also where all of it would fill the memory."""
    try:
        text = _SHORT.repr(value)
    except ValueError:
        text = "a number of more digits than Python prints"
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."


def within(place: str, part: object) -> str:
    """The place of a part, on one line: `roster.fabrics.ring`, `cables[0]`."""
    if isinstance(part, int):
        return f"{place}[{part}]"
    name = str(part)
    return f"{place}.{name}" if name.isprintable() and len(name) <= _WIDTH else f"{place}[{shown(name)}]"


def not_plain(value: Any, place: str, depth: int = DEPTH) -> Iterator[str]:
    """What of a value is not plain, a line for each; nothing is turned into something else on the way.

    Raises RecursionError where values are nested too deep.
    """
    if depth == 0:
        raise RecursionError(place)
    if isinstance(value, dict):
        for key, each in value.items():
            if isinstance(key, str):
                yield from _text(key, place)
                yield from not_plain(each, within(place, key), depth - 1)
            else:
                yield f"{place}: expected text for each key, found {shown(key)}"
    elif isinstance(value, list | tuple):
        for at, each in enumerate(value):
            yield from not_plain(each, within(place, at), depth - 1)
    elif isinstance(value, str):
        yield from _text(value, place)
    elif isinstance(value, int) and value not in _WHOLE:
        yield f"{place}: expected a number of at most 64 bits, found {shown(value)}"
    elif value is None:
        yield f"{place}: expected a value, or the key left out, found None"
    elif not isinstance(value, int | float):
        yield f"{place}: expected plain values, found {shown(value)}"


def _text(value: str, place: str) -> Iterator[str]:
    try:
        value.encode()
    except UnicodeEncodeError:
        yield f"{place}: expected text of whole Unicode characters, found {shown(value)}"
