"""What NetworkManager has applied to one interface: the parts of IPv4 that the kernel's addresses do not show."""

import re

from fleet.nmcli import split_terse
from fleet.record import Record

_LINE = re.compile(r"IP4\.(?P<name>GATEWAY|DNS)(\[\d+\])?")


class AppliedIp4(Record):
    """Default router and name servers of an interface, as they are in use."""

    gateway: str | None = None
    nameservers: tuple[str, ...] = ()
    """In the order in which they are asked."""


def parse_applied(text: str) -> AppliedIp4:
    """From `nmcli -t -f IP4 device show`; other lines than those of the router and the name servers are passed over."""
    found: dict[str, list[str]] = {"GATEWAY": [], "DNS": []}
    for line in text.splitlines():
        key, *values = split_terse(line) if line else ("",)
        name = _LINE.fullmatch(key)
        if name and values != [""]:
            found[name["name"]] += values
    return AppliedIp4(gateway=next(iter(found["GATEWAY"]), None), nameservers=tuple(found["DNS"]))
