"""The check of what `sparks bandwidth` has measured: doctor itself loads no rail."""

from collections.abc import Iterator

from fleet.bandwidth import Judgement, Verdict
from fleet.doctor.check import Check, Found
from fleet.doctor.finding import Level
from fleet.record import Unobserved

Measured = tuple[Verdict, ...]


def _slow(asked: Measured) -> Iterator[Found]:
    for each in asked:
        if each.judgement is Judgement.OK:
            continue
        _, _, said = str(each).partition(": expected ")
        expected, _, found = said.partition(", found ")
        is_capped = each.judgement is Judgement.CAPPED
        fix = "boot both Sparks with the cable in, then sparks bandwidth" if is_capped else "sparks pings"
        level = Level.INFO if isinstance(each.gbps, Unobserved) else Level.ERROR if is_capped else None
        yield Found(f"{each.direction}", expected, found, fix, each.direction.source.spark, level)


BANDWIDTH: tuple[Check[Measured], ...] = (
    Check[Measured](
        id="fabric.bandwidth",
        level=Level.WARN,
        looks_for="A rail that was measured below its floor, or (an ERROR) in the state near 13 Gb/s; an INFO where it "
        "could not be measured. Only with `--bandwidth FILE`.",
        why="A ConnectX-7 that came back while its Spark ran has a link at 200 Gb/s, PCIe at Gen5 x4, passes every "
        "ping and carries 13 Gb/s (dgx-spark-playbooks, PR#108).",
        fix="Boot both Sparks with the cable in, and measure again.",
        find=_slow,
    ),
)
