"""A fabric: Sparks cabled in one shape, and what the whole of it must be. A site can have several."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Annotated, Self

from pydantic import Field, model_validator

from fleet.cable import Cable, CageEnd
from fleet.rail import RailEnd, Segment, SwitchPlane
from fleet.record import Record
from fleet.shape import Shape, ranks
from fleet.wall import wall


class Fabric(Record):
    """Every cable of one shape, or every plane of its switches."""

    shape: Shape
    cables: tuple[Cable, ...] = ()
    planes: tuple[SwitchPlane, ...] = ()
    transit: bool = False
    """Shall the Sparks of a ring pass packets on to those that have no cable between them?"""
    guarded: bool = False
    """Shall every change of its rails undo itself unless it is confirmed, as one of management does?"""
    gid_index: Annotated[int, Field(strict=True, ge=0, le=1023)] | None = None
    """The GID index that every HCA must have; None where any will do. A table has 256 entries (mlx5) to 1024 (rxe)."""
    floor_gbps: Annotated[float, Field(gt=0, le=400)] | None = None
    """The least RDMA bandwidth of one twin in one direction, Gb/s; None where it is not judged."""

    @model_validator(mode="after")
    def _walls(self) -> Self:
        if self.cables and self.shape in (Shape.SINGLE, Shape.SWITCH):
            raise wall("cables_in_shape", f"cables: expected none in shape {self.shape}, found {len(self.cables)}")
        if self.planes and self.shape is not Shape.SWITCH:
            raise wall("planes_in_shape", f"planes: expected none in shape {self.shape}, found {len(self.planes)}")
        if self.transit and self.shape is not Shape.RING:
            raise wall("transit_without_ring", f"transit: expected it only in shape ring, found it in {self.shape}")
        if self.shape is Shape.PAIR:
            for segment in self.segments:
                segment.refuse_crossed()
        together(self.segments)
        ranks(self.shape, self.cables)
        return self

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Every rail and plane, in the order written."""
        return (*(rail for cable in self.cables for rail in cable.rails), *self.planes)

    @property
    def ends(self) -> tuple[RailEnd, ...]:
        """Every end of every segment."""
        return tuple(end for segment in self.segments for end in segment.ends)

    @property
    def sparks(self) -> tuple[str, ...]:
        """Its Sparks in the order of their ranks: that of the cables, or of the ends of a plane."""
        return ranks(self.shape, self.cables) or tuple(dict.fromkeys(end.spark for end in self.ends))


def together(segments: Sequence[Segment]) -> None:
    """The walls between segments of one site, whatever fabrics they are in; raises the first that stands."""
    once("rail_number", "a rail number of its own", [str(segment) for segment in segments])
    once("cage_reused", "one cable for a cage", [str(cage) for cage in _plugged(segments)])
    once("interface_reused", "one rail for an interface", [str(end) for each in segments for end in each.ends])
    for one, other in combinations(segments, 2):
        mine, theirs = one.ends[0].address.cidr, other.ends[0].address.cidr
        if mine in theirs or theirs in mine:
            raise wall(
                "shared_subnet",
                f"rails {one.rail} and {other.rail}: expected a subnet each, found {mine} and {theirs}",
            )


def once(code: str, expected: str, names: Iterable[str]) -> None:
    """A wall where something stands more than once."""
    for name, count in sorted(Counter(names).items()):
        if count > 1:
            raise wall(code, f"{name}: expected {expected}, found it {count} times")


def _plugged(segments: Sequence[Segment]) -> list[CageEnd]:
    """Each cage once for each thing it is joined to: the twins of a cage go to one cage, or to one switch."""
    joined = {
        (CageEnd(spark=end.spark, cage=end.twin.cage), _far_end(segment, end))
        for segment in segments
        for end in segment.ends
    }
    return [cage for cage, _ in joined]


def _far_end(segment: Segment, end: RailEnd) -> str:
    if isinstance(segment, SwitchPlane):
        return f"switch {segment.switch}"
    return " ".join(f"{peer.spark}.{peer.twin.cage}" for peer in segment.peers_of(end.spark))
