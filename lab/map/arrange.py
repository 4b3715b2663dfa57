"""Where the Sparks of one part stand: in a ring, in a row, or under their switches."""

from itertools import pairwise
from math import cos, pi, sin

from lab.map.cards import Cards, label
from lab.map.geometry import Line, Point, across, around, bracket
from lab.map.parts import Link, Part
from lab.map.picture import Block, Card, Wire

_GAP = 60.0
"""Least room, across, for a curve that goes from side to side."""
_APART = 28.0
"""How much lower each label of parallel cables is, so that it lies on its own alone."""
_FLATTER = 0.62
"""A ring is so much lower than wide: cards are wider than high."""


def wire(link: Link, line: Line) -> Wire:
    """A cable between two Sparks."""
    name = " - ".join(link.cable.ends)
    return Wire(name, link.cable.state, line, tip=f"{name}: {link.cable.state.value}")


def ports(link: Link, one: Card, other: Card) -> tuple[Card, Card]:
    """The cages that a cable is plugged into, on the cards of its two Sparks."""
    return one.part(link.cage_on(one.name)), other.part(link.cage_on(other.name))


def right_of(card: Card) -> Point:
    return card.box.right, card.box.middle[1]


def left_of(card: Card) -> Point:
    return card.box.x, card.box.middle[1]


def row(part: Part, cards: Cards) -> Block:
    """A chain of Sparks from left to right; also one alone."""
    (chain,) = part.chains()
    has_fabric = len(part.fabrics) > 1
    placed = [cards.spark(chain[0])]
    wires: list[Wire] = []
    labels: list[Card] = []
    for before, after in pairwise(chain):
        links = [link for link in part.links if set(link.sparks) == {before, after}]
        found = [label(link, has_fabric) for link in links]
        gap = sum(each.box.width + 40 for each in found) + 40
        placed.append(cards.spark(after).placed(placed[-1].box.right + gap, 0))
        at = placed[-2].box.right + 40
        for place, (link, card) in enumerate(zip(links, found, strict=True)):
            apart = _APART * (place - (len(links) - 1) / 2)
            one, other = ports(link, placed[-2], placed[-1])
            line = across(right_of(one), left_of(other))
            labels.append(card.placed(at, line.at(0.5)[1] + apart - card.box.height / 2))
            at += card.box.width + 40
            wires.append(wire(link, line))
    return Block(cards=(*placed, *labels), wires=tuple(wires))


def ring(part: Part, cards: Cards) -> Block:
    """A closed chain on an oval, clockwise, just large enough that nothing lies on anything else."""
    radius = cards.width * len(part.sparks) / 4
    while True:
        block = _on_oval(part, cards, radius)
        if is_clear(block):
            return block
        radius += 20


def _on_oval(part: Part, cards: Cards, radius: float) -> Block:
    (chain,) = part.chains()
    count = len(chain)
    first = -pi / 2 - (pi / count if count % 2 == 0 else 0)
    angles = [first + 2 * pi * place / count for place in range(count)]
    middles = {name: (radius * cos(a), radius * _FLATTER * sin(a)) for name, a in zip(chain, angles, strict=True)}
    placed: dict[str, Card] = {}
    for name in chain:
        card = cards.spark(name, _upper_first(part, name, middles))
        box = around(middles[name], card.box.width, card.box.height)
        placed[name] = card.placed(box.x, box.y)
    wires, labels = [], []
    for link in part.links:
        line = _between(link, placed)
        card = label(link, len(part.fabrics) > 1)
        box = around(line.at(0.5), card.box.width, card.box.height)
        labels.append(card.placed(box.x, box.y))
        wires.append(wire(link, line))
    return Block(cards=(*placed.values(), *labels), wires=tuple(wires))


def _upper_first(part: Part, name: str, middles: dict[str, Point]) -> list[str]:
    """The cages of a Spark; the one whose cable goes higher is above, so that cables do not cross."""

    def far(link: Link) -> float:
        (other,) = (spark for spark in link.sparks if spark != name)
        return round(middles[other][1], 3)

    links = sorted(part.links_of(name), key=lambda link: (far(link), link.cage_on(name)))
    return [link.cage_on(name) for link in links]


def _between(link: Link, placed: dict[str, Card]) -> Line:
    """From side to side where one Spark stands clear of the other, else round their outer sides."""
    one, other = sorted((placed[name] for name in link.sparks), key=lambda card: card.box.x)
    left, right = ports(link, one, other)
    if other.box.x - one.box.right >= _GAP:
        return across(right_of(left), left_of(right))
    if one.box.middle[0] + other.box.middle[0] >= 0:
        return bracket(right_of(left), right_of(right), _GAP)
    return bracket(left_of(left), left_of(right), -_GAP)


def is_clear(block: Block) -> bool:
    """Does nothing lie on anything else, and no cable on a card that is not its own?"""
    boxes = [card.box.grown(8) for card in block.cards]
    if any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place]):
        return False
    for wire in block.wires:
        others = [card.box for card in block.cards if card.name != wire.name]
        if any(box.has(point) for point in wire.line.along() for box in others):
            return False
    return True
