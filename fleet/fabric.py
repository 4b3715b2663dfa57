"""The fabric of a site: which Sparks are joined, over which rails."""

from collections import Counter
from itertools import combinations
from typing import Literal, Self

from pydantic import model_validator

from fleet.rail import FabricLink, Rail, RailEnd
from fleet.record import Record
from fleet.wall import wall


class Fabric(Record):
    """Every cable of a site. In the `pair` shape each cable joins two Sparks that have no other cable."""

    shape: Literal["pair"]
    links: tuple[FabricLink, ...]

    @model_validator(mode="after")
    def _walls(self) -> Self:
        _once("rail_number", "a rail number of its own", [f"rail {rail.rail}" for rail in self.rails])
        _once("interface_reused", "one rail for an interface", [f"{e.spark} {e.interface}" for e in self.ends])
        _once(
            "spark_in_two_pairs",
            "one cable for a spark",
            [name for link in self.links for name in link.sparks],
        )
        _disjoint_subnets(self.rails)
        return self

    @property
    def rails(self) -> tuple[Rail, ...]:
        """Every rail, in the order written."""
        return tuple(rail for link in self.links for rail in link.rails)

    @property
    def ends(self) -> tuple[RailEnd, ...]:
        """Every end of every rail."""
        return tuple(end for rail in self.rails for end in rail.ends)


def _once(code: str, expected: str, names: list[str]) -> None:
    for name, count in sorted(Counter(names).items()):
        if count > 1:
            raise wall(code, f"{name}: expected {expected}, found it {count} times")


def _disjoint_subnets(rails: tuple[Rail, ...]) -> None:
    for one, other in combinations(rails, 2):
        mine, theirs = one.ends[0].address.cidr, other.ends[0].address.cidr
        if mine in theirs or theirs in mine:
            raise wall(
                "shared_subnet",
                f"rails {one.rail} and {other.rail}: expected a subnet each, found {mine} and {theirs}",
            )
