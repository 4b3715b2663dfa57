"""The places where the chain of a folder grows: opening a receipt, and closing it. One process at a time."""

import os
from collections.abc import Iterable
from contextlib import suppress

from facts.controller import controller
from fleet.instant import utc_now
from fleet.receipt.chain import NO_HEAD, ODD_HEAD, holds, may_lag
from fleet.receipt.events import Opened, Opening
from fleet.receipt.line import Line, sealed
from fleet.receipt.link import Head, Link, State
from fleet.receipt.name import number_of, receipt_name
from lab.command import Failed
from lab.receipts.folder import Folder
from lab.receipts.linefile import LineFile
from lab.receipts.run import versions


def chain_opened(place: Folder, opening: Opening) -> tuple[LineFile, Line, str | None]:
    """A new receipt with its first line, chained to those before it, and a note about the folder where there is one.

    Raises Failed and OSError; then no receipt was opened.
    """
    with place.locked():
        before, note = _before(place)
        at = utc_now()
        number = max((number_of(each) or 0 for each in (*place.names(), *(link.name for link in before))), default=0)
        name = receipt_name(number + 1, at, opening.target)
        about = {field: getattr(opening, field) for field in Opening.model_fields}
        opened = Opened(**about, receipt=name, versions=versions(), controller=controller(), before=before)
        first = sealed(0, at, opened, before[0].seal if before else None)
        file = LineFile(place, name)
        try:
            file.append(first.text.encode(), is_last_words=False)
            os.fsync(place.descriptor)
            place.put_head(_head(Link(name=name, state=State.RUNNING, lines=1, seal=first.seal), before))
        except BaseException:
            file.close()
            with suppress(OSError):
                os.unlink(name, dir_fd=place.descriptor)
            raise
        return file, first, note


def chain_closed(place: Folder, closed: Link) -> None:
    """Lets the head know how a receipt ended, so that its end cannot be cut off unseen. Raises Failed and OSError."""
    with place.locked():
        head = place.head()
        links = tuple(closed if each.name == closed.name else each for each in head.links) if head else ()
        if head and links != head.links:
            place.put_head(Head(links=links))


def _head(newest: Link, before: Iterable[Link]) -> Head:
    return Head(links=(newest, *(each for each in before if each.state is State.RUNNING)))


def _before(place: Folder) -> tuple[tuple[Link, ...], str | None]:
    """What a new receipt is chained to, and what is to be noted of the folder."""
    names = place.names()
    try:
        head, note = place.head(), NO_HEAD
    except Failed:
        head, note = None, ODD_HEAD
    links = tuple(_as_it_stands(place, each) for each in (head.links if head else ()))
    if names and (not links or (number_of(names[-1]) or 0) > (number_of(links[0].name) or 0)):
        links = (place.receipt(names[-1]).link, *links)
    if head is not None or not names or (note == NO_HEAD and may_lag([place.receipt(each) for each in names])):
        return links, None
    return links, note


def _as_it_stands(place: Folder, link: Link) -> Link:
    """A link to what was running, as it is now; what is gone or cut stays as it was linked, and so is found."""
    if link.state is not State.RUNNING:
        return link
    try:
        found = place.receipt(link.name)
    except (Failed, OSError):
        return link
    return found.link if holds(link, found) else link
