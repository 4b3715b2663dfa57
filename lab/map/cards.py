"""The cards of a picture: a Spark with its cages, a switch with its planes, the label of a cable."""

from collections.abc import Iterable

from fleet.map import Map, MapEnd, MapSegment, MapSpark
from fleet.map_state import Finding, worst, worst_of_ours
from lab.map.geometry import Box
from lab.map.parts import Link
from lab.map.picture import NAME, PLAIN, SMALL, Card, Symbol, Text, columns, text_width
from lab.map.words import fitted

ROW = 16.0
PAD = 10.0
_HEAD = 46.0
_CAGE_NAME = 30.0
_SYMBOL = 20.0


class Cards:
    """Makes the Sparks of one map, all of one width."""

    def __init__(self, drawn: Map) -> None:
        self.sparks = {spark.name: spark for spark in drawn.sparks}
        self.ends: dict[str, dict[str, list[MapEnd]]] = {spark.name: {} for spark in drawn.sparks}
        for fabric in drawn.fabrics:
            for end in (end for segment in fabric.segments for end in segment.ends):
                self.ends[end.spark].setdefault(str(end.cage), []).append(end)
        every = [end for cages in self.ends.values() for ends in cages.values() for end in ends]
        self.interface = max((text_width(end.interface, SMALL) for end in every), default=0.0)
        rows = [self.interface + 12 + text_width(_ip(end), SMALL) for end in every]
        rows += [text_width(_management(spark), SMALL) for spark in drawn.sparks if spark.management]
        self.width = max([150.0, *(_CAGE_NAME + each + _SYMBOL + PAD for each in rows)])

    def spark(self, name: str, order: Iterable[str] = ("f0", "f1")) -> Card:
        """A Spark; its cages from top to bottom in that order."""
        spark, cages = self.sparks[name], self.ends[name]
        parts: list[Card] = []
        at = _HEAD
        if spark.management is not None:
            parts.append(self._row("ssh", spark, at))
            at = parts[-1].box.bottom
        for cage in order:
            if cage in cages:
                parts.append(self._cage(cage, cages[cage], at))
                at = parts[-1].box.bottom
        shown = fitted(name, columns(self.width - 2 * PAD, NAME))
        texts = (
            Text(PAD, 6, shown, NAME, is_bold=True),
            Text(PAD + 16, 27, spark.state.value, PLAIN),
        )
        symbols = (Symbol(PAD + 5, 35, spark.state),)
        box = Box(0, 0, self.width, at)
        return Card("spark", name, spark.state, box, texts, symbols, tuple(parts), _tip(name, spark.findings))

    def _cage(self, cage: str, ends: list[MapEnd], at: float) -> Card:
        box = Box(0, at, self.width, 2 * PAD - 8 + ROW * max(2, len(ends)))
        first = box.middle[1] - ROW * len(ends) / 2
        texts = [Text(PAD, box.middle[1] - PLAIN * 0.625, cage, PLAIN, is_bold=True)]
        symbols = []
        for place, end in enumerate(ends):
            top = first + ROW * place
            texts.append(Text(_CAGE_NAME + 4, top + 1, end.interface))
            texts.append(Text(_CAGE_NAME + 4 + self.interface + 12, top + 1, _ip(end)))
            symbols.append(Symbol(self.width - PAD - 3, top + ROW / 2, end.state))
        findings = [each for end in ends for each in end.findings]
        state = worst(end.state for end in ends)
        return Card("cage", cage, state, box, tuple(texts), tuple(symbols), tip=_tip(cage, findings))

    def _row(self, name: str, spark: MapSpark, at: float) -> Card:
        texts = (
            Text(PAD, at + 4, name, SMALL, is_bold=True),
            Text(_CAGE_NAME + 10, at + 4, _management(spark)),
        )
        return Card("cage", name, spark.state, Box(0, at, self.width, ROW + 8), texts)


def label(link: Link, has_fabric: bool) -> Card:
    """What is written on a cable: its fabric where the part has several, its rails with their subnets, its state."""
    lines = [f"fabric {fitted(link.fabric, 24)}"] if has_fabric else []
    digits = max(len(str(rail.rail)) for rail in link.cable.rails)
    lines += [f"rail {rail.rail:>{digits}}  {rail.subnet}" for rail in link.cable.rails]
    lines.append(f"MTU {_mtus(link.cable.rails)}")
    width = max(text_width(line, SMALL) for line in lines)
    width = max(width, text_width(link.cable.state.value, SMALL) + 16) + 2 * PAD
    texts = [Text(PAD, 5 + ROW * place, line) for place, line in enumerate(lines)]
    last = 5 + ROW * len(lines)
    texts.append(Text(PAD + 16, last, link.cable.state.value))
    box = Box(0, 0, width, last + ROW + 4)
    name = " - ".join(link.cable.ends)
    findings = [each for rail in link.cable.rails for end in rail.ends for each in end.findings]
    symbols = (Symbol(PAD + 5, last + 7, link.cable.state),)
    return Card("label", name, link.cable.state, box, tuple(texts), symbols, tip=_tip(name, findings))


def switch(name: str, planes: Iterable[MapSegment], width: float) -> Card:
    """A switch as a bar, at least as wide as asked; each of its planes is a line."""
    planes = tuple(planes)
    state = worst_of_ours(plane.state for plane in planes)
    lines = [f"rail {plane.rail}  {plane.subnet}  MTU {plane.mtu}  {plane.state.value}" for plane in planes]
    shown = fitted(name, 40)
    width = max([width, *(text_width(line, SMALL) + 2 * PAD for line in lines), text_width(shown, NAME) + 2 * PAD])
    texts = [Text(PAD, 6, shown, NAME, is_bold=True)]
    texts += [Text(PAD + 16, 28 + ROW * place, line) for place, line in enumerate(lines)]
    symbols = [Symbol(PAD + 5, 28 + 7 + ROW * place, plane.state) for place, plane in enumerate(planes)]
    width = max(width, texts[-1].box.right + PAD)
    box = Box(0, 0, width, 28 + ROW * len(planes) + 6)
    findings = [each for plane in planes for end in plane.ends for each in end.findings]
    return Card("switch", name, state, box, tuple(texts), tuple(symbols), tip=_tip(name, findings))


def _tip(name: str, findings: Iterable[Finding]) -> str:
    return "\n".join([name, *dict.fromkeys(map(str, findings))])


def _ip(end: MapEnd) -> str:
    return end.address.partition("/")[0]


def _management(spark: MapSpark) -> str:
    return f"{spark.management_interface} {spark.management}"


def _mtus(rails: Iterable[MapSegment]) -> str:
    return " and ".join(dict.fromkeys(str(rail.mtu) for rail in rails))
