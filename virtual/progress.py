"""Progress: one line per stage, with the seconds since the command began."""

import time
from collections.abc import Callable

import click

Say = Callable[[str], None]
"""Tells the user what happens now."""


def to_terminal() -> Say:
    """A `Say` that writes to standard error, so that standard output stays a command's own."""
    start = time.monotonic()

    def say(line: str) -> None:
        click.echo(f"[{time.monotonic() - start:6.1f} s] {line}", err=True)

    return say


def silent(line: str) -> None:
    """A `Say` that says nothing."""
