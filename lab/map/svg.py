"""A picture as SVG: one file that needs no other, with the same bytes for the same picture."""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from fleet.map_state import State
from lab.map.geometry import Line
from lab.map.picture import Block, Card, Picture, Symbol, Text, Wire
from lab.map.style import FAINT, FONT, INK, LOOKS, PAPER
from lab.map.words import printable


def svg(picture: Picture) -> str:
    """The text of the file."""
    width, height = _number(picture.width), _number(picture.height)
    root = Element("svg", {
        "xmlns": "http://www.w3.org/2000/svg", "width": width, "height": height, "viewBox": f"0 0 {width} {height}",
        "role": "img", "font-family": FONT, "fill": INK,
    })  # fmt: skip
    SubElement(root, "title").text = picture.title
    SubElement(root, "desc").text = printable(picture.summary)
    SubElement(root, "rect", {"width": width, "height": height, "rx": "10", "fill": PAPER, "stroke": FAINT})
    _content(root, picture.content)
    indent(root)
    return tostring(root, encoding="unicode") + "\n"


def _content(root: Element, block: Block) -> None:
    """Cables go over the switches that they pass, and under what is written on them."""
    for card in (each for each in block.cards if each.kind == "switch"):
        _card(root, card)
    for wire in (*block.wires, *block.samples):
        _wire(root, wire)
    for card in (each for each in block.cards if each.kind != "switch"):
        _card(root, card)
    for text in block.texts:
        _text(root, text)
    for symbol in block.symbols:
        _symbol(root, symbol)


def _group(parent: Element, kind: str, name: str, state: State, tip: str) -> Element:
    group = SubElement(parent, "g", {"class": kind, "data-name": printable(name), "data-state": state.value})
    if tip:
        SubElement(group, "title").text = "\n".join(map(printable, tip.split("\n")))
    return group


def _wire(parent: Element, wire: Wire) -> None:
    group = _group(parent, "cable", wire.name, wire.state, wire.tip)
    look = LOOKS[wire.state]
    path = {"d": _path(wire.line), "fill": "none"}
    SubElement(group, "path", path | {"stroke": PAPER, "stroke-width": "7"})
    SubElement(group, "path", path | {"stroke": look.colour, "stroke-width": "3"} | _dashes(wire.state))
    for x, y in (wire.line.points[0], wire.line.points[-1]):
        SubElement(group, "circle", {"cx": _number(x), "cy": _number(y), "r": "4", "fill": look.colour})


def _path(line: Line) -> str:
    (first, *rest) = [f"{_number(x)} {_number(y)}" for x, y in line.points]
    return f"M{first} C{' '.join(rest)}" if line.is_curve else f"M{first} L{' L'.join(rest)}"


def _card(parent: Element, card: Card) -> None:
    group = _group(parent, card.kind, card.name, card.state, card.tip)
    look, box = LOOKS[card.state], card.box
    if card.kind == "cage":
        SubElement(
            group, "path", {"d": f"M{_number(box.x)} {_number(box.y)} H{_number(box.right)}", "stroke": look.colour}
        )
    else:
        _frame(group, card)
    for part in card.parts:
        _card(group, part)
    for text in card.texts:
        _text(group, text)
    for symbol in card.symbols:
        _symbol(group, symbol)


def _frame(parent: Element, card: Card) -> None:
    """A rounded box in the colour of its state: a label, and what is below the name of a Spark, is white inside."""
    look, box = LOOKS[card.state], card.box
    place = {"x": _number(box.x), "y": _number(box.y), "width": _number(box.width), "height": _number(box.height)}
    is_label = card.kind == "label"
    fill = {"rx": "6", "fill": PAPER if is_label or card.parts else look.tint}
    SubElement(parent, "rect", place | fill)
    if card.parts:
        top, right = card.parts[0].box.y, box.right
        SubElement(parent, "path", {
            "d": f"M{_number(box.x)} {_number(top)} V{_number(box.y + 6)} a6 6 0 0 1 6 -6 H{_number(right - 6)} "
                 f"a6 6 0 0 1 6 6 V{_number(top)} Z",
            "fill": look.tint,
        })  # fmt: skip
    edge = {"rx": "6", "fill": "none", "stroke": look.colour, "stroke-width": "1" if is_label else "2"}
    SubElement(parent, "rect", place | edge | _dashes(card.state))


def _dashes(state: State) -> dict[str, str]:
    dashes = LOOKS[state].dashes
    return {} if dashes is None else {"stroke-dasharray": dashes}


def _text(parent: Element, text: Text) -> None:
    place = {"x": _number(text.x), "y": _number(text.y + text.size), "font-size": _number(text.size)}
    bold = {"font-weight": "bold"} if text.is_bold else {}
    SubElement(parent, "text", place | bold | {"xml:space": "preserve"}).text = text.text


def _symbol(parent: Element, symbol: Symbol) -> None:
    look = LOOKS[symbol.state]
    SubElement(parent, "path", {
        "class": "sign", "d": look.sign, "transform": f"translate({_number(symbol.x)} {_number(symbol.y)})",
        "fill": "none", "stroke": look.colour, "stroke-width": "1.8", "stroke-linecap": "round",
    })  # fmt: skip


def _number(value: float) -> str:
    """With one decimal at most: finer is not seen, and minus nothing is nothing."""
    return f"{round(value, 1) + 0:.1f}".removesuffix(".0")
