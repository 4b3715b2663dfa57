"""Routes of a ring with transit: how a Spark reaches those that it has no cable to."""

from collections.abc import Iterable

from fleet.fabric import Fabric
from fleet.rail import Rail, RailEnd
from fleet.route import TransitRoute
from fleet.transit.desired import Transit


def routes_of(fabric: Fabric, end: RailEnd) -> tuple[TransitRoute, ...]:
    """The routes that leave a ring through one end, by subnet; none without transit.

    A packet goes the shorter way round, and onward in cable order where both are as long; it stays on the same
    twin of every cable, so that the two planes of the ring never mix.
    """
    if not fabric.transit:
        return ()
    order, plane = fabric.sparks, _plane(fabric, end)
    here = order.index(end.spark)
    (neighbour,) = next(rail for rail in plane if end in rail.ends).peers_of(end.spark)
    is_onward = order[(here + 1) % len(order)] == neighbour.spark
    elsewhere = (rail for rail in plane if rail.end_of(end.spark) is None)
    subnets = [rail.subnet for rail in elsewhere if _is_nearer_onward(order, here, rail) is is_onward]
    return tuple(TransitRoute(to=subnet, via=neighbour.address.ip) for subnet in subnets)


def _plane(fabric: Fabric, end: RailEnd) -> list[Rail]:
    return [rail for cable in fabric.cables for rail in cable.rails if rail.ends[0].twin.domain == end.twin.domain]


def _is_nearer_onward(order: tuple[str, ...], here: int, rail: Rail) -> bool:
    """Are there fewer Sparks to pass in cable order than against it, or as many?"""
    places = [order.index(each.spark) for each in rail.ends]
    onward = min((at - here) % len(order) for at in places)
    back = min((here - at) % len(order) for at in places)
    return onward <= back


def transit_of(fabrics: Iterable[Fabric], spark: str) -> Transit | None:
    """What a Spark passes on: from each of its rails of a ring with transit to each other, for that ring's subnets."""
    for fabric in fabrics:
        ends = [end for end in fabric.ends if end.spark == spark]
        if fabric.transit and ends:
            subnets = tuple(segment.subnet for segment in fabric.segments)
            return Transit(interfaces=tuple(sorted(end.interface for end in ends)), subnets=subnets)
    return None
