"""Writing a receipt while a run goes on.

    with opened(RECEIPTS.folder(receipts, inventory), opening) as journal:
        journal.say(OperationBegun(host="srv5", operation="rail documents"))
        …
        outcome = journal.close(Outcome.CONVERGED)
    raise SystemExit(outcome.exit_status)

A line is on the disk before `say` returns. Left by an exception, the receipt is closed as refused (`Refused`),
interrupted (SIGINT, SIGTERM, SIGHUP) or failed (all else), and the exception goes on. A process that is killed closes
nothing: then the receipt has no outcome, and its lines say how far it had come.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from pyinfra.api.exceptions import PyinfraError

from fleet.instant import utc_now
from fleet.outcome import Outcome
from fleet.receipt import events
from fleet.receipt.acts import OperationBegun, StepBegun
from fleet.receipt.events import Closed, Event, Note, Opened, Opening
from fleet.receipt.line import Line, sealed
from fleet.receipt.link import Link, State
from fleet.refusal import Refusal
from lab.command import Failed, Refused, is_interrupt
from lab.interrupt import Interrupted, Stop, interruptible, tell
from lab.receipts.chaining import chain_closed, chain_opened
from lab.receipts.folder import Folder, folder
from lab.receipts.linefile import LineFile


class Journal:
    """A receipt that is being written; `opened` makes one."""

    def __init__(self, place: Folder, file: LineFile, first: Line, stop: Stop) -> None:
        self._place, self._file, self._last, self._stop = place, file, first, stop
        self.outcome: Outcome | None = None
        """Once it is closed."""

    @property
    def name(self) -> str:
        """The name of its file in the folder."""
        return self._file.name

    @property
    def seal(self) -> str:
        """Of its last line: noted elsewhere, `sparks receipts verify --expect` finds it, or that it is gone."""
        return self._last.seal

    def say(self, event: Event) -> Line:
        """Add a line; it is on the disk when this returns. Raises Failed where it cannot be.

        Before something is begun: once a signal came, or the disk was full, that is not begun.
        """
        if isinstance(event, Opened | Closed):
            raise ValueError(f"{self.name}: expected opened and closed to be said by nobody else, found {event.event}")
        return self._add(event)

    def _add(self, event: Event) -> Line:
        if self.outcome is not None:
            raise ValueError(f"{self.name}: expected an open receipt, found it closed as {self.outcome}")
        begins = isinstance(event, OperationBegun | StepBegun)
        if begins:
            self._stop.begin()
        with self._stop.shielded():
            try:
                if begins and self._file.is_full:
                    raise Failed(f"{self._path}: expected room for a line, found the disk full; nothing more is begun")
                line = sealed(self._last.seq + 1, utc_now(), event, self._last.seal)
                self._file.append(line.text.encode(), is_last_words=not begins)
            except OSError as error:
                raise _unwritten(self._path, error) from error
            self._last = line
            return line

    def close(self, outcome: Outcome, reason: str | None = None, refusals: tuple[Refusal, ...] = ()) -> Outcome:
        """Say how it ended, and give that back. After it nothing is said."""
        with self._stop.shielded():
            line = self._add(Closed(outcome=outcome, reason=reason, refusals=refusals))
            self.outcome = outcome
            link = Link(name=self.name, state=State.CLOSED, lines=line.seq + 1, seal=line.seal)
            try:
                chain_closed(self._place, link)
            except (Failed, OSError) as error:
                tell(f"{self._path}: closed; the head of its folder could not be told: {_reason(error)}")
        return outcome

    def end_by(self, error: BaseException) -> None:
        """Close it for an exception that leaves it; what stands in the way of that is only told."""
        if self.outcome is not None:
            return
        with self._stop.shielded():
            try:
                if (said := _interruption(error)) is not None:
                    self.say(said)
                    self.close(Outcome.INTERRUPTED)
                else:
                    refused = isinstance(error, Refused)
                    self.close(Outcome.REFUSED if refused else Outcome.FAILED, _reason(error))
            except Failed as failure:
                tell(f"{failure.message}; this receipt stays unclosed")
        if isinstance(error, SystemExit) and not error.code:
            raise RuntimeError(f"{self.name}: expected an outcome before status 0, found none") from error

    def let_go(self) -> None:
        """Nobody is at work on it any more."""
        self._file.close()

    @property
    def _path(self) -> Path:
        return self._place.path / self.name


@contextmanager
def opened(path: Path, opening: Opening) -> Iterator[Journal]:
    """A receipt in a folder, from its first line to its last; raises Failed where none can be opened.

    The signals are taken meanwhile (`lab.interrupt`). Left without `close` it is closed as failed, which is an error.
    """
    with interruptible() as stop, folder(path, to_write=True) as place:
        journal: Journal | None = None
        try:
            with stop.shielded():
                journal = _begun(place, opening, stop)
            yield journal
            if journal.outcome is None:
                journal.close(Outcome.FAILED, "it ended without saying how")
                raise RuntimeError(f"{journal.name}: expected an outcome before its end, found none")
        except BaseException as error:
            if journal is not None:
                journal.end_by(error)
            raise
        finally:
            if journal is not None:
                journal.let_go()


def _begun(place: Folder, opening: Opening, stop: Stop) -> Journal:
    try:
        file, first, note = chain_opened(place, opening)
    except OSError as error:
        raise Failed(f"{_unwritten(place.path, error).message}; nothing was done") from error
    journal = Journal(place, file, first, stop)
    if note is not None:
        journal.say(Note(text=note))
        click.echo(f"{place.path}: {note}: what was the newest receipt may be gone; sparks receipts verify", err=True)
    return journal


def _interruption(error: BaseException) -> events.Interrupted | None:
    if isinstance(error, Interrupted):
        return events.Interrupted(signal=error.signal, at_once=error.at_once)
    if is_interrupt(error):
        return events.Interrupted(signal="SIGINT", at_once=True)
    return None


def _reason(error: BaseException) -> str:
    """Our own words; of anything else only what it is: its text may quote what a host said."""
    if isinstance(error, click.ClickException):
        return error.message
    if isinstance(error, OSError) and error.errno is not None:
        return f"{type(error).__name__}: {os.strerror(error.errno)}"
    return str(error) if isinstance(error, PyinfraError) else type(error).__name__


def _unwritten(path: Path, error: OSError) -> Failed:
    return Failed(f"{path}: expected a receipt that can be written, found {error.strerror}")
