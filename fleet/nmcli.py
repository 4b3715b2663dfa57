"""The language of `nmcli -t`: lines of fields that are parted by `:`, with `:` and `\\` escaped by `\\`."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest


def split_terse(line: str) -> tuple[str, ...]:
    """The fields of one terse line, unescaped; raises ValueError when it ends within an escape.

    It reads from left to right: a look-behind takes the `:` after a name that ends in `\\` for escaped.
    """
    fields: list[str] = [""]
    characters = iter(line)
    for character in characters:
        if character == "\\":
            escaped = next(characters, None)
            if escaped is None:
                raise ValueError("expected a character after the escape, found the end of the line")
            fields[-1] += escaped
        elif character == ":":
            fields.append("")
        else:
            fields[-1] += character
    return tuple(fields)


def join_terse(fields: Iterable[str]) -> str:
    """The inverse of `split_terse`, as nmcli itself escapes."""
    return ":".join(field.replace("\\", "\\\\").replace(":", "\\:") for field in fields)


def read_terse(text: str, columns: Sequence[str]) -> tuple[dict[str, str], ...]:
    """Terse output as one mapping a line; raises ValueError when a line has another number of fields.

    nmcli prints a line feed inside a field as it is: such a profile is refused here, not misread.
    """
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line:
            continue
        fields = split_terse(line)
        if len(fields) != len(columns):
            raise ValueError(f"line {number}: expected {len(columns)} fields, found {len(fields)}")
        rows.append(dict(zip(columns, fields, strict=True)))
    return tuple(rows)


def split_values(text: str) -> frozenset[str]:
    """The values of one field that holds several, as a set: nmcli reverses them at will (cases/050).

    A device's fields are joined by ` | `, a profile's by `, ` (and its separator may lack the space).
    """
    separator = "|" if "|" in text else ","
    return frozenset(value.strip() for value in text.split(separator) if value.strip())


def read_show(text: str, one: str, other: str) -> Iterator[tuple[str, str]]:
    """The pairs of values in `nmcli -t -f ONE,OTHER device show`, a line each; ValueError for any other line."""
    lines = [line.partition(":") for line in text.split("\n") if line]
    for first, second in zip_longest(lines[::2], lines[1::2], fillvalue=("nothing", "", "")):
        if (first[0], second[0]) != (one, other):
            raise ValueError(f"nmcli show: expected {one} and {other}, found {first[0]} and {second[0]}")
        yield first[2], second[2]


def is_yes(value: str) -> bool:
    """The truth that nmcli spells yes or no; raises ValueError for another word."""
    if value not in ("yes", "no"):
        raise ValueError(f"autoconnect: expected yes or no, found {value!r}")
    return value == "yes"
