"""Sparks under their switches: in a grid, each cable down a gutter to the cage it is plugged into."""

from itertools import pairwise
from math import ceil

from lab.map.arrange import left_of, ports, right_of, wire
from lab.map.cards import Cards, label, switch
from lab.map.geometry import Line, bracket
from lab.map.parts import Drop, Part
from lab.map.picture import Block, Card, Wire

_LANE = 9.0
"""Between two cables in one gutter."""
_EDGE = 22.0
_REACH = 46.0
"""How far a cable between two Sparks of a column goes out to the right."""
_BELOW = 26.0
"""Between a switch and what is under it."""
_ROWS = ((4, 1), (8, 2), (12, 3), (24, 4))
"""So many Sparks stand in so many rows; more of them in six."""


def under(part: Part, cards: Cards) -> Block:
    """The switches on top, the Sparks below; those with a cable between them stand one above the other."""
    columns = _columns(part)
    made = {name: cards.spark(name) for name in part.sparks}
    bars = _bars(part, 0)
    tops = _tops(part, columns, made, bars[-1].box.bottom + _BELOW)
    at = max(text.box.right for bar in bars for text in bar.texts) if len(bars) > 1 else 0.0
    placed: dict[str, Card] = {}
    drops: list[Wire] = []
    for column in columns:
        mine = [drop for name in column for drop in part.drops if drop.spark == name]
        left = at + _EDGE + _LANE * len(mine)
        placed |= {name: made[name].placed(left, tops[row]) for row, name in enumerate(column)}
        lanes = (left - 12 - _LANE * place for place in range(len(mine)))
        drops += [_drop(drop, bars, placed[drop.spark], lane) for drop, lane in zip(mine, lanes, strict=True)]
        at = left + cards.width + (_REACH if len(column) > 1 and part.links else 0)
    links, labels = _links(part, columns, placed)
    bars = _bars(part, max(at + _EDGE, *(bar.box.width for bar in bars)))
    return Block(cards=(*bars, *placed.values(), *labels), wires=(*drops, *links))


def _bars(part: Part, width: float) -> list[Card]:
    """The switches, one under the other."""
    found: list[Card] = []
    for name in part.switches:
        top = found[-1].box.bottom + 12 if found else 0
        planes = [plane for plane in part.planes if plane.switch == name]
        found.append(switch(name, planes, width).placed(0, top))
    return found


def _columns(part: Part) -> list[list[str]]:
    """The Sparks by column; one after the other in rows where no cable joins two of them."""
    chains = part.chains()
    rows = next((rows for count, rows in _ROWS if len(part.sparks) <= count), 6)
    longest = max(map(len, chains))
    if longest == 1:
        count = ceil(len(part.sparks) / rows)
        return [list(part.sparks[place::count]) for place in range(count)]
    rows = ceil(max(rows, longest) / longest) * longest
    columns: list[list[str]] = [[]]
    for chain in chains:
        if len(columns[-1]) + len(chain) > rows:
            columns.append([])
        columns[-1] += chain
    return columns


def _tops(part: Part, columns: list[list[str]], made: dict[str, Card], top: float) -> list[float]:
    """Where each row begins: as high as its highest Spark, with room for what is written on a cable to the next."""
    gap = max((label(link, True).box.height + 16 for link in part.links), default=30.0)
    tops = [top]
    for row in range(max(map(len, columns)) - 1):
        height = max(made[column[row]].box.height for column in columns if row < len(column))
        tops.append(tops[-1] + height + gap)
    return tops


def _drop(drop: Drop, bars: list[Card], card: Card, lane: float) -> Wire:
    bar = next(each for each in bars if each.name == drop.switch)
    x, y = left_of(card.part(drop.cage))
    name = f"{drop.spark}.{drop.cage} - {drop.switch}"
    line = Line(((lane, bar.box.bottom), (lane, y), (x, y)))
    return Wire(name, drop.state, line, tip=f"{name}: {drop.state.value}")


def _links(part: Part, columns: list[list[str]], placed: dict[str, Card]) -> tuple[list[Wire], list[Card]]:
    wires, labels = [], []
    for before, after in (two for column in columns for two in pairwise(column)):
        upper, lower = placed[before], placed[after]
        for link in (link for link in part.links if set(link.sparks) == {before, after}):
            one, other = ports(link, upper, lower)
            line = bracket(right_of(one), right_of(other), _REACH)
            card = label(link, len(part.fabrics) > 1)
            y = (upper.box.bottom + lower.box.y - card.box.height) / 2
            labels.append(card.placed(line.at(0.5)[0] + 16 - card.box.width, y))
            wires.append(wire(link, line))
    return wires, labels
