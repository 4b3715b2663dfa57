"""The shapes in which labs cable Sparks, and the order of ranks that each gives."""

from collections.abc import Sequence
from enum import StrEnum

from fleet.cable import Cable
from fleet.wall import wall


class Shape(StrEnum):
    """How the Sparks of a fabric are joined."""

    SINGLE = "single"
    """No cable."""
    PAIR = "pair"
    """Each cable joins two Sparks that have no other: one or more pairs."""
    TRIANGLE = "triangle"
    """Three Sparks, a cable between any two."""
    RING = "ring"
    """Four or more, each with a cable to the one before and the one after."""
    SWITCH = "switch"
    """Each on the same switch; one subnet for each twin."""


def ranks(shape: Shape, cables: Sequence[Cable]) -> tuple[str, ...]:
    """The Sparks that cables join, in cable order; raises the wall of the shape where they do not make it."""
    if shape is Shape.PAIR:
        return _pairs(cables)
    if shape in (Shape.TRIANGLE, Shape.RING):
        return _closed(shape, cables)
    return ()


def _pairs(cables: Sequence[Cable]) -> tuple[str, ...]:
    seen: set[str] = set()
    for cable in cables:
        for name in cable.sparks:
            if name in seen:
                raise wall("spark_in_two_pairs", f"{name}: expected one cable for a spark of a pair, found two")
        seen.update(cable.sparks)
    return tuple(name for cable in cables for name in cable.sparks)


def _closed(shape: Shape, cables: Sequence[Cable]) -> tuple[str, ...]:
    """Each cable goes on where the one before ended, and the last comes back to the first."""
    is_count_right = len(cables) == 3 if shape is Shape.TRIANGLE else len(cables) >= 4
    if not is_count_right:
        expected = "three cables" if shape is Shape.TRIANGLE else "four cables or more"
        raise wall("shape_cables", f"cables: expected {expected} in a {shape}, found {len(cables)}")
    start = next((name for name in cables[0].sparks if name not in cables[1].sparks), cables[0].sparks[0])
    order = [start]
    for cable in cables:
        if order[-1] not in cable.sparks:
            raise wall(
                "cable_order",
                f"cable {cable}: expected it to go on from {order[-1]}, where the cable before it ended, "
                f"found it between {' and '.join(cable.sparks)}",
            )
        one, other = cable.sparks
        order.append(other if one == order[-1] else one)
    if order[-1] != start:
        raise wall("ring_open", f"cable {cables[-1]}: expected it to close the {shape} at {start}, found {order[-1]}")
    if len(set(order[:-1])) != len(cables):
        twice = next(name for name in order[:-1] if order[:-1].count(name) > 1)
        raise wall("ring_crossing", f"{twice}: expected two cables in a {shape}, found more")
    return tuple(order[:-1])
