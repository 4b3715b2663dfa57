"""From segments to the fabrics of a roster: which cables they run over, in which shape, in which order."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError

from fleet.cable import Cable
from fleet.fabric import Fabric
from fleet.rail import Rail, RailEnd, Segment, SwitchPlane
from fleet.roster_error import sentence_of

Values = dict[str, Any]


def numbered(subnet: str, taken: set[int]) -> int:
    """A number for a rail that nobody has: the third part of its subnet, as people do, else the next free one."""
    wanted = int(subnet.split(".")[2])
    number = wanted if wanted not in taken else next(each for each in range(1, 65536) if each not in taken)
    taken.add(number)
    return number


def segment(number: int, ends: Sequence[RailEnd], switch: str | None = None) -> Segment:
    """The rail or, on a switch, the plane of some ends; raises ValidationError for what is none."""
    if switch is None:
        return Rail(rail=number, ends=tuple(ends))
    return SwitchPlane(rail=number, ends=tuple(ends), switch=switch)


class Made(NamedTuple):
    """A fabric as a roster has it, or why it is none."""

    name: str
    sparks: frozenset[str]
    values: Values
    problems: tuple[str, ...] = ()


def fabrics(segments: Iterable[Segment], order: Sequence[str], options: Values) -> list[Made]:
    """The fabrics that segments make.

    + order: the Sparks; a ring begins at the first of them
    + options: what else each fabric says, as `gid_index`
    """
    segments = tuple(segments)
    made = [
        _made(_name(shape, cables), cables, {"shape": shape, "cables": [each.to_json() for each in cables], **options})
        for shape, cables in _shapes(_cables(segments), order)
    ]
    planes = [each for each in segments if isinstance(each, SwitchPlane)]
    for switch in dict.fromkeys(each.switch for each in planes):
        mine = [each for each in planes if each.switch == switch]
        made.append(_made(switch, mine, {"shape": "switch", "planes": [each.to_json() for each in mine], **options}))
    return made


def _made(name: str, parts: Sequence[Cable] | Sequence[SwitchPlane], values: Values) -> Made:
    sparks = {name for part in parts for name in (part.sparks if isinstance(part, Cable) else _on(part))}
    try:
        Fabric.model_validate(values)
    except ValidationError as error:
        problems = tuple(f"fabric {name}: {sentence_of(each)}" for each in error.errors(include_url=False))
        return Made(name, frozenset(sparks), values, problems)
    return Made(name, frozenset(sparks), values)


def _on(plane: SwitchPlane) -> tuple[str, ...]:
    return tuple(end.spark for end in plane.ends)


def _name(shape: str, cables: Sequence[Cable]) -> str:
    """A name for people, with room for a number behind it: a roster takes 64 characters."""
    first = cables[0].sparks
    return ("-".join(sorted(first)) if shape == "pair" else f"{shape}-{first[0]}")[:60]


def _cables(segments: Iterable[Segment]) -> list[Cable]:
    """Rails between the same two cages run over one cable."""
    by_cages: dict[frozenset[tuple[str, str]], list[Rail]] = {}
    for rail in segments:
        if isinstance(rail, Rail):
            by_cages.setdefault(frozenset((end.spark, end.twin.cage) for end in rail.ends), []).append(rail)
    return [Cable(rails=tuple(sorted(rails, key=lambda rail: rail.ends[0].twin.domain))) for rails in by_cages.values()]


def _shapes(cables: list[Cable], order: Sequence[str]) -> list[tuple[str, list[Cable]]]:
    """A triangle or a ring where the cables close one, else pairs: together where no Spark has two, else each alone."""
    shapes = []
    for group in _connected(cables):
        ring = _closed(group, order)
        if ring is not None:
            shapes.append(("triangle" if len(ring) == 3 else "ring", ring))
        else:
            shapes += [("pair", [cable]) for cable in group]
    return shapes


def _connected(cables: list[Cable]) -> list[list[Cable]]:
    groups: list[list[Cable]] = []
    for cable in cables:
        touched = [group for group in groups if any(set(each.sparks) & set(cable.sparks) for each in group)]
        groups = [group for group in groups if group not in touched]
        groups.append([*(each for group in touched for each in group), cable])
    return groups


def _closed(cables: list[Cable], order: Sequence[str]) -> list[Cable] | None:
    """The cables in ring order, from the first Spark of `order` towards its earlier neighbour; None for no ring."""
    sparks = [name for name in order if any(name in cable.sparks for cable in cables)]
    degrees = {name: sum(name in cable.sparks for cable in cables) for name in sparks}
    if len(cables) < 3 or len(sparks) != len(cables) or set(degrees.values()) != {2}:
        return None
    left, at, ring = list(cables), sparks[0], list[Cable]()
    while left:
        onward = [cable for cable in left if at in cable.sparks]
        if not onward:
            return None
        cable = min(onward, key=lambda each: sparks.index(_other(each, at)))
        left.remove(cable)
        ring.append(cable)
        at = _other(cable, at)
    return ring


def _other(cable: Cable, spark: str) -> str:
    one, other = cable.sparks
    return other if one == spark else one
