"""The command `sparks status`."""

import shutil
import time
from collections.abc import Iterable

import click

from facts.needs import ledger_looks
from fleet.instant import utc_now
from fleet.roster import Roster
from lab.collect import collect, roster_of
from lab.command import REFUSED, inventory_option, timeout_option
from lab.converge import target_in
from lab.document import put_document
from lab.output import STANDARD, put
from lab.receipts.command import json_option
from lab.status.document import StatusDocument
from lab.status.table import LEAST, tables

EVERY_SECONDS = 5
_CLEAR = "\x1b[H\x1b[2J"
"""The cursor home, and nothing on the screen (ECMA-48)."""


@click.command()
@click.argument("targets", nargs=-1, metavar="[TARGET]…")
@click.option("--watch", "every", is_flag=False, flag_value=EVERY_SECONDS, type=click.IntRange(1, 3600),
              metavar="[SECONDS]", help="Look again, until interrupted; after TARGETs, or as --watch=2.")  # fmt: skip
@timeout_option
@json_option
@inventory_option
def status(targets: tuple[str, ...], every: int | None, seconds: float, as_json: bool, inventory: str) -> None:
    """Show who holds the memory of each TARGET, a Spark, a deployment or an assembly; of every enrolled Spark without.

    Each host is looked at once, and nothing is changed. Exit status 0 when it is known of every Spark how much of its
    memory is used and by whom, 3 when one did not answer or could not be observed, 1 when it failed.
    """
    hosts = _hosts(inventory, targets)
    while True:
        document = _round(inventory, hosts, seconds)
        _tell(document, as_json, every is not None)
        if every is None:
            break
        time.sleep(every)
    if not document.is_seen:
        raise SystemExit(REFUSED)


def _hosts(inventory: str, targets: Iterable[str]) -> tuple[str, ...]:
    """The Sparks of these targets, each once; every enrolled one where none is given."""
    roster = roster_of(inventory)
    names = [name for each in targets for name in _sparks_of(roster, each)]
    named = [host for each in names for host in target_in(roster, each).hosts]
    return tuple(dict.fromkeys(named)) or roster.enrolled


def _sparks_of(roster: Roster, name: str) -> tuple[str, ...]:
    """The Sparks of an assembly; any other name as it is."""
    assembly = roster.assemblies.get(name)
    return (name,) if assembly is None else roster.clusters[assembly.cluster].sparks


def _round(inventory: str, hosts: tuple[str, ...], seconds: float) -> StatusDocument:
    roster = roster_of(inventory)
    seen = collect(inventory, hosts, ledger_looks, seconds)
    return StatusDocument.of([(roster.desired_for(host), seen[host]) for host in hosts], utc_now())


def _tell(document: StatusDocument, as_json: bool, again: bool) -> None:
    if as_json:
        put_document(document, indent=None if again else 2)
        return
    text = tables(document, shutil.get_terminal_size((LEAST, 24)).columns)
    put(STANDARD, f"{_CLEAR if again else ''}{document.observed_at:%F %T} UTC\n{text}" if again else text)
