"""Address types for pydantic fields, on netaddr.

`Interface4` is an address with the prefix of its network (`192.168.102.10/24`), as on a rail.
"""

import re
from ipaddress import IPv4Address
from typing import Annotated

from netaddr import AddrFormatError, IPAddress, IPNetwork
from pydantic import PlainSerializer, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

_DECIMAL_PREFIX = re.compile(r"[0-9A-Fa-f:.]+/[0-9]{1,3}")


def _interface4(value: object) -> IPNetwork:
    if isinstance(value, IPNetwork):
        return value
    if not isinstance(value, str) or not _DECIMAL_PREFIX.fullmatch(value):
        raise PydanticCustomError(
            "cidr",
            "expected an IPv4 address with its prefix, as 192.168.102.10/24, found {found}",
            {"found": repr(value)},
        )
    try:
        found = IPNetwork(value)
    except (AddrFormatError, ValueError) as error:
        raise PydanticCustomError(
            "cidr",
            "expected an IPv4 address with its prefix, as 192.168.102.10/24, found {found}",
            {"found": repr(value)},
        ) from error
    return found


def _is_of_no_peer(address: IPv4Address) -> bool:
    """Loopback, multicast, 0.0.0.0/8 (this network) and 240.0.0.0/4 (RFC 1122, RFC 1112)."""
    this_network = int(address) >> 24 == 0
    return address.is_loopback or address.is_multicast or address.is_reserved or this_network


def _host_in_its_network(value: IPNetwork) -> IPNetwork:
    """A rail's address must be one that a peer can answer exactly: IPv4, a host, prefix 1 to 31."""
    if value.version != 4 or not 1 <= value.prefixlen <= 31:
        raise PydanticCustomError("prefix", "expected an IPv4 prefix of 1 to 31, found {found}", {"found": str(value)})
    if _is_of_no_peer(IPv4Address(int(value.ip))):
        raise PydanticCustomError(
            "unusable_address", "expected an address that a peer can reach, found {found}", {"found": str(value.ip)}
        )
    if value.prefixlen < 31 and value.ip in (value.network, value.broadcast):
        raise PydanticCustomError(
            "host_address",
            "expected a host address of {network}, found {found}",
            {"network": str(value.cidr), "found": str(value.ip)},
        )
    return value


Interface4 = Annotated[
    IPNetwork,
    PlainValidator(lambda value: _host_in_its_network(_interface4(value))),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "format": "ipv4-interface"}),
]
"""An IPv4 host address and its prefix; raises for prefix 0 and 32, network and broadcast addresses."""


def _address(value: object) -> IPAddress:
    if isinstance(value, IPAddress):
        return value
    try:
        if isinstance(value, str):
            return IPAddress(value)
        raise TypeError(value)
    except (AddrFormatError, ValueError, TypeError) as error:
        raise PydanticCustomError("address", "expected an IP address, found {found}", {"found": repr(value)}) from error


Address = Annotated[
    IPAddress,
    PlainValidator(_address),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "format": "ip"}),
]
"""An IPv4 or IPv6 address."""
