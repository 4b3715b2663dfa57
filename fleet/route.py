"""One static route of a rail's document."""

from fleet.address import Address
from fleet.record import Record


class TransitRoute(Record):
    """One static route: a subnet that is not on this Spark, by way of a neighbour's address."""

    to: str
    """The subnet, as `10.10.4.0/24`."""
    via: Address
