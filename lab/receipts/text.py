"""Receipts as text for a terminal."""

from collections.abc import Iterable

from fleet.receipt.link import State
from fleet.receipt.name import number_of
from fleet.receipt.receipt import Receipt
from fleet.record import short
from lab.map.words import printable
from lab.receipts.ledger import Ledger
from lab.receipts.view import BEGUN, WRONG, View, moment
from lab.table import table


def shown(view: View) -> str:
    """One receipt: what is wrong with it, what it is about, and its lines."""
    facts = [("receipt", view.title), ("outcome", view.outcome), *view.facts]
    parts = table(facts)
    parts += _listed(WRONG, view.faults)
    parts += _listed(BEGUN, view.begun)
    rows = [(row.since.rjust(11), row.event, row.sentence) for row in view.rows]
    return "\n".join([*parts, "", *table(rows)]) + "\n"


def listed(ledger: Ledger) -> str:
    """A line for each receipt."""
    rows = [("NUMBER", "OPENED", "KIND", "TARGET", "OUTCOME", "PLAN"), *map(_row, ledger.receipts)]
    return "\n".join(table(rows)) + "\n"


def _row(receipt: Receipt) -> tuple[str, ...]:
    opened = receipt.opened
    outcome = str(receipt.outcome or receipt.state)
    if opened is None:
        return (f"{number_of(receipt.name):06}", "not known", "", "", outcome, "")
    at, plan = moment(receipt.lines[0].at), short(opened.plan or "")
    return (f"{number_of(receipt.name):06}", at, opened.kind, printable(opened.target), outcome, plan)


def verified(ledger: Ledger) -> str:
    """What is wrong, or that nothing is; and which receipts have no outcome, which is not wrong but should be read."""
    notes = [
        f"{each.name}: {each.state} after {each.count} lines" + (", the last one torn" if each.torn else "")
        for each in ledger.receipts
        if each.state is not State.CLOSED
    ]
    count = f"{len(ledger.receipts)} receipt{'' if len(ledger.receipts) == 1 else 's'}"
    if ledger.faults:
        return "\n".join([*(printable(str(each)) for each in ledger.faults), *notes]) + "\n"
    end = f", last seal {ledger.receipts[-1].seal}" if ledger.receipts else ""
    return "\n".join([*notes, f"{count} as written{end}"]) + "\n"


def _listed(title: str, sentences: Iterable[str]) -> list[str]:
    lines = [f"  {line}" for sentence in sentences for line in sentence.split("\n")]
    return ["", f"{title}:", *lines] if lines else []
