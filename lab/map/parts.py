"""A site taken apart: Sparks that cables or a switch join are one part, and a part is drawn as one block."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fleet.map import Map, MapCable, MapFabric, MapSegment
from fleet.map_state import State, worst


class Link(NamedTuple):
    """A cable between two Sparks."""

    fabric: str
    cable: MapCable

    @property
    def sparks(self) -> tuple[str, str]:
        one, other = self.cable.rails[0].ends
        return one.spark, other.spark

    def cage_on(self, spark: str) -> str:
        return str(next(end.cage for end in self.cable.rails[0].ends if end.spark == spark))


class Drop(NamedTuple):
    """A cable between a Spark and a switch."""

    switch: str
    spark: str
    cage: str
    state: State


@dataclass(frozen=True)
class Part:
    """What hangs together."""

    sparks: tuple[str, ...]
    links: tuple[Link, ...]
    drops: tuple[Drop, ...]
    planes: tuple[MapSegment, ...]
    fabrics: tuple[MapFabric, ...]

    @property
    def switches(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(drop.switch for drop in self.drops))

    def links_of(self, spark: str) -> list[Link]:
        return [link for link in self.links if spark in link.sparks]

    def chains(self) -> list[tuple[str, ...]]:
        """Its Sparks along its cables: a Spark has two cages, so each cable belongs to one open or closed chain."""
        loose = [spark for spark in self.sparks if len(self.links_of(spark)) < 2]
        found: list[tuple[str, ...]] = []
        for start in (*loose, *self.sparks):
            if not any(start in chain for chain in found):
                found.append(tuple(self._walk(start)))
        return sorted(found, key=lambda chain: min(map(self.sparks.index, chain)))

    def is_ring(self) -> bool:
        """Does it close on itself? Two Sparks with two cables are rather a pair."""
        return len(self.sparks) > 2 and all(len(self.links_of(spark)) == 2 for spark in self.sparks)

    def _walk(self, start: str) -> Iterator[str]:
        here, used = start, set[str]()
        while True:
            yield here
            link = next((each for each in self.links_of(here) if str(each.cable.ends) not in used), None)
            if link is None:
                return
            used.add(str(link.cable.ends))
            one, other = link.sparks
            here = other if here == one else one
            if here == start:
                return


def parts(drawn: Map) -> list[Part]:
    """The parts of a site in the order of its fabrics; Sparks without a cable come last."""
    groups: list[set[str]] = []
    for fabric in drawn.fabrics:
        for joined in _joined(fabric):
            touched = [group for group in groups if group & joined]
            merged = joined.union(*touched)
            at = groups.index(touched[0]) if touched else len(groups)
            groups = [group for group in groups if group not in touched]
            groups.insert(at, merged)
    ordered = dict.fromkeys(spark for fabric in drawn.fabrics for spark in fabric.sparks)
    found = [_part(drawn, [spark for spark in ordered if spark in group], group) for group in groups]
    alone = [spark.name for spark in drawn.sparks if spark.name not in ordered]
    return found + [Part((spark,), (), (), (), ()) for spark in alone]


def _switch(name: str) -> str:
    """A switch among Sparks: no name of a Spark has a space."""
    return f"switch {name}"


def _joined(fabric: MapFabric) -> Iterator[set[str]]:
    for segment in fabric.segments:
        names = {end.spark for end in segment.ends}
        yield names if segment.switch is None else names | {_switch(segment.switch)}


def _part(drawn: Map, sparks: list[str], group: set[str]) -> Part:
    fabrics = tuple(fabric for fabric in drawn.fabrics if group & set(fabric.sparks))
    planes = [plane for fabric in fabrics for plane in fabric.planes if _switch(str(plane.switch)) in group]
    links = [
        Link(fabric.name, cable)
        for fabric in fabrics
        for cable in fabric.cables
        if cable.rails[0].ends[0].spark in group
    ]
    return Part(tuple(sparks), tuple(links), tuple(_drops(planes)), tuple(planes), fabrics)


def _drops(planes: list[MapSegment]) -> Iterator[Drop]:
    states: dict[tuple[str, str, str], list[State]] = {}
    for plane in planes:
        for end in plane.ends:
            states.setdefault((str(plane.switch), end.spark, str(end.cage)), []).append(end.state)
    for (switch, spark, cage), found in states.items():
        yield Drop(switch, spark, cage, worst(found))
