"""Checks of what the controller keeps: receipts that were not closed, or are not as they were written."""

from collections.abc import Iterator
from typing import NamedTuple

from fleet.doctor.check import Check, Found
from fleet.doctor.finding import Level
from fleet.receipt.fault import Fault
from fleet.receipt.link import State
from fleet.receipt.receipt import Receipt


class Kept(NamedTuple):
    """The receipts of a site, the oldest first, and what is wrong with them."""

    receipts: tuple[Receipt, ...]
    faults: tuple[Fault, ...]


def _unclosed(asked: Kept) -> Iterator[Found]:
    """What was cut off is told until a later run about the same target has come to a good end."""
    mended: set[str] = set()
    for receipt in reversed(asked.receipts):
        about = receipt.opened.target if receipt.opened else receipt.name
        if receipt.outcome is not None and receipt.outcome.is_good:
            mended.add(about)
        if receipt.state is State.UNCLOSED and about not in mended:
            begun = "; ".join(str(line.data) for line in receipt.begun) or "nothing was begun"
            again = f"; then sparks converge {about}" if receipt.opened else ""
            yield Found(
                f"receipt {receipt.name}", "an outcome", f"none: {begun}", f"sparks receipts show {receipt.name}{again}"
            )


def _faulty(asked: Kept) -> Iterator[Found]:
    for fault in asked.faults:
        place = fault.receipt if fault.line is None else f"{fault.receipt}:{fault.line}"
        yield Found(f"receipt {place}", fault.expected, f"{fault.found} [{fault.kind}]", "sparks receipts verify")


RECEIPTS: tuple[Check[Kept], ...] = (
    Check[Kept](
        id="receipts.unclosed",
        level=Level.WARN,
        looks_for="A receipt without an outcome whose process is gone, and no later run about it that ended well.",
        why="The run was killed, or its machine went down: what it had begun may be done, in part or whole.",
        fix="Read the receipt, then converge its target: a run finishes what was cut off.",
        find=_unclosed,
    ),
    Check[Kept](
        id="receipts.faulty",
        level=Level.ERROR,
        looks_for="Receipts that are not as they were written: edited, cut, removed or put elsewhere.",
        why="What they say is then no proof of anything.",
        fix="`sparks receipts verify` names each place; a copy that was kept elsewhere tells what was there.",
        find=_faulty,
    ),
)
