"""`sparks bandwidth`: RDMA bandwidth of every rail in both directions, against the roster's floor."""

from collections.abc import Iterable, Mapping

import click

from facts.bundle import Wanted
from facts.fabric import RailBandwidth
from facts.roce import RdmaUse
from fleet.bandwidth import Judgement, Measured, Verdict, shown, verdicts
from fleet.observation import Observation
from fleet.record import Unobserved
from lab.collect import collect, roster_of
from lab.command import Failed, Refused, inventory_option
from lab.document import put_document


@click.command()
@click.option("--seconds", type=click.IntRange(3, 600), default=4, show_default=True, help="How long each test runs.")
@click.option("--json", "as_json", is_flag=True, help="One JSON list instead of a table.")
@inventory_option
def bandwidth(seconds: int, as_json: bool, inventory: str) -> None:
    """Measure RDMA bandwidth of every rail between enrolled Sparks, each direction for itself.

    Loads the rails, one of a Spark at a time; refused while anybody works with them. Exit status 0 when every
    rail is at or over its floor in both directions, 1 when one is not or could not be measured, 3 when refused.
    """
    roster = roster_of(inventory)
    users = collect(inventory, looks=lambda _: {"rdma_use": Wanted(RdmaUse)})
    _refuse_in_use(users)
    silent = {name: seen.rdma_use for name, seen in users.items() if isinstance(seen.rdma_use, Unobserved)}
    present = tuple(name for name in users if name not in silent)
    look = {"rail_bandwidth": Wanted(RailBandwidth, (("seconds", seconds), ("sparks", present)))}
    answers: dict[str, tuple[Measured, ...] | Unobserved] = dict(silent)
    if present:
        answers |= {name: seen.rail_bandwidth for name, seen in collect(inventory, present, lambda _: look).items()}
    found = verdicts(roster, answers, present)
    if not found:
        raise Failed(f"{inventory}: expected rails between enrolled Sparks, found none")
    if as_json:
        put_document([each.to_json() for each in found])
    else:
        click.echo(table(found))
    wrong = [each for each in found if each.judgement is not Judgement.OK]
    if wrong:
        raise Failed("\n".join(map(str, wrong)))


def _refuse_in_use(users: Mapping[str, Observation]) -> None:
    lines = [
        f"{name} {use.device}: expected nobody to use it while it is measured, found {', '.join(map(str, use.users))}"
        for name, seen in users.items()
        if not isinstance(seen.rdma_use, Unobserved)
        for use in seen.rdma_use
        if use.users
    ]
    if lines:
        raise Refused("\n".join(lines))


def table(found: Iterable[Verdict]) -> str:
    """Columns for people: rail, both ends, Gb/s, floor, and what it means."""
    rows = [("RAIL", "FROM", "TO", "GB/S", "FLOOR", "")]
    for each in found:
        figure = "-" if isinstance(each.gbps, Unobserved) else shown(each.gbps)
        floor = "-" if each.direction.floor_gbps is None else f"{each.direction.floor_gbps:g}"
        rail, source, target = str(each.direction.rail), str(each.direction.source), str(each.direction.target)
        rows.append((rail, source, target, figure, floor, each.judgement))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[5]]).rstrip()
        for row in rows
    )
