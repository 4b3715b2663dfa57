"""`sparks receipts`: what runs did, and whether what they wrote down is as they wrote it."""

import click

from fleet.receipt.chain import seal_fault
from lab.command import FAILED, inventory_option
from lab.document import put_document
from lab.output import STANDARD, put, refuse_output
from lab.place import RECEIPTS
from lab.receipts.documents import listing, verdict
from lab.receipts.ledger import Ledger, read_folder
from lab.receipts.page import page
from lab.receipts.text import listed, shown, verified
from lab.receipts.view import view

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document instead of text.")


@click.group()
def receipts() -> None:
    """Read the receipts of a site. No host is contacted, and nothing is changed."""


@receipts.command("list")
@json_option
@RECEIPTS.option
@inventory_option
def list_command(as_json: bool, receipts: str | None, inventory: str) -> None:
    """One line for each receipt, the newest last: outcome, target, time, plan."""
    where = RECEIPTS.folder(receipts, inventory)
    ledger = read_folder(where) if where.exists() else Ledger((), ())
    if as_json:
        put_document(listing(str(where), ledger))
    elif ledger.receipts:
        put(STANDARD, listed(ledger))
    else:
        click.echo(f"{where}: no receipt", err=True)
    if ledger.faults:
        click.echo(f"{where}: not all as it was written; sparks receipts verify says what", err=True)


@receipts.command()
@click.argument("receipt", required=False)
@click.option("--html", "as_html", is_flag=True, help="One page that needs no other file.")
@click.option("-o", "--output", default=STANDARD, show_default=True, metavar="FILE",
              help="Where to write it; - is standard output.")  # fmt: skip
@json_option
@RECEIPTS.option
@inventory_option
def show(receipt: str | None, as_html: bool, output: str, as_json: bool, receipts: str | None, inventory: str) -> None:
    """What one run did: RECEIPT is its number or its name, by default the newest."""
    if as_html and as_json:
        raise click.UsageError("--html: expected it without --json, found both")
    refuse_output(output)
    ledger = read_folder(RECEIPTS.folder(receipts, inventory))
    found = ledger.find(receipt)
    faults = ledger.about(found)
    if as_json:
        put_document(found.model_copy(update={"faults": faults}), output)
    else:
        put(output, (page if as_html else shown)(view(found, faults)))


@receipts.command()
@click.option("--since", type=click.IntRange(1), default=1, metavar="NUMBER",
              help="The first receipt that should be there; those before it were moved elsewhere.")  # fmt: skip
@click.option("--expect", multiple=True, metavar="SEAL", help="A seal that was noted elsewhere; may be given again.")
@json_option
@RECEIPTS.option
@inventory_option
def verify(since: int, expect: tuple[str, ...], as_json: bool, receipts: str | None, inventory: str) -> None:
    """Whether every receipt is there, as it was written; exit status 1 where not, with what is wrong and where.

    A receipt without an outcome is not wrong: its process was killed, and that is told.
    """
    where = RECEIPTS.folder(receipts, inventory)
    ledger = read_folder(where, since)
    missed = tuple(fault for each in expect if (fault := seal_fault(ledger.receipts, each)) is not None)
    ledger = ledger._replace(faults=(*ledger.faults, *missed))
    if as_json:
        put_document(verdict(str(where), ledger))
    else:
        put(STANDARD, verified(ledger))
    if ledger.faults:
        raise SystemExit(FAILED)
