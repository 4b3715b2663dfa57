"""What a line of a receipt can say about the run as a whole; `acts` has what it says about single things.

Text in an event is our own words, a refusal, or a name: never the output of a command, which may hold a secret.
"""

from typing import ClassVar, Literal

from fleet.controller import Controller
from fleet.instant import Instant
from fleet.outcome import Outcome
from fleet.receipt.link import Link
from fleet.receipt.name import ReceiptName
from fleet.record import Digest, Record
from fleet.refusal import Refusal
from fleet.target import Scope


class Event(Record):
    """The base of every event: its name stands in the line, its fields are the line's data; `str()` is a sentence."""

    event: ClassVar[str]


class Opening(Record):
    """What a run is about, as it is known before anything is done."""

    kind: Literal["converge", "apply", "drain", "trial"]
    target: str
    hosts: tuple[str, ...]
    scope: Scope | None = None
    """Which deploy was asked about; none for a drain and a trial."""
    plan: Digest | None = None
    """The plan that is going to be carried out; None while there is none yet."""
    desired: Digest | None = None
    prestate: Digest | None = None
    command: tuple[str, ...] = ()
    """The command line, redacted (`fleet.receipt.redaction`)."""


class Opened(Opening, Event):
    """The first line: what it is about, who runs it with what, and the receipts before it in the folder."""

    event = "opened"
    format: Literal[1] = 1
    receipt: ReceiptName
    """The file's own name, so that another name shows."""
    versions: dict[str, str]
    """By program: `sparks`, `pyinfra`, `python`."""
    controller: Controller
    before: tuple[Link, ...]
    """The newest receipt before it, then those that were open when that one was opened; empty for the first."""

    def __str__(self) -> str:
        plan = f", plan {self.plan}" if self.plan else ""
        return f"{self.kind} {self.target} on {', '.join(self.hosts)} by {self.controller}{plan}"


class Approved(Event):
    """Somebody has looked at the plan and wants it."""

    event = "approved"
    plan: Digest
    approved_by: str
    approved_at: Instant
    expires_at: Instant | None = None
    how: str
    """`answered yes`, `--plan`, `plan.json`."""

    def __str__(self) -> str:
        return f"plan {self.plan} by {self.approved_by} ({self.how})"


class HostConnected(Event):
    """A host answered."""

    event = "host_connected"
    host: str
    boot_id: str | None = None

    def __str__(self) -> str:
        return f"{self.host} answered" + (f", boot {self.boot_id}" if self.boot_id else "")


class Note(Event):
    """What is worth knowing and decides nothing."""

    event = "note"
    host: str | None = None
    text: str

    def __str__(self) -> str:
        return f"{self.host}: {self.text}" if self.host else self.text


class Drift(Event):
    """What was found is not what the approved plan rests on."""

    event = "drift"
    refusals: tuple[Refusal, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.refusals))


class Interrupted(Event):
    """A signal came."""

    event = "interrupted"
    signal: str
    at_once: bool
    """False: between two commands, and no command was left running."""

    def __str__(self) -> str:
        where = "at once; what a host was doing goes on to its end" if self.at_once else "between two commands"
        return f"{self.signal}: stopped {where}"


class Closed(Event):
    """The last line."""

    event = "closed"
    outcome: Outcome
    reason: str | None = None
    refusals: tuple[Refusal, ...] = ()

    def __str__(self) -> str:
        return "\n".join([f"{self.outcome}" + (f": {self.reason}" if self.reason else ""), *map(str, self.refusals)])
