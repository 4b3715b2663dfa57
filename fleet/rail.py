"""Where Sparks meet at layer 3: a rail between two, or a switch plane among many. None can be built that cannot work.

Both are one twin's subnet: its ends share a network and an MTU, and each end is an interface of another Spark.
"""

from collections import Counter
from typing import Annotated, Self

from pydantic import Field, model_validator

from fleet.address import Interface4
from fleet.hardware import Twin, twin_of
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

    def __str__(self) -> str:
        return f"{self.spark} {self.interface}"


class Segment(Record):
    """One subnet and its ends: the base of `Rail` and `SwitchPlane`."""

    rail: Annotated[int, Field(ge=0)]
    """The number people call it by; often a part of its subnet."""
    ends: tuple[RailEnd, ...]

    @property
    def subnet(self) -> str:
        """Its network in CIDR spelling."""
        return str(self.ends[0].address.cidr)

    def end_of(self, spark: str) -> RailEnd | None:
        """Its end on a Spark, or None where it does not go there."""
        return next((end for end in self.ends if end.spark == spark), None)

    def peers_of(self, spark: str) -> tuple[RailEnd, ...]:
        """Every end that a Spark can reach over it without a hop."""
        return tuple(end for end in self.ends if end.spark != spark)

    def __str__(self) -> str:
        return f"rail {self.rail}"

    def joined(self) -> str:
        """The segment and its ends, as people look for them: `rail 102 (srv5 enp1s0f0np0 - srv6 enp1s0f0np0)`."""
        return f"{self} ({' - '.join(map(str, self.ends))})"

    @model_validator(mode="after")
    def _one_network(self) -> Self:
        for name, count in Counter(end.spark for end in self.ends).items():
            if count > 1:
                raise wall("rail_to_itself", f"{self}: expected another spark at each end, found {name} {count} times")
        for end in self.ends[1:]:
            self._fits(self.ends[0], end)
        addresses = Counter(str(end.address.ip) for end in self.ends)
        for address, count in addresses.items():
            if count > 1:
                raise wall("shared_address", f"{self}: expected an address for each end, found {address} {count} times")
        return self

    def _fits(self, one: RailEnd, other: RailEnd) -> None:
        if one.address.cidr != other.address.cidr:
            raise wall(
                "split_subnet",
                f"{self}: expected one subnet at every end, "
                f"found {one.spark} in {one.address.cidr} and {other.spark} in {other.address.cidr}",
            )
        if one.mtu != other.mtu:
            raise wall(
                "unequal_mtu",
                f"{self}: expected one MTU at every end, found {one.spark} {one.mtu} and {other.spark} {other.mtu}",
            )

    def refuse_crossed(self) -> None:
        """The wall of shapes in which NCCL picks a rail by interface name: one name at every end.

        A crossed rail passes a jumbo ping and NCCL still cannot select it.
        """
        one = self.ends[0]
        for other in self.ends[1:]:
            if other.interface != one.interface:
                raise wall("crossed_rail", f"{self}: expected one interface at every end, found {one} and {other}")


class Rail(Segment):
    """One twin of a cable between two Sparks, in a subnet of its own."""

    @model_validator(mode="after")
    def _two_reciprocal_ends(self) -> Self:
        if len(self.ends) != 2:
            raise wall("rail_ends", f"{self}: expected two ends, found {len(self.ends)}")
        one, other = self.ends
        if one.twin.domain != other.twin.domain:
            raise wall(
                "twins_not_reciprocal",
                f"{self}: expected the same twin of a cage at both ends (both enp1… or both enP2p1…), "
                f"found {one} and {other}",
            )
        return self


class SwitchPlane(Segment):
    """One twin of every Spark on one switch: all of them in one subnet."""

    switch: Annotated[str, Field(min_length=1, max_length=64)]

    @model_validator(mode="after")
    def _same_port_everywhere(self) -> Self:
        if not self.ends:
            raise wall("rail_ends", f"{self}: expected at least one end, found none")
        self.refuse_crossed()
        return self
