"""Rows in columns, for a terminal."""

from collections.abc import Sequence

from lab.map.words import cells


def table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Columns as wide as they need to be; further lines of the last one stand below its first."""
    widths = [max(map(cells, column)) for column in list(zip(*rows, strict=True))[:-1]]
    lines = []
    for *front, last in rows:
        start = "".join(each + " " * (width - cells(each) + 2) for each, width in zip(front, widths, strict=True))
        first, *others = last.split("\n")
        lines += [(start + first).rstrip(), *(" " * cells(start) + each for each in others)]
    return lines
