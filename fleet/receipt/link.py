"""How a receipt, and the folder's head, name another receipt and how far it had come."""

from enum import StrEnum

from pydantic import Field

from fleet.receipt.name import ReceiptName
from fleet.record import Digest, Record


class State(StrEnum):
    """How a receipt's file stands."""

    CLOSED = "closed"
    RUNNING = "running"
    """Its process lives and holds the file."""
    UNCLOSED = "unclosed"
    """Its process is gone and has said no outcome: it was killed, or its machine went down."""


class Link(Record):
    """One receipt as it stood when it was linked to."""

    name: ReceiptName
    state: State
    lines: int = Field(ge=0)
    """Whole ones."""
    seal: Digest | None
    """Of the last whole line; None where there was none."""
    torn: Digest | None = None
    """Of the bytes after the last whole line of an unclosed one: its process was killed while it wrote them."""


class Head(Record):
    """What the next receipt of a folder will be chained to, so that the newest cannot vanish unseen."""

    links: tuple[Link, ...]
    """The newest receipt, then those that were open when it was opened."""
