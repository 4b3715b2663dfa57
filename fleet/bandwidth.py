"""RDMA bandwidth of each direction of each rail: what was measured, and whether it is enough."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Literal

from fleet.bandwidth_schedule import Direction, schedule
from fleet.record import VOLATILE, Record, Unobserved
from fleet.roster import Roster

CAPPED_GBPS = (8.0, 25.0)
"""Where a ConnectX-7 ends up that came back while its Spark ran: Ethernet at 200 Gb/s, PCIe at Gen5 x4, and yet
13 Gb/s over RDMA and TCP (NVIDIA/dgx-spark-playbooks PR#108 of 2026-08: 12.86 to 13.23 on four Sparks, 8 to 25 taken
for this state). A restart of both Sparks with the cable in cured it (public reports of 2026-09: 98 per twin)."""


class Judgement(StrEnum):
    """What a figure means."""

    OK = "ok"
    BELOW_FLOOR = "below floor"
    CAPPED = "capped"
    UNMEASURED = "not measured"


class Measured(Record):
    """One direction, as one of its two Sparks saw it."""

    direction: Direction
    role: Literal["source", "target"] = "source"
    """Which of the two it was: the source writes and measures, the target is written to and has the same figure."""
    device: str | None = None
    """Its RDMA device; None where none was found."""
    gid_index: int | None = None
    """Its GID index, chosen from its table by its address; never assumed."""
    gbps: Annotated[float | Unobserved, VOLATILE]
    """Gb/s."""


class Verdict(Measured):
    """A measurement and what it means."""

    judgement: Judgement

    def __str__(self) -> str:
        """As a refusal says it: what was expected and what was found."""
        floor = self.direction.floor_gbps
        expected = "a figure" if floor is None else f"at least {floor:g} Gb/s"
        if isinstance(self.gbps, Unobserved):
            return f"{self.direction}: expected {expected}, found none: {self.gbps.reason}"
        if self.judgement is Judgement.OK:
            return f"{self.direction}: {shown(self.gbps)} Gb/s"
        capped = f", the state of a port that came back while its Spark ran ({CAPPED_GBPS[0]:g} to {CAPPED_GBPS[1]:g})"
        return f"{self.direction}: expected {expected}, found {shown(self.gbps)} Gb/s" + (
            capped if self.judgement is Judgement.CAPPED else ""
        )


def shown(gbps: float) -> str:
    """A figure for people: two decimals, or three digits of a small one."""
    return f"{gbps:.2f}" if gbps >= 1 else f"{gbps:.3g}"


def judge(gbps: float | Unobserved, floor_gbps: float | None) -> Judgement:
    """At or over the floor is enough; the capped state is named where it is not, and where no floor is declared."""
    if isinstance(gbps, Unobserved):
        return Judgement.UNMEASURED
    if floor_gbps is not None and gbps >= floor_gbps:
        return Judgement.OK
    if CAPPED_GBPS[0] <= gbps <= CAPPED_GBPS[1]:
        return Judgement.CAPPED
    return Judgement.OK if floor_gbps is None else Judgement.BELOW_FLOOR


def verdicts(
    roster: Roster, answers: Mapping[str, tuple[Measured, ...] | Unobserved], present: Iterable[str]
) -> tuple[Verdict, ...]:
    """Every direction of the roster that has an enrolled Spark, in order; one that nobody measured says why.

    + answers: what each Spark that took part has measured as a source, or why it did not answer
    + present: the Sparks that took part
    """
    tests, untested = schedule(roster, frozenset(present))
    found = [_measured(test.direction, answers) for test in tests]
    found += [
        Measured(direction=each.direction, gbps=Unobserved(reason=_silent(each.direction, answers) or each.reason))
        for each in untested
        if any(roster.sparks[end.spark].enrolled for end in (each.direction.source, each.direction.target))
    ]
    return tuple(
        Verdict(**dict(each), judgement=judge(each.gbps, each.direction.floor_gbps))
        for each in sorted(found, key=lambda each: each.direction.rail)
    )


def _silent(direction: Direction, answers: Mapping[str, tuple[Measured, ...] | Unobserved]) -> str:
    """Why a Spark could not take part, where it was asked."""
    asked = {end.spark: answers.get(end.spark) for end in (direction.source, direction.target)}
    return "; ".join(f"{name}: {each.reason}" for name, each in asked.items() if isinstance(each, Unobserved))


def _measured(direction: Direction, answers: Mapping[str, tuple[Measured, ...] | Unobserved]) -> Measured:
    spark = direction.source.spark
    answer = answers.get(spark, Unobserved(reason=f"{spark} did not answer"))
    if isinstance(answer, Unobserved):
        return Measured(direction=direction, gbps=Unobserved(reason=f"{spark}: {answer.reason}"))
    own = next((each for each in answer if each.direction == direction and each.role == "source"), None)
    if own is None:
        return Measured(direction=direction, gbps=Unobserved(reason=f"{spark} has not measured it"))
    if isinstance(own.gbps, Unobserved):
        reasons = [f"{spark}: {own.gbps.reason}", *_of_target(direction, answers)]
        return own.model_copy(update={"gbps": Unobserved(reason="; ".join(reasons))})
    return own


def _of_target(direction: Direction, answers: Mapping[str, tuple[Measured, ...] | Unobserved]) -> list[str]:
    """What the target says of a test that failed: often it knows more than the source."""
    spark = direction.target.spark
    answer = answers.get(spark, ())
    if isinstance(answer, Unobserved):
        return [f"{spark}: {answer.reason}"]
    seen = [each.gbps for each in answer if each.direction == direction and each.role == "target"]
    return [f"{spark}: {each.reason}" for each in seen if isinstance(each, Unobserved)]
