"""Words that fit: how wide a text is, and how it is cut or wrapped.

Names and reasons come from rosters and hosts, so nothing here trusts them to be short or harmless.
"""

import unicodedata
from textwrap import TextWrapper

ELLIPSIS = "…"


def printable(text: str) -> str:
    """The text without what a terminal obeys or XML forbids: a control character or half of a pair shows as `�`."""
    return "".join("�" if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Cn", "Co") else each for each in text)


def cells(text: str) -> int:
    """How many columns of a fixed-width font a printable text takes."""
    return sum(_cells(each) for each in text)


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fitted(text: str, room: int) -> str:
    """The text where it fits in so many columns, else its beginning and its end; names differ at the end."""
    text = printable(text)
    if cells(text) <= room:
        return text
    head, tail = "", ""
    while True:
        grown = (head + text[len(head)], tail) if len(head) <= len(tail) else (head, text[-len(tail) - 1] + tail)
        if cells(grown[0] + ELLIPSIS + grown[1]) > max(room, 1):
            return head + ELLIPSIS + tail
        head, tail = grown


def wrapped(text: str, room: int, indent: int = 0, hanging: int = 0) -> list[str]:
    """Lines of at most so many columns, broken between words; a word that is longer stays whole.

    + indent: columns before the first line
    + hanging: columns before each other line
    """
    wrapper = TextWrapper(
        width=max(room, indent + 20, hanging + 20),
        initial_indent=" " * indent,
        subsequent_indent=" " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapper.wrap(printable(text.replace("\n", " ")))
