"""What `sparks receipts … --json` prints: one document each."""

from datetime import datetime

from fleet.instant import Instant
from fleet.outcome import Outcome
from fleet.receipt.fault import Fault
from fleet.receipt.link import State
from fleet.receipt.name import number_of
from fleet.receipt.receipt import Receipt
from fleet.record import Digest, Record
from lab.receipts.ledger import Ledger


class Entry(Record):
    """One receipt of a list."""

    name: str
    number: int
    state: State
    outcome: Outcome | None
    """None where it is not closed."""
    kind: str | None
    target: str | None
    hosts: tuple[str, ...]
    plan: Digest | None
    opened_at: Instant | None
    closed_at: Instant | None
    faults: int
    """How many things are wrong with it."""


class Listing(Record):
    """`sparks receipts list --json`."""

    folder: str
    receipts: tuple[Entry, ...]


class Verdict(Record):
    """`sparks receipts verify --json`."""

    folder: str
    receipts: int
    faults: tuple[Fault, ...]
    unclosed: tuple[str, ...]
    """Without an outcome, and nobody is at work on them; not wrong, but to be read."""
    running: tuple[str, ...]
    seal: Digest | None
    """Of the last line of the newest."""


def listing(folder: str, ledger: Ledger) -> Listing:
    """Every receipt of a folder."""
    return Listing(folder=folder, receipts=tuple(_entry(each, ledger) for each in ledger.receipts))


def verdict(folder: str, ledger: Ledger) -> Verdict:
    """Whether all of a folder is as it was written."""
    return Verdict(
        folder=folder,
        receipts=len(ledger.receipts),
        faults=ledger.faults,
        unclosed=tuple(each.name for each in ledger.receipts if each.state is State.UNCLOSED),
        running=tuple(each.name for each in ledger.receipts if each.state is State.RUNNING),
        seal=ledger.receipts[-1].seal if ledger.receipts else None,
    )


def _entry(receipt: Receipt, ledger: Ledger) -> Entry:
    opened = receipt.opened
    return Entry(
        name=receipt.name,
        number=number_of(receipt.name) or 0,
        state=receipt.state,
        outcome=receipt.outcome,
        kind=opened.kind if opened else None,
        target=opened.target if opened else None,
        hosts=opened.hosts if opened else (),
        plan=opened.plan if opened else None,
        opened_at=receipt.lines[0].at if opened else None,
        closed_at=_end(receipt),
        faults=len(ledger.about(receipt)),
    )


def _end(receipt: Receipt) -> datetime | None:
    return receipt.lines[-1].at if receipt.closed else None
