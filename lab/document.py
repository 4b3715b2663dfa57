"""The one document that stands on standard output with --json, however a command ends."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Self

import click

from fleet.outcome import Outcome
from fleet.record import Record
from fleet.refusal import Refusal
from lab.command import FAILED, INTERRUPTED, REFUSED, Refused, said
from lab.output import STANDARD, put

Document = Record | Sequence[Any] | Mapping[str, Any]
"""What is printed as one: of ours, or plain values."""
_OPTION = "--json"
_PRINTED = "lab.document.printed"
_OUTCOMES = {FAILED: Outcome.FAILED, REFUSED: Outcome.REFUSED, INTERRUPTED: Outcome.INTERRUPTED}


class Ended(Record):
    """What any command prints with --json where it ended before it had a document of its own."""

    outcome: Outcome
    reason: str | None = None
    """What was said on standard error; None where the refusals say it."""
    refusals: tuple[Refusal, ...] = ()

    @classmethod
    def by(cls, error: BaseException) -> Self | None:
        """What there is to say of what ended a command; None for what is no end of a run, as --help."""
        match error:
            case Refused(refusals=refusals, message=message):
                return cls(outcome=Outcome.REFUSED, reason=None if refusals else message, refusals=refusals)
            case click.ClickException():
                return cls(outcome=Outcome.FAILED, reason=error.format_message())
            case KeyboardInterrupt() | click.Abort():
                return cls(outcome=Outcome.INTERRUPTED)
            case SystemExit(code=code) | click.exceptions.Exit(exit_code=code):
                ended = _OUTCOMES.get(code, Outcome.FAILED) if isinstance(code, int) else Outcome.FAILED
                return cls(outcome=ended) if code else None
        return cls(outcome=Outcome.FAILED, reason=said(error))


def put_document(document: Document, path: str = STANDARD, indent: int | None = 2) -> None:
    """Prints a command's document, or makes it a file's whole content. Raises Failed."""
    values = document.to_json() if isinstance(document, Record) else document
    put(path, json.dumps(values, indent=indent) + "\n")
    if (context := click.get_current_context(silent=True)) is not None:
        context.meta[_PRINTED] = True


def is_asked(arguments: Sequence[str]) -> bool:
    """Is a document wanted, by a command line that may be wrong otherwise?"""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return _OPTION in options


@contextmanager
def document_at_the_end(asked: bool, context: click.Context | None = None) -> Iterator[None]:
    """Whatever ends a command before it has printed its document: then one says how it ended.

    + asked: whether a document is wanted
    + context: of the command, whose own document counts; None where there is no command yet
    """
    try:
        yield
    except BaseException as error:
        is_printed = context is not None and _PRINTED in context.meta
        ended = Ended.by(error) if asked and not is_printed else None
        if ended is not None:
            # What has ended it may be that standard output takes no more.
            with suppress(OSError):
                put_document(ended)
        raise
