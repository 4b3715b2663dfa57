"""Who a Spark must reach over its rails, and whether it does: a small ping first, then one of the rail's whole MTU."""

import re
from enum import StrEnum
from typing import Annotated

from fleet.fabric import Fabric
from fleet.record import VOLATILE, Record
from fleet.roster import Roster

HEADERS = 28
"""Bytes of IPv4 and ICMP headers: a ping of MTU 9000 carries 8972 (RFC 791, RFC 792)."""


class PingTarget(Record):
    """One address that a Spark must reach, and from where."""

    rail: int | None
    """None for an opposite Spark of a ring: packets pass others on their way."""
    source: str
    interface: str | None
    """The source's end of the rail; None where routes decide."""
    own: str | None
    """The source's address on it, without prefix."""
    target: str
    target_interface: str
    address: str
    mtu: int
    """Bytes of an IP packet."""

    def __str__(self) -> str:
        source = self.source if self.interface is None else f"{self.source} {self.interface}"
        way = "transit" if self.rail is None else f"rail {self.rail}"
        return f"{way} ({source} -> {self.target} {self.target_interface})"


class PingFailure(StrEnum):
    """Why a ping did not come back."""

    NO_INTERFACE = "no such interface"
    NO_ADDRESS = "its own address not on it"
    NO_ROUTE = "no route"
    UNREACHABLE = "nobody with that address on the wire"
    TOO_LONG = "message too long"
    LOST = "answers lost"
    NO_ANSWER = "no answer"
    OTHER = "ping refused"


class RailPing(PingTarget):
    """What came of it, in this one direction; the other is observed on the other Spark."""

    answered: bool
    """Did a small ping come back? It also warms ARP, for which RoCE does not wait."""
    rtt_ms: Annotated[float | None, VOLATILE] = None
    """The shortest round trip of the small ping."""
    at_mtu: bool | None = None
    """Did every ping of the whole MTU, never to be fragmented, come back? None where the small one did not."""
    failure: PingFailure | None = None
    detail: str | None = None
    """What `failure` says in numbers, as `mtu 1500`."""

    @property
    def is_good(self) -> bool:
        """Small and whole: both came back."""
        return self.answered and self.at_mtu is True

    def __str__(self) -> str:
        way = super().__str__()
        if self.is_good:
            return f"{way}: answers at MTU {self.mtu} in {self.rtt_ms} ms"
        found = self.failure or PingFailure.NO_ANSWER
        asked = f"an answer at MTU {self.mtu}" if self.answered else "an answer"
        detail = f" ({self.detail})" if self.detail else ""
        return f"{way}: expected {asked}, found {found}{detail}{self._where_to_look()}"

    def _where_to_look(self) -> str:
        """Whose MTU it is when only the small ping comes back: the sender's own, or one further on."""
        if not self.answered:
            return ""
        if self.failure is PingFailure.TOO_LONG:
            return f": look at the MTU of {self.source} {self.interface or 'and of who passes it on'}"
        return f": look at the MTU of {self.target} {self.target_interface}, and of what is between"


def ping_targets(roster: Roster, name: str) -> tuple[PingTarget, ...]:
    """Every address that a Spark must reach: its peers on each rail, and in a ring with transit all others."""
    direct = [
        PingTarget(
            rail=segment.rail,
            source=name,
            interface=mine.interface,
            own=str(mine.address.ip),
            target=peer.spark,
            target_interface=peer.interface,
            address=str(peer.address.ip),
            mtu=mine.mtu,
        )
        for segment in roster.segments
        if (mine := segment.end_of(name)) is not None
        for peer in segment.peers_of(name)
    ]
    across = [target for fabric in roster.fabrics.values() if fabric.transit for target in _across(fabric, name)]
    return (*direct, *across)


def _across(fabric: Fabric, name: str) -> list[PingTarget]:
    """Every address of the Sparks of a ring to which there is no cable from here; none for a Spark outside it."""
    if name not in fabric.sparks:
        return []
    near = {end.spark for segment in fabric.segments if segment.end_of(name) for end in segment.ends}
    return [
        PingTarget(
            rail=None,
            source=name,
            interface=None,
            own=None,
            target=end.spark,
            target_interface=end.interface,
            address=str(end.address.ip),
            mtu=end.mtu,
        )
        for end in fabric.ends
        if end.spark not in near
    ]


_COUNTS = re.compile(r"(?P<sent>[0-9]+) packets transmitted, (?P<received>[0-9]+) (?:packets )?received")
_RTT = re.compile(r"(?:rtt|round-trip) min/avg/max(?:/mdev)? = (?P<least>[0-9.]+)/")
_TOO_LONG = re.compile(
    r"[Mm]essage too long(?:, mtu[=: ]+(?P<local>[0-9]+))?|Frag needed[^(]*\(mtu = (?P<far>[0-9]+)\)"
)
_REFUSED = (
    ("Cannot assign requested address", PingFailure.NO_ADDRESS),
    ("No such device", PingFailure.NO_INTERFACE),
    ("unknown iface", PingFailure.NO_INTERFACE),
    ("Network is unreachable", PingFailure.NO_ROUTE),
    ("Host Unreachable", PingFailure.UNREACHABLE),
    ("Net Unreachable", PingFailure.NO_ROUTE),
    ("No route to host", PingFailure.UNREACHABLE),
)
"""What iputils says in the C locale (20240117 and 20240905), and what it means."""


class Pinged(Record):
    """One run of `ping`, read."""

    sent: int
    received: int
    rtt_ms: float | None = None
    failure: PingFailure | None = None
    detail: str | None = None


def parse_ping(text: str) -> Pinged:
    """One run of `ping` from its output, errors included. A ping that refused to start sent none."""
    counts, rtt = _COUNTS.search(text), _RTT.search(text)
    sent, received = (int(counts["sent"]), int(counts["received"])) if counts else (0, 0)
    failure, detail = (None, None) if counts and received == sent > 0 else _failure(text, sent, received)
    return Pinged(
        sent=sent, received=received, rtt_ms=float(rtt["least"]) if rtt else None, failure=failure, detail=detail
    )


def _failure(text: str, sent: int, received: int) -> tuple[PingFailure, str | None]:
    if found := _TOO_LONG.search(text):
        mtu = found["local"] or found["far"]
        return PingFailure.TOO_LONG, f"mtu {mtu}" if mtu else None
    for words, failure in _REFUSED:
        if words in text:
            return failure, None
    if received:
        return PingFailure.LOST, f"{sent - received} of {sent}"
    lines = [line for line in text.splitlines() if line.startswith("ping: ") and "Warning" not in line]
    return (PingFailure.OTHER, lines[-1].removeprefix("ping: ")[:100]) if lines else (PingFailure.NO_ANSWER, None)


def rail_ping(target: PingTarget, small: str, whole: str | None) -> RailPing:
    """What two runs of `ping` say of a target; the second is None where the first had no answer at all."""
    first, second = parse_ping(small), None if whole is None else parse_ping(whole)
    told = first if second is None or not first.received else second
    return RailPing(
        **dict(target),
        answered=first.received > 0,
        rtt_ms=first.rtt_ms,
        at_mtu=None if second is None or not first.received else second.failure is None,
        failure=told.failure,
        detail=told.detail,
    )
