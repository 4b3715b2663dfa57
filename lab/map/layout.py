"""The whole picture: a title, a block for each part of the site, the legend, and what differs."""

from dataclasses import replace

from fleet.map import Map
from fleet.map_state import State, gravity
from fleet.record import short
from lab.map.arrange import ring, row
from lab.map.cards import Cards
from lab.map.geometry import Line
from lab.map.parts import Part, parts
from lab.map.picture import PLAIN, SMALL, TITLE, Block, Picture, Symbol, Text, Wire, columns
from lab.map.sentences import MEANING, caption, summary
from lab.map.under import under
from lab.map.words import ELLIPSIS, fitted, wrapped

MARGIN = 28.0
_BETWEEN = 44.0
"""Between two blocks."""
_LEAST_WIDTH = 640.0
_SHELF = 1500.0
"""Blocks stand beside each other up to this width."""
_LINE = 17.0
_MOST_LINES = 24
"""Of what differs; the text and the JSON have all of it."""


def picture(drawn: Map) -> Picture:
    """The picture of a map; the same map gives the same picture."""
    cards = Cards(drawn)
    blocks = _shelved([_captioned(part, _arranged(part, cards)) for part in parts(drawn)])
    width = max(_LEAST_WIDTH, blocks.box.width)
    title = fitted(drawn.site, columns(width, TITLE))
    head = [Text(0, 0, title, TITLE, is_bold=True)]
    head += [
        Text(0, 32 + _LINE * n, line, PLAIN) for n, line in enumerate(wrapped(summary(drawn), columns(width, PLAIN)))
    ]
    whole = Block(texts=tuple(head))
    for below in (blocks, _differences(drawn, width), _legend(drawn, width)):
        if below.cards or below.texts:
            whole = whole.joined(below.placed(0, whole.box.bottom + 30))
    box = whole.box
    return Picture(title, summary(drawn), max(width, box.width) + 2 * MARGIN, box.height + 2 * MARGIN,
                   whole.moved(MARGIN - box.x, MARGIN - box.y))  # fmt: skip


def _arranged(part: Part, cards: Cards) -> Block:
    if part.switches:
        return under(part, cards)
    return ring(part, cards) if part.is_ring() else row(part, cards)


def _captioned(part: Part, block: Block) -> Block:
    """The block under the names of its fabrics."""
    words = [caption(each) for each in part.fabrics] or ["no cable"]
    box = block.box
    lines = [Text(box.x, box.y - 12 - _LINE * (len(words) - n), each, PLAIN, is_bold=True)
             for n, each in enumerate(words)]  # fmt: skip
    return replace(block, texts=(*block.texts, *lines))


def _shelved(blocks: list[Block]) -> Block:
    """Blocks beside each other while there is room, then below."""
    shelf = max(_SHELF, *(block.box.width for block in blocks))
    whole, x, y, bottom = Block(), 0.0, 0.0, 0.0
    for block in blocks:
        box = block.box
        if x and x + box.width > shelf:
            x, y = 0.0, bottom + _BETWEEN
        whole = whole.joined(block.placed(x, y))
        x, bottom = x + box.width + _BETWEEN, max(bottom, y + box.height)
    return whole


def _differences(drawn: Map, width: float) -> Block:
    """What differs, each finding once, the gravest first; a picture that is too full says where the rest is."""
    findings = [each for spark in drawn.sparks for each in spark.findings]
    findings.sort(key=lambda each: gravity(each.state), reverse=True)
    texts: list[Text] = []
    symbols: list[Symbol] = []
    for place, each in enumerate(findings):
        lines = wrapped(short(f"{each.state.value}: {each}"), columns(width - 18, SMALL), hanging=2)
        if len(texts) + len(lines) > _MOST_LINES:
            rest = f"{ELLIPSIS} and {len(findings) - place} more, which sparks map --format text tells"
            texts.append(Text(18, _LINE * len(texts), rest))
            break
        symbols.append(Symbol(5, _LINE * len(texts) + 7, each.state))
        texts += [Text(18, _LINE * (len(texts) + n), line) for n, line in enumerate(lines)]
    return Block(texts=tuple(texts), symbols=tuple(symbols))


def _legend(drawn: Map, width: float) -> Block:
    """Each state that such a map can show: its line, its sign, its word, and what it means."""
    hidden = {State.DECLARED} if drawn.observed else set(State) - {State.DECLARED, State.ONLY_NAMED}
    shown = [state for state in State if state not in hidden]
    widest = max(len(state.value) for state in shown)
    texts = [Text(80, _LINE * n, f"{state.value:{widest}}  {MEANING[state]}") for n, state in enumerate(shown)]
    symbols = [Symbol(68, _LINE * n + 7, state) for n, state in enumerate(shown)]
    samples = [
        Wire(f"legend {state.value}", state, Line(((0, _LINE * n + 7), (54, _LINE * n + 7))))
        for n, state in enumerate(shown)
    ]
    return Block(texts=tuple(texts), symbols=tuple(symbols), samples=tuple(samples))
