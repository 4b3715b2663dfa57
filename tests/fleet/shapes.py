"""Rosters of any size in every shape, and hosts in every state, to draw and to plan from."""

from itertools import cycle
from typing import Any

from fleet.observation import Observation
from fleet.record import Unobserved
from fleet.roster import Roster
from tests.fleet import observed

NAMES = [f"dgx{number}" for number in range(1, 25)]


def site(sparks: list[str], named: int | None = None, **fabrics: dict[str, Any]) -> Roster:
    """A site; of its Sparks the one at that place is only named."""
    values = {
        "sparks": {name: {"enrolled": at != named} for at, name in enumerate(sparks)},
        "fabrics": {name: {"mtu": 9000, **fabric} for name, fabric in fabrics.items()},
    }
    return Roster.read(values, "test")


def pairs(sparks: list[str], cage: str = "f0") -> list[str]:
    return [f"{one}.{cage} - {other}.{cage}" for one, other in zip(sparks[::2], sparks[1::2], strict=False)]


def round_trip(sparks: list[str]) -> list[str]:
    return [f"{one}.f1 - {other}.f0" for one, other in zip(sparks, sparks[1:] + sparks[:1], strict=True)]


def sites(count: int) -> dict[str, Roster]:
    """Every way in which so many Sparks are cabled here, by its name."""
    names = NAMES[:count]
    dac = {"shape": "pair", "cables": pairs(names, "f1"), "pool": "192.168.128.0/17", "first_rail": 100}
    pair = {"shape": "pair", "cables": pairs(names), "pool": "10.0.0.0/16"}
    plane = {"shape": "switch", "cables": [f"{name}.f0 - switch1" for name in names], "pool": "192.168.0.0/17"}
    both = [f"{name}.f{cage} - switch{cage}" for name in names for cage in (0, 1)]
    chain = {**dac, "cables": pairs(names[1:], "f1")}
    found = {
        "alone": site(names),
        "pair": site(names, pair=pair),
        "two cables": site(names, named=1, pair=pair, dac=dac),
        "chain": site(names, pair=pair, chain=chain),
        "switch": site(names, named=0, switch=plane),
        "switch and pairs": site(names, switch=plane, dac=dac),
        "two switches": site(names, switch={**plane, "cables": both}),
        "one switch twice": site(names, switch=plane, again={
            **dac, "shape": "switch", "cables": [f"{name}.f1 - switch1" for name in names]
        }),
        "a switch for each half": site(names, switch={**plane, "cables": [
            f"{name}.f0 - {'low' if at < count / 2 else 'high'}" for at, name in enumerate(names)
        ]}),
    }  # fmt: skip
    if count >= 3:
        found["triangle"] = site(names, triangle={"shape": "triangle", "cables": round_trip(names[:3]),
                                                  "pool": "10.0.0.0/16"})  # fmt: skip
    if count >= 4:
        found["ring"] = site(names, named=2, ring={"shape": "ring", "cables": round_trip(names), "pool": "10.0.0.0/16"})
    return found


def seen_every_way(roster: Roster) -> dict[str, Observation]:
    """The enrolled Sparks, one after the other as desired, pulled, silent, with a lost MTU, and blank."""
    ways = cycle((as_desired, pulled, silent, with_lost_mtu, blank))
    return {name: way(roster, name) for name, way in zip(roster.enrolled, ways, strict=False)}


def as_desired(roster: Roster, name: str) -> Observation:
    return observed.as_desired(roster.desired_for(name).rail_ends, name)


def pulled(roster: Roster, name: str) -> Observation:
    """The cable of its first cage is out."""
    seen, ends = as_desired(roster, name), roster.desired_for(name).rail_ends
    for end in (end for end in ends if end.twin.cage == ends[0].twin.cage):
        seen = observed.with_link(seen, observed.link_of(end, carrier=False))
    return seen


def silent(roster: Roster, name: str) -> Observation:
    reason = Unobserved(reason="expected an answer over SSH, found Could not connect (timed out)")
    return Observation(host=name, netplan=reason, links=reason, connections=reason)


def with_lost_mtu(roster: Roster, name: str) -> Observation:
    seen, ends = as_desired(roster, name), roster.desired_for(name).rail_ends
    return observed.with_link(seen, observed.link(ends[0].interface, 1500, [str(ends[0].address)])) if ends else seen


def blank(roster: Roster, name: str) -> Observation:
    return observed.blank(name)
