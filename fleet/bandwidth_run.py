"""One Spark's part of a bandwidth run: what its host is told, and what comes back."""

from collections.abc import Collection, Mapping
from typing import Any

from fleet.bandwidth import Measured
from fleet.bandwidth_schedule import BandwidthTest, Direction, Untested, schedule
from fleet.perftest import MARGIN_SECONDS, NOT_THERE_YET, parse_bandwidth
from fleet.plain import shown
from fleet.record import Unobserved
from fleet.roster import Roster

LEAST_SECONDS = 2 * MARGIN_SECONDS + 1

TIMED_OUT = 124
"""What `timeout` ends with (GNU coreutils)."""


def bandwidth_run(roster: Roster, name: str, present: Collection[str], seconds: int) -> dict[str, Any]:
    """The arguments of `facts/remote/rail_bandwidth.py` on one Spark; raises ValueError for too short a time."""
    if type(seconds) is not int or seconds < LEAST_SECONDS:
        raise ValueError(f"seconds: expected a whole number of at least {LEAST_SECONDS}, found {shown(seconds)}")
    tests, untested = schedule(roster, present)
    return {
        "seconds": seconds,
        "tests": [_part(test, name) for test in tests if name in test.sparks],
        "untested": [each.to_json() for each in untested if _role(each.direction, name)],
    }


def _part(test: BandwidthTest, name: str) -> dict[str, Any]:
    source, target = test.direction.source, test.direction.target
    own, peer = (source, target) if source.spark == name else (target, source)
    return {
        "number": test.number,
        "role": _role(test.direction, name),
        "interface": own.interface,
        "own": str(own.address.ip),
        "peer": str(peer.address.ip),
        "port": test.port,
        "margin": MARGIN_SECONDS,
        "not_there_yet": NOT_THERE_YET,
        "direction": test.direction.to_json(),
    }


def _role(direction: Direction, name: str) -> str | None:
    return {direction.source.spark: "source", direction.target.spark: "target"}.get(name)


def measured(answer: Mapping[str, Any]) -> tuple[Measured, ...]:
    """What a host's answer says of each of its directions, in the order of the rails."""
    found = [_measured(each, answer["seconds"]) for each in answer["answers"]]
    for each in map(Untested.model_validate, answer["untested"]):
        found.append(Measured(direction=each.direction, role="source", gbps=Unobserved(reason=each.reason)))
    return tuple(sorted(found, key=lambda each: each.direction.rail))


def _measured(each: Mapping[str, Any], seconds: int) -> Measured:
    gbps: float | Unobserved
    if "error" in each:
        gbps = Unobserved(reason=each["error"])
    else:
        try:
            gbps = parse_bandwidth(each["out"], seconds)
        except ValueError as error:
            late = "its peer did not come, or did not go on; " if each["status"] == TIMED_OUT else ""
            gbps = Unobserved(reason=f"{late}{error}")
    return Measured(
        direction=Direction.model_validate(each["direction"]),
        role=each["role"],
        device=each.get("device"),
        gid_index=each.get("index"),
        gbps=gbps,
    )
