"""Whether the receipts of a folder are all there, each as it was when the next was chained to it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from fleet.receipt.events import Note
from fleet.receipt.fault import Fault, Kind
from fleet.receipt.link import Head, Link, State
from fleet.receipt.name import number_of
from fleet.receipt.receipt import Receipt

HEAD = "head.json"
"""The file that has the `Head` of a folder."""

NO_HEAD = f"there was no {HEAD} in the folder of receipts"
"""What a receipt notes that was opened without one."""
ODD_HEAD = f"the {HEAD} of the folder of receipts was none"


def chain_faults(receipts: Sequence[Receipt], head: Head | None, since: int = 0) -> tuple[Fault, ...]:
    """What is wrong between the receipts; `Receipt.faults` has what is wrong within each.

    + receipts: all of a folder, in the order of their numbers
    + head: the folder's head; None where there is none
    + since: the number of the first receipt that should be there; those before it were moved elsewhere
    """
    by_name = {each.name: each for each in receipts}
    found: list[Fault] = []
    for one, other in pairwise(receipts):
        found += _between(one, other, by_name)
    for each in receipts:
        found += _unlinked(each, since) if each is receipts[0] else ()
        for link in each.opened.before if each.opened else ():
            found += _held(link, by_name.get(link.name), each.name, since)
        found += _opened_without(each)
    found += _head_faults(receipts, head, by_name, since)
    found += _none_since(receipts, since)
    return tuple(dict.fromkeys(found))


def holds(link: Link, found: Receipt) -> bool:
    """Is a receipt still as a link to it says it was?"""
    return not [*_held(link, found, "", 0)]


def seal_fault(receipts: Sequence[Receipt], seal: str) -> Fault | None:
    """What is wrong when a seal that was noted elsewhere, at the end of a run, is in none of the receipts."""
    if any(line.seal == seal for each in receipts for line in each.lines):
        return None
    return Fault(kind=Kind.NOT_FOUND, receipt="receipts", expected=f"a line with seal {seal}", found="none")


def _opened_without(receipt: Receipt) -> Iterator[Fault]:
    """What was newest when it was opened may be gone too: its own notes keep saying so."""
    notes = [line.data.text for line in receipt.lines if isinstance(line.data, Note)]
    if NO_HEAD in notes or ODD_HEAD in notes:
        expected = f"{HEAD} in the folder when {receipt.name} was opened"
        yield Fault(kind=Kind.REMOVED, receipt=HEAD, expected=expected, found="none: receipts may have gone with it")


def _between(one: Receipt, other: Receipt, by_name: Mapping[str, Receipt]) -> Iterator[Fault]:
    """A receipt is chained to the one before it. Where that is gone, the broken link says so."""
    if other.opened is None:
        return
    before = other.opened.before[0].name if other.opened.before else None
    if before != one.name and (before is None or before in by_name):
        expected = f"nothing between {before} and {other.name}" if before else f"{other.name} to be the first"
        yield Fault(kind=Kind.INSERTED, receipt=one.name, expected=expected, found="it")


def _unlinked(first: Receipt, since: int) -> Iterator[Fault]:
    """The first of all has the number 1."""
    number = number_of(first.name)
    if first.opened and not first.opened.before and number and number > max(1, since):
        yield Fault(kind=Kind.REMOVED, receipt=first.name, expected="number 1 for the first receipt", found=str(number))


def _none_since(receipts: Sequence[Receipt], since: int) -> Iterator[Fault]:
    """Whoever says which the first one is says that there is one; a folder of no run at all has none."""
    if since > 1 and not any((number_of(each.name) or 0) >= since for each in receipts):
        newest = receipts[-1].name if receipts else "none"
        yield Fault(kind=Kind.NOT_FOUND, receipt="receipts", expected=f"number {since} or a later one", found=newest)


def _held(link: Link, found: Receipt | None, holder: str, since: int) -> Iterator[Fault]:
    """Is the receipt still as the link says it was?"""
    chained = f", to which {holder} is chained"
    if found is None:
        if (number_of(link.name) or 0) >= since:
            yield Fault(kind=Kind.REMOVED, receipt=link.name, expected=f"this receipt{chained}", found="none")
        return
    seals = {line.seq + 1: line.seal for line in found.lines}
    if found.count < link.lines:
        expected = f"{link.lines} lines{chained}"
        yield Fault(kind=Kind.CUT, receipt=link.name, expected=expected, found=str(found.count))
    elif link.lines and seals.get(link.lines) != link.seal:
        seal = seals.get(link.lines, "another line")
        yield Fault(kind=Kind.EDITED, receipt=link.name, line=link.lines,
                    expected=f"the line with seal {link.seal}{chained}", found=seal)  # fmt: skip
    elif link.state is not State.RUNNING:
        yield from _same_end(link, found, chained)


def _same_end(link: Link, found: Receipt, chained: str) -> Iterator[Fault]:
    """What is closed, or whose process is gone, gets no further line."""
    if found.count > link.lines:
        lines = f"{found.count - link.lines} more"
        yield Fault(kind=Kind.INSERTED, receipt=link.name, line=link.lines + 1,
                    expected=f"{link.lines} lines{chained}", found=lines)  # fmt: skip
    elif found.torn != link.torn:
        yield Fault(kind=Kind.EDITED, receipt=link.name, line=link.lines + 1,
                    expected=f"torn bytes with digest {link.torn}{chained}", found=str(found.torn))  # fmt: skip


def _head_faults(
    receipts: Sequence[Receipt], head: Head | None, by_name: Mapping[str, Receipt], since: int
) -> Iterator[Fault]:
    """The head names the newest receipt; a run that was killed as it opened one may have left it one behind."""
    if head is None:
        if receipts and not may_lag(receipts):
            yield Fault(kind=Kind.REMOVED, receipt=HEAD, expected="the link to the newest receipt", found="none")
        return
    for link in head.links:
        yield from _held(link, by_name.get(link.name), HEAD, since)
    named = head.links[0].name if head.links else ""
    if receipts and named in {*by_name, ""} and receipts[-1].name != named and not _head_may_lag(receipts, named):
        newest = receipts[-1].name
        yield Fault(kind=Kind.INSERTED, receipt=newest, expected=f"{named}, which {HEAD} names, to be last", found="it")


def may_lag(receipts: Sequence[Receipt]) -> bool:
    """May there be no head yet? The run that opened the first receipt was killed before it made one."""
    return _head_may_lag(receipts, "")


def _head_may_lag(receipts: Sequence[Receipt], named: str) -> bool:
    newest = receipts[-1]
    before = receipts[-2].name if len(receipts) > 1 else ""
    return before == named and newest.state is not State.CLOSED and newest.count <= 1
