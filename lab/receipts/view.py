"""What a person is shown of a receipt, in text and on a page: the same words in the same order."""

from datetime import datetime
from typing import NamedTuple

from fleet.receipt.acts import Health, OperationFailed, Readback
from fleet.receipt.events import Approved, Closed, Drift, Event, Interrupted
from fleet.receipt.fault import Fault
from fleet.receipt.line import Line
from fleet.receipt.link import State
from fleet.receipt.receipt import Receipt
from fleet.record import short
from lab.map.words import printable

WRONG = "Not as it was written"
BEGUN = "Begun, and not said how it ended: it may have been done, in part or whole"
_OPEN = {
    State.RUNNING: "running: its process is still at work",
    State.UNCLOSED: "unclosed: its process is gone and said no outcome",
}


class Row(NamedTuple):
    """One line."""

    seq: int
    at: str
    since: str
    """Seconds since the receipt was opened, by the controller's clock."""
    event: str
    sentence: str
    tone: str
    """`good`, `bad` or nothing."""


class View(NamedTuple):
    """All that is shown."""

    title: str
    outcome: str
    tone: str
    facts: tuple[tuple[str, str], ...]
    """By name."""
    rows: tuple[Row, ...]
    begun: tuple[str, ...]
    """What was begun and did not say how it ended."""
    faults: tuple[str, ...]


def view(receipt: Receipt, faults: tuple[Fault, ...]) -> View:
    """A receipt as it is shown, with what is wrong with it."""
    good = receipt.outcome is not None and receipt.outcome.is_good and not faults
    return View(
        title=receipt.name,
        outcome=outcome_of(receipt),
        tone="good" if good else "bad",
        facts=tuple((name, _clean(value)) for name, value in _facts(receipt) if value),
        rows=tuple(_row(line, receipt.lines[0].at) for line in receipt.lines),
        begun=tuple(_clean(str(line.data)) for line in receipt.begun),
        faults=tuple(_clean(str(each)) for each in faults),
    )


def outcome_of(receipt: Receipt) -> str:
    """The outcome, or why there is none."""
    return str(receipt.outcome) if receipt.outcome else _OPEN[receipt.state]


def moment(at: datetime) -> str:
    """As `2026-11-30 01:33:12 UTC`."""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def _facts(receipt: Receipt) -> list[tuple[str, str]]:
    opened = receipt.opened
    if opened is None:
        return [("seal", receipt.seal or "")]
    last = receipt.lines[-1]
    took = f", {(last.at - receipt.lines[0].at).total_seconds():.1f} s later"
    scope = f", {opened.scope}" if opened.scope else ""
    approved = [line.data for line in receipt.lines if isinstance(line.data, Approved)]
    return [
        ("target", f"{opened.target} ({opened.kind}{scope}) on {', '.join(opened.hosts)}"),
        ("opened", f"{moment(receipt.lines[0].at)} by {opened.controller}"),
        ("closed" if receipt.closed else "last line", moment(last.at) + took),
        ("plan", opened.plan or ""),
        ("approved by", ", ".join(f"{each.approved_by} ({each.how})" for each in approved)),
        ("desired", opened.desired or ""),
        ("prestate", opened.prestate or ""),
        ("command", " ".join(opened.command)),
        ("versions", ", ".join(f"{name} {version}" for name, version in sorted(opened.versions.items()))),
        ("receipt before", opened.before[0].name if opened.before else "none, it is the first"),
        ("seal", receipt.seal or ""),
    ]


def _row(line: Line, start: datetime) -> Row:
    return Row(
        seq=line.seq,
        at=f"{line.at:%H:%M:%S.%f}"[:-3],
        since=f"{(line.at - start).total_seconds():+.3f} s",
        event=line.event.replace("_", " "),
        sentence=short(_clean(str(line.data))),
        tone=_tone(line.data),
    )


def _tone(said: Event) -> str:
    match said:
        case OperationFailed() | Drift() | Interrupted():
            return "bad"
        case Health(is_good=good) | Readback(as_desired=good):
            return "good" if good else "bad"
        case Closed(outcome=outcome):
            return "good" if outcome.is_good else "bad"
        case _:
            return ""


def _clean(text: str) -> str:
    """What a terminal obeys is shown as `�`; a sentence may have several lines."""
    return "\n".join(map(printable, text.split("\n")))
