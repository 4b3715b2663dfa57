"""In which order RDMA bandwidth is measured: one list for all Sparks, through which each walks its own part.

Each test has exactly two Sparks, and every Spark takes its tests in the same global order. So of all tests that are
not done the first has both its Sparks free, whatever the others wait for: nobody waits in a circle.
"""

from collections.abc import Collection, Iterator

from fleet.rail import Rail, RailEnd, Segment
from fleet.record import Record
from fleet.roster import Roster

FIRST_PORT = 18600
"""TCP ports from here on, one for each test: below the ephemeral ports of Linux (32768), above perftest's own 18515."""


class Direction(Record):
    """One direction of one rail: from the Spark that writes to the one that is written to."""

    rail: int
    source: RailEnd
    target: RailEnd
    floor_gbps: float | None = None

    def __str__(self) -> str:
        return f"rail {self.rail} ({self.source} -> {self.target})"


class BandwidthTest(Record):
    """One test that can be run: both its Sparks are there."""

    number: int
    """Its place in the order of all tests of the run, from 0."""
    direction: Direction

    @property
    def port(self) -> int:
        """The TCP port over which the two meet, on the target's rail address."""
        return FIRST_PORT + self.number

    @property
    def sparks(self) -> frozenset[str]:
        """The two that take part."""
        return frozenset((self.direction.source.spark, self.direction.target.spark))


class Untested(Record):
    """A direction that cannot be measured in this run, and why."""

    direction: Direction
    reason: str


def directions(roster: Roster) -> tuple[Direction, ...]:
    """Every direction to measure, in the global order: by rail, then by pair, then there before back."""
    found = [
        Direction(rail=segment.rail, source=source, target=target, floor_gbps=fabric.floor_gbps)
        for fabric in roster.fabrics.values()
        for segment in fabric.segments
        for one, other in _pairs(segment)
        for source, target in ((one, other), (other, one))
    ]
    return tuple(sorted(found, key=lambda direction: direction.rail))


def schedule(roster: Roster, present: Collection[str]) -> tuple[tuple[BandwidthTest, ...], tuple[Untested, ...]]:
    """The tests among the Sparks that take part in this run, and the directions that cannot be measured."""
    tests: list[BandwidthTest] = []
    untested: list[Untested] = []
    for direction in directions(roster):
        reason = _absent(direction, roster, present)
        if reason is None:
            tests.append(BandwidthTest(number=len(tests), direction=direction))
        else:
            untested.append(Untested(direction=direction, reason=reason))
    return tuple(tests), tuple(untested)


def _absent(direction: Direction, roster: Roster, present: Collection[str]) -> str | None:
    for spark in (direction.source.spark, direction.target.spark):
        if not roster.sparks[spark].enrolled:
            return f"{spark} is only named in the roster"
        if spark not in present:
            return f"{spark} takes no part in this run"
    return None


def _pairs(segment: Segment) -> Iterator[tuple[RailEnd, RailEnd]]:
    """The two ends of a rail; on a switch plane each end and the next, and the last with the first."""
    ends = segment.ends
    if isinstance(segment, Rail) or len(ends) == 2:
        yield ends[0], ends[1]
    elif len(ends) > 2:
        yield from zip(ends, (*ends[1:], ends[0]), strict=True)
