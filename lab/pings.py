"""`sparks pings`: does every Spark reach its peers over every rail, at the rail's whole MTU."""

import click

from facts.bundle import Wanted
from facts.fabric import RailPings
from fleet.observation import Observation
from fleet.pings import RailPing
from fleet.record import Unobserved
from lab.collect import collect
from lab.command import inventory_option
from lab.document import put_document

LOOKS = {"rail_pings": Wanted(RailPings)}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON list instead of lines.")
@inventory_option
def pings(as_json: bool, inventory: str) -> None:
    """Ping every peer on every rail from every enrolled Spark; exit status 1 when one does not answer at full size."""
    seen = collect(inventory, looks=lambda _: LOOKS)
    found = [each for observation in seen.values() for each in _pings(observation)]
    if as_json:
        put_document([{**each.to_json(), "is_good": _is_good(each)} for each in found])
    else:
        click.echo("\n".join(map(_line, found)) or "no rail to ping")
    if not all(map(_is_good, found)):
        raise SystemExit(1)


class Silent(Unobserved):
    """A Spark that could not be asked."""

    source: str


def _pings(seen: Observation) -> list[RailPing | Silent]:
    if isinstance(seen.rail_pings, Unobserved):
        return [Silent(source=seen.host, reason=seen.rail_pings.reason)]
    return list(seen.rail_pings)


def _is_good(each: RailPing | Silent) -> bool:
    return isinstance(each, RailPing) and each.is_good


def _line(each: RailPing | Silent) -> str:
    return f"{each.source}: expected its pings, found {each.reason}" if isinstance(each, Silent) else str(each)
