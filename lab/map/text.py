"""A map as text for a terminal: it needs no more than 80 columns, and its colours only repeat its words."""

from collections.abc import Iterator

import click

from fleet.map import Map, MapEnd, MapFabric, MapSegment, MapSpark
from fleet.map_state import Finding, State
from fleet.record import short
from lab.map.sentences import caption, summary
from lab.map.words import cells, fitted, printable, wrapped

WIDTH = 80
_NAME = 20
"""Columns that a name may take in a table; longer ones lose their middle."""

_COLOURS = {
    State.AS_DESIRED: "green",
    State.DECLARED: "blue",
    State.ONLY_NAMED: "bright_black",
    State.PENDING: "yellow",
    State.NOT_OBSERVED: "magenta",
    State.REFUSED: "red",
}


def text(drawn: Map, width: int = WIDTH) -> str:
    """The whole map, with colours in it (`click.unstyle` takes them out).

    + width: columns of the terminal; only sentences are wrapped, never rows, and at 80 no row needs it
    """
    lines = [click.style(printable(drawn.site), bold=True), *wrapped(summary(drawn), width)]
    for fabric in drawn.fabrics:
        lines += ["", *_fabric(fabric)]
    lines += ["", click.style("Sparks", bold=True)]
    for spark in drawn.sparks:
        lines += _spark(spark, width)
    return "\n".join(lines) + "\n"


def _fabric(fabric: MapFabric) -> Iterator[str]:
    yield f"{click.style(caption(fabric), bold=True)}: {_word(fabric.state)}"
    ends = [end for segment in fabric.segments for end in segment.ends]
    name = max((cells(fitted(end.spark, _NAME)) for end in ends), default=0)
    for cable in fabric.cables:
        one, other = (fitted(end, 28) for end in cable.ends)
        yield f"  cable {one} - {other}: {_word(cable.state)}"
        for rail in cable.rails:
            yield from _segment(rail, name)
    for switch in dict.fromkeys(plane.switch for plane in fabric.planes):
        yield f"  switch {fitted(str(switch), 60)}"
        for plane in (each for each in fabric.planes if each.switch == switch):
            yield from _segment(plane, name)


def _segment(segment: MapSegment, name: int) -> Iterator[str]:
    yield f"    rail {segment.rail}  {segment.subnet}  MTU {segment.mtu}: {_word(segment.state)}"
    for end in segment.ends:
        yield _end(end, name)


def _end(end: MapEnd, name: int) -> str:
    spark = fitted(end.spark, _NAME)
    return f"      {spark:{name}}  {end.interface:13}  {end.address:18}  {_word(end.state)}"


def _spark(spark: MapSpark, width: int) -> Iterator[str]:
    ssh = f", ssh on {spark.management_interface} {spark.management}" if spark.management else ""
    yield f"  {fitted(spark.name, width - 50)}: {_word(spark.state)}{ssh}"
    for each in spark.findings:
        yield from _finding(each, width)


def _finding(finding: Finding, width: int) -> Iterator[str]:
    first, *rest = wrapped(short(f"{finding.state.value}: {finding}"), width, indent=4, hanging=6)
    word = finding.state.value
    yield first.replace(word, _word(finding.state), 1)
    yield from rest
    for more in (finding.reason, finding.hint):
        if more:
            yield from wrapped(short(more), width, indent=6, hanging=8)


def _word(state: State) -> str:
    return click.style(state.value, fg=_COLOURS[state])
