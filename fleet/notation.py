"""The short way to write a fabric: cables as people name them, and a pool from which subnets and addresses follow.

    {"shape": "ring", "cables": ["dgx1.f1 - dgx2.f0", …], "pool": "10.10.0.0/16", "mtu": 9000}

Cable number n (its place in the list, or the number before it: `"7: dgx1.f1 - dgx2.f0"`) has the subnets 2n-2 and
2n-1 of the pool, one for each twin; the Spark named first has the first address of each. A switch (`"dgx1.f0 - sw1"`)
has the subnets of its place among the switches, and a Spark the address of its cable's place at the switch, or of
the number before it. So what is appended changes nothing before it, and a number keeps its addresses when a cable
before it is taken out.
"""

import re
from collections.abc import Iterator
from typing import Any

from netaddr import AddrFormatError, IPNetwork

from fleet.hardware import TWINS, Cage
from fleet.plain import shown
from fleet.record import Record
from fleet.roster_error import RosterError

DEFAULT_PREFIX = 24
"""A subnet that people can read; a /31 or /30 does as well where a pool is small."""

_NETWORK = re.compile(r"[0-9.]+/[0-9]{1,2}")
_CABLE = re.compile(
    r"(?:(?P<number>[1-9][0-9]{0,4}):\s*)?(?P<one>[A-Za-z0-9][A-Za-z0-9.-]*)\.(?P<cage>f[01])"
    r"\s+(?:-|–|—|<->)\s+(?P<other>[A-Za-z0-9][A-Za-z0-9.-]*?)(?:\.(?P<far>f[01]))?"
)


class NamedCable(Record):
    """One cable as written, its place or number with it."""

    number: int
    one: str
    cage: Cage
    other: str
    """A Spark, or a switch where `far` is None."""
    far: Cage | None


def expand(values: Any, place: str) -> Any:
    """A fabric's plain values with its short cables written out; what is written out already stays as it is.

    Raises RosterError, each line beginning with `place`, for a cable that cannot be read and a pool that has no room.
    """
    if not isinstance(values, dict) or not _is_short(values):
        return values
    return _Writer(values, place).written()


def _is_short(values: dict[str, Any]) -> bool:
    cables = values.get("cables")
    return "pool" in values or (isinstance(cables, list | tuple) and any(isinstance(each, str) for each in cables))


class _Writer:
    """Writes one fabric out."""

    SHORT = ("cables", "pool", "prefix", "mtu", "first_rail")

    def __init__(self, values: dict[str, Any], place: str) -> None:
        self.values, self.place = values, place
        self.mtu = self._whole("mtu", None, 576, 9978)
        self.prefix = self._whole("prefix", DEFAULT_PREFIX, 1, 31)
        self.first_rail = self._whole("first_rail", 1, 0, 65535)
        self.pool = self._pool()

    def written(self) -> dict[str, Any]:
        cables = list(self._cables())
        kept = {key: value for key, value in self.values.items() if key not in self.SHORT}
        if self.values.get("shape") == "switch":
            return {**kept, "planes": self._planes(cables)}
        return {**kept, "cables": [self._cable(cable) for cable in cables]}

    def _wrong(self, key: str, sentence: str) -> RosterError:
        return RosterError([f"{self.place}.{key}: {sentence}"])

    def _whole(self, key: str, default: int | None, least: int, most: int) -> int:
        value = self.values.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self._wrong(key, f"expected a whole number of {least} to {most}, found {shown(value)}")
        return value

    def _pool(self) -> IPNetwork:
        pool = self.values.get("pool")
        try:
            if not isinstance(pool, str) or not _NETWORK.fullmatch(pool):
                raise TypeError(pool)
            network = IPNetwork(pool)
            if network.version != 4 or network.ip != network.network or network.prefixlen > self.prefix:
                raise ValueError(pool)
        except (AddrFormatError, ValueError, TypeError) as error:
            expected = f"an IPv4 network of /{self.prefix} or larger, as 10.10.0.0/16"
            raise self._wrong("pool", f"expected {expected}, found {shown(pool)}") from error
        return network

    def _subnet(self, at: int) -> IPNetwork:
        room = 2 ** (self.prefix - self.pool.prefixlen)
        if at >= room:
            raise self._wrong(
                "pool", f"expected room for {at + 1} subnets of /{self.prefix}, found {room} in {self.pool}"
            )
        first = int(self.pool.network) + at * 2 ** (32 - self.prefix)
        return IPNetwork((first, self.prefix))

    def _cables(self) -> Iterator[NamedCable]:
        written = self.values.get("cables")
        if not isinstance(written, list | tuple):
            raise self._wrong("cables", f"expected a list, found {shown(written)}")
        taken: dict[tuple[str, int], int] = {}
        places: dict[str, int] = {}
        for at, text in enumerate(written):
            cable = self._read(text, f"cables[{at}]", places)
            key = ("" if cable.far else cable.other, cable.number)
            if key in taken:
                raise self._wrong(f"cables[{at}]", f"expected a number of its own, found that of cables[{taken[key]}]")
            taken[key] = at
            yield cable

    def _read(self, text: Any, key: str, places: dict[str, int]) -> NamedCable:
        found = _CABLE.fullmatch(text.strip()) if isinstance(text, str) else None
        is_switch = self.values.get("shape") == "switch"
        if found is None or (found["far"] is None) is not is_switch:
            expected = "dgx1.f0 - switch1" if is_switch else "dgx1.f1 - dgx2.f0"
            raise self._wrong(key, f"expected a cable as '{expected}', found {shown(text)}")
        group = found["other"] if is_switch else ""
        places[group] = places.get(group, 0) + 1
        number = int(found["number"] or places[group])
        far = Cage(found["far"]) if found["far"] else None
        return NamedCable(number=number, one=found["one"], cage=Cage(found["cage"]), other=found["other"], far=far)

    def _cable(self, cable: NamedCable) -> dict[str, Any]:
        assert cable.far is not None
        pairs = zip(_interfaces(cable.cage), _interfaces(cable.far), strict=True)
        rails = []
        for twin, (mine, theirs) in enumerate(pairs):
            at = 2 * (cable.number - 1) + twin
            ends = [self._end(cable.one, mine, at, 1), self._end(cable.other, theirs, at, 2)]
            rails.append({"rail": self.first_rail + at, "ends": ends})
        return {"rails": rails}

    def _planes(self, cables: list[NamedCable]) -> list[dict[str, Any]]:
        planes: list[dict[str, Any]] = []
        for place, switch in enumerate(dict.fromkeys(cable.other for cable in cables)):
            mine = [cable for cable in cables if cable.other == switch]
            for twin in (0, 1):
                at = 2 * place + twin
                ends = [self._end(each.one, _interfaces(each.cage)[twin], at, each.number) for each in mine]
                planes.append({"rail": self.first_rail + at, "switch": switch, "ends": ends})
        return planes

    def _end(self, spark: str, interface: str, at: int, number: int) -> dict[str, Any]:
        subnet = self._subnet(at)
        offset = number if subnet.prefixlen < 31 else number - 1
        if offset > subnet.size - (2 if subnet.prefixlen < 31 else 1):
            raise self._wrong("prefix", f"expected room for {number} addresses in {subnet}, found too little")
        address = f"{subnet.network + offset}/{subnet.prefixlen}"
        return {"spark": spark, "interface": interface, "address": address, "mtu": self.mtu}


def _interfaces(cage: Cage) -> tuple[str, str]:
    one, other = (twin.interface for twin in TWINS if twin.cage == cage)
    return one, other
