"""The connection that carries SSH: what it should be, where the roster says so at all."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Self

from netaddr import IPAddress, IPNetwork
from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from fleet.address import Address, Interface4
from fleet.hardware import twin_of
from fleet.netplan.document import InterfaceName
from fleet.record import Record
from fleet.wall import wall


def _ipv4(value: IPAddress) -> IPAddress:
    if value.version != 4:
        raise PydanticCustomError("ipv4", "expected an IPv4 address, found {found}", {"found": str(value)})
    if value.is_multicast() or value.is_reserved() or value in _THIS_NETWORK:
        raise PydanticCustomError(
            "unusable_address", "expected an address that answers, found {found}", {"found": str(value)}
        )
    return value


_THIS_NETWORK = IPNetwork("0.0.0.0/8")
Address4 = Annotated[Address, AfterValidator(_ipv4)]
"""An IPv4 address without a prefix."""


class Management(Record):
    """The management connection of a Spark.

    With an interface alone it is not ours: it is known, so that nothing else is put on it, and left alone.
    With `address` or `dhcp` it is ours, and every change of it undoes itself unless it is confirmed.
    """

    interface: InterfaceName = "enP7s7"
    """The 10GbE port of every DGX Spark (field-notes, Names)."""
    dhcp: bool = False
    """Its IPv4 address, router and name servers come from DHCP."""
    address: Interface4 | None = None
    gateway: Address4 | None = None
    """The default router, in the address's network."""
    nameservers: tuple[Address4, ...] = ()
    """In the order in which they are asked."""
    mtu: Annotated[int, Field(strict=True, ge=576, le=65535)] | None = None
    """Bytes of an IP packet; None leaves it at the driver's. 576 to 65535: IPv4's bounds (RFC 791)."""

    @property
    def is_ours(self) -> bool:
        """Does the roster say what it should be?"""
        return self.dhcp or self.address is not None

    @model_validator(mode="after")
    def _walls(self) -> Self:
        if twin_of(self.interface) is not None:
            raise wall(
                "management_on_fabric",
                f"management: expected an interface outside the fabric, found {self.interface}",
            )
        if self.dhcp and self.address is not None:
            raise wall("management_twice", f"management: expected dhcp or an address, found both: {self.address}")
        _needs(self.gateway, "gateway", self.address is not None, "an address")
        _needs(self.nameservers or None, "nameservers", self.address is not None, "an address")
        _needs(self.mtu, "mtu", self.is_ours, "an address or dhcp")
        self._router_in_its_network()
        return self

    def _router_in_its_network(self) -> None:
        if self.gateway is None or self.address is None:
            return
        network = self.address.cidr
        ends = (network.network, network.broadcast) if network.prefixlen < 31 else ()
        if self.gateway not in network or self.gateway in ends or self.gateway == self.address.ip:
            raise wall(
                "gateway_outside",
                f"management.gateway: expected another host of {network} than {self.address.ip}, found {self.gateway}",
            )


def _needs(value: object, name: str, is_there: bool, needed: str) -> None:
    if value is not None and not is_there:
        raise wall("management_incomplete", f"management.{name}: expected {needed} with it, found none")


def apart(managed: Mapping[str, Management], rails: Iterable[tuple[str, IPNetwork]]) -> None:
    """The walls between management connections of one site, and between them and the networks of its rails.

    `managed` has the management of each Spark by its name, `rails` a rail's name and its network.
    """
    holders: dict[IPAddress, str] = {}
    rails = tuple(rails)
    for spark, management in managed.items():
        if management.address is None:
            continue
        holder = holders.setdefault(management.address.ip, spark)
        if holder != spark:
            raise wall(
                "management_shared",
                f"management.address: expected an address for each spark, "
                f"found {management.address.ip} at {holder} and {spark}",
            )
        mine = management.address.cidr
        for rail, network in rails:
            if mine in network or network in mine:
                raise wall(
                    "management_in_rail",
                    f"sparks.{spark}.management.address: expected a network apart from every rail, "
                    f"found {mine} and {rail} in {network}",
                )
