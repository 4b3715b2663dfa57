"""What a picture is made of: boxes, lines and texts at their places. Nothing here knows how it is drawn."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fleet.map_state import State
from lab.map.geometry import Box, Line, hull
from lab.map.words import cells

SMALL = 11.0
PLAIN = 12.0
NAME = 15.0
TITLE = 22.0
"""Sizes of text in pixels."""

_ADVANCE = 0.61
"""Width of a column by the size of the text: 0.602 in DejaVu Sans Mono, Menlo and Liberation Mono, 0.6 in Courier."""


def text_width(text: str, size: float) -> float:
    """Pixels that a text takes in a fixed-width font."""
    return cells(text) * size * _ADVANCE


def columns(width: float, size: float) -> int:
    """How many columns of text fit."""
    return int(width / (size * _ADVANCE))


@dataclass(frozen=True)
class Text:
    """One line of text by its upper left corner."""

    x: float
    y: float
    text: str
    size: float = SMALL
    is_bold: bool = False

    @property
    def box(self) -> Box:
        return Box(self.x, self.y, text_width(self.text, self.size), self.size * 1.25)

    def moved(self, dx: float, dy: float) -> "Text":
        return replace(self, x=self.x + dx, y=self.y + dy)


@dataclass(frozen=True)
class Symbol:
    """The sign of a state, about its middle; ten pixels wide."""

    x: float
    y: float
    state: State

    @property
    def box(self) -> Box:
        return Box(self.x - 5, self.y - 5, 10, 10)

    def moved(self, dx: float, dy: float) -> "Symbol":
        return replace(self, x=self.x + dx, y=self.y + dy)


@dataclass(frozen=True)
class Card:
    """A box with texts in it: a Spark, a switch, what is written on a cable."""

    kind: str
    """`spark`, `cage`, `switch` or `label`."""
    name: str
    """What it is of, for tests and for whoever reads the file."""
    state: State
    box: Box
    texts: tuple[Text, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    parts: tuple["Card", ...] = ()
    """The cages of a Spark."""
    tip: str = ""
    """What a browser shows when a pointer rests on it."""

    def moved(self, dx: float, dy: float) -> "Card":
        return replace(
            self,
            box=self.box.moved(dx, dy),
            texts=tuple(each.moved(dx, dy) for each in self.texts),
            symbols=tuple(each.moved(dx, dy) for each in self.symbols),
            parts=tuple(each.moved(dx, dy) for each in self.parts),
        )

    def placed(self, x: float, y: float) -> "Card":
        """The card with its upper left corner there."""
        return self.moved(x - self.box.x, y - self.box.y)

    def part(self, name: str) -> "Card":
        """A cage by its name; raises StopIteration where there is none."""
        return next(each for each in self.parts if each.name == name)

    def all_texts(self) -> Iterator[Text]:
        yield from self.texts
        for each in self.parts:
            yield from each.all_texts()


@dataclass(frozen=True)
class Wire:
    """A cable as it is drawn."""

    name: str
    state: State
    line: Line
    tip: str = ""

    def moved(self, dx: float, dy: float) -> "Wire":
        return replace(self, line=self.line.moved(dx, dy))


@dataclass(frozen=True)
class Block:
    """One part of a site, or all of a picture."""

    cards: tuple[Card, ...] = ()
    wires: tuple[Wire, ...] = ()
    texts: tuple[Text, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    samples: tuple[Wire, ...] = field(default=())
    """Pieces of line in the legend."""

    @property
    def box(self) -> Box:
        """All of it; a curve stays within the points that shape it."""
        lines = [each.line for each in (*self.wires, *self.samples)]
        points = [Box(x, y, 0, 0) for line in lines for x, y in line.points]
        boxes = [each.box for each in self.cards] + [each.box for each in self.texts]
        return hull([*boxes, *(each.box for each in self.symbols), *points])

    def moved(self, dx: float, dy: float) -> "Block":
        return Block(
            cards=tuple(each.moved(dx, dy) for each in self.cards),
            wires=tuple(each.moved(dx, dy) for each in self.wires),
            texts=tuple(each.moved(dx, dy) for each in self.texts),
            symbols=tuple(each.moved(dx, dy) for each in self.symbols),
            samples=tuple(each.moved(dx, dy) for each in self.samples),
        )

    def placed(self, x: float, y: float) -> "Block":
        """The block with its upper left corner there."""
        box = self.box
        return self.moved(x - box.x, y - box.y)

    def joined(self, *others: "Block") -> "Block":
        """All of them as one."""
        every = (self, *others)
        return Block(
            cards=tuple(each for block in every for each in block.cards),
            wires=tuple(each for block in every for each in block.wires),
            texts=tuple(each for block in every for each in block.texts),
            symbols=tuple(each for block in every for each in block.symbols),
            samples=tuple(each for block in every for each in block.samples),
        )


@dataclass(frozen=True)
class Picture:
    """The whole: its size, and everything on it."""

    title: str
    summary: str
    width: float
    height: float
    content: Block
