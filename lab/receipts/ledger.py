"""A folder of receipts, read as a whole while nobody opens or closes one."""

import fcntl
from pathlib import Path
from typing import NamedTuple

from fleet.receipt.chain import chain_faults
from fleet.receipt.fault import Fault, Kind
from fleet.receipt.link import Head
from fleet.receipt.name import number_of
from fleet.receipt.receipt import Receipt
from lab.command import Failed
from lab.private_folder import Unreadable
from lab.receipts.folder import Folder, folder


class Ledger(NamedTuple):
    """The receipts of a folder in their order, and all that is wrong with them."""

    receipts: tuple[Receipt, ...]
    faults: tuple[Fault, ...]

    def about(self, receipt: Receipt) -> tuple[Fault, ...]:
        """What is wrong with one of them."""
        return tuple(each for each in self.faults if each.receipt == receipt.name)

    def find(self, wanted: str | None) -> Receipt:
        """The receipt with this number, name or beginning of a name; the newest where none is wanted."""
        if not self.receipts:
            raise Failed("receipts: expected at least one, found none")
        if wanted is None:
            return self.receipts[-1]
        found = [each for each in self.receipts if each.name.startswith(wanted)]
        if wanted.isdecimal():
            found = [each for each in self.receipts if number_of(each.name) == int(wanted)]
        if len(found) != 1:
            raise Failed(f"{wanted}: expected the number or the name of one receipt, found {len(found) or 'none'}")
        return found[0]


def read_folder(path: Path, since: int = 0) -> Ledger:
    """All of a folder; raises Failed where there is none.

    + since: the number of the first receipt that should be there
    """
    with folder(path) as place, place.locked(fcntl.LOCK_SH):
        receipts: list[Receipt] = []
        faults: list[Fault] = []
        for name in place.names():
            try:
                receipts.append(place.receipt(name))
            except Unreadable as failure:
                faults.append(_fault(failure))
        faults += [fault for each in receipts for fault in each.faults]
        faults += _chain(place, receipts, since)
    return Ledger(tuple(receipts), tuple(dict.fromkeys(faults)))


def _chain(place: Folder, receipts: list[Receipt], since: int) -> tuple[Fault, ...]:
    try:
        return chain_faults(receipts, place.head(), since)
    except Unreadable as failure:
        newest = tuple(each.link for each in receipts[-1:])
        return (_fault(failure), *chain_faults(receipts, Head(links=newest), since))


def _fault(failure: Unreadable) -> Fault:
    return Fault(kind=Kind.NOT_A_RECEIPT, receipt=failure.name, expected=failure.expected, found=failure.found)
