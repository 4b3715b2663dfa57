"""Rails and the cables that carry them. A rail that cannot work has no constructor."""

from itertools import combinations
from typing import Annotated, Self

from pydantic import Field, model_validator

from fleet.address import Interface4
from fleet.hardware import Cage, Twin, twin_of
from fleet.record import Record
from fleet.wall import wall

Mtu = Annotated[int, Field(strict=True, ge=576, le=9978)]
"""Bytes of an IP packet. 576: IPv4's least (RFC 791). 9978: the most a ConnectX-7 port takes (mlx5 driver)."""


class RailEnd(Record):
    """Where a rail meets a Spark: a twin's interface, its address in the rail's subnet, its MTU in bytes."""

    spark: str
    interface: str
    address: Interface4
    mtu: Mtu

    @model_validator(mode="after")
    def _on_a_twin(self) -> Self:
        if twin_of(self.interface) is None:
            raise wall(
                "not_a_fabric_port",
                f"{self.spark} interface: expected a ConnectX-7 twin, as enp1s0f0np0, found {self.interface}",
            )
        return self

    @property
    def twin(self) -> Twin:
        """The twin this end sits on; the constructor has proved that there is one."""
        twin = twin_of(self.interface)
        assert twin is not None
        return twin


class Rail(Record):
    """One twin of a cable between two Sparks, in a subnet of its own. NCCL picks a rail by interface."""

    rail: int
    """The number people call it by; often a part of its subnet."""
    ends: tuple[RailEnd, RailEnd]

    @model_validator(mode="after")
    def _walls(self) -> Self:
        one, other = self.ends
        if one.spark == other.spark:
            raise wall("rail_to_itself", f"rail {self.rail}: expected two sparks, found {one.spark} twice")
        if one.address.cidr != other.address.cidr:
            raise wall(
                "split_subnet",
                f"rail {self.rail}: expected one subnet at both ends, "
                f"found {one.spark} in {one.address.cidr} and {other.spark} in {other.address.cidr}",
            )
        if one.address.ip == other.address.ip:
            raise wall(
                "shared_address",
                f"rail {self.rail}: expected two addresses, found {one.address.ip} at both ends",
            )
        if one.mtu != other.mtu:
            raise wall(
                "unequal_mtu",
                f"rail {self.rail}: expected one MTU at both ends, "
                f"found {one.spark} {one.mtu} and {other.spark} {other.mtu}",
            )
        return self

    @property
    def subnet(self) -> str:
        """The rail's network in CIDR spelling."""
        return str(self.ends[0].address.cidr)

    def end_of(self, spark: str) -> RailEnd | None:
        """This rail's end on a Spark, or None where it does not go there."""
        return next((end for end in self.ends if end.spark == spark), None)


class FabricLink(Record):
    """One cable between two Sparks and the rails on it: one per twin, so one or two."""

    rails: tuple[Rail, ...]

    @model_validator(mode="after")
    def _one_cable(self) -> Self:
        if not 1 <= len(self.rails) <= 2:
            raise wall("rails_of_a_cable", f"rails: expected one or two, one for each twin, found {len(self.rails)}")
        for rail in self.rails:
            _same_interface_at_both_ends(rail)
        for one, other in combinations(self.rails, 2):
            _same_cage_other_twin(one, other)
        return self

    @property
    def sparks(self) -> frozenset[str]:
        """The two Sparks that the cable joins."""
        return frozenset(end.spark for end in self.rails[0].ends)

    @property
    def cages(self) -> tuple[tuple[str, Cage], ...]:
        """The two cages it is plugged into, as (spark, cage)."""
        return tuple((end.spark, end.twin.cage) for end in self.rails[0].ends)


def _same_interface_at_both_ends(rail: Rail) -> None:
    """A pair's rail is crossed when its ends differ: it pings at jumbo size and NCCL still cannot select it."""
    one, other = rail.ends
    if one.interface != other.interface:
        raise wall(
            "crossed_rail",
            f"rail {rail.rail}: expected one interface at both ends, "
            f"found {one.spark} {one.interface} and {other.spark} {other.interface}",
        )


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
