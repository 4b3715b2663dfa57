"""Cables: which cage is joined to which, and the rails that run over it."""

from itertools import combinations
from typing import Self

from pydantic import model_validator

from fleet.hardware import Cage
from fleet.rail import Rail
from fleet.record import Record
from fleet.wall import wall


class CageEnd(Record):
    """One end of a cable: a cage of a Spark, written `srv5.f1`."""

    spark: str
    cage: Cage

    def __str__(self) -> str:
        return f"{self.spark}.{self.cage}"


class Cable(Record):
    """A cable between cages of two Sparks and the rails on it: one per twin, so one or two."""

    rails: tuple[Rail, ...]

    @model_validator(mode="after")
    def _one_cable(self) -> Self:
        if not 1 <= len(self.rails) <= 2:
            raise wall("rails_of_a_cable", f"rails: expected one or two, one for each twin, found {len(self.rails)}")
        for one, other in combinations(self.rails, 2):
            _same_cage_other_twin(one, other)
        return self

    @property
    def ends(self) -> tuple[CageEnd, CageEnd]:
        """The two cages it is plugged into, in the order written."""
        one, other = (CageEnd(spark=end.spark, cage=end.twin.cage) for end in self.rails[0].ends)
        return one, other

    @property
    def sparks(self) -> tuple[str, str]:
        """The two Sparks that it joins, in the order written."""
        one, other = self.ends
        return one.spark, other.spark

    def __str__(self) -> str:
        one, other = self.ends
        return f"{one} - {other}"


def _same_cage_other_twin(one: Rail, other: Rail) -> None:
    rails = f"rails {one.rail} and {other.rail}"
    if {end.spark for end in one.ends} != {end.spark for end in other.ends}:
        raise wall("two_cables", f"{rails}: expected one cable between two sparks, found others")
    for end in one.ends:
        twin = other.end_of(end.spark)
        assert twin is not None
        if twin.twin.cage != end.twin.cage:
            raise wall(
                "two_cages",
                f"{rails} on {end.spark}: expected one cage, found {end.interface} and {twin.interface}",
            )
        if twin.interface == end.interface:
            raise wall(
                "shared_interface",
                f"{rails} on {end.spark}: expected both twins of the cage, found {end.interface} twice",
            )
