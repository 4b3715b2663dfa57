"""What the commands of `sparks` share: where the site is, and how a command ends other than well.

Exit statuses: 0 done, or all as desired; 1 failed; 2 changes pending; 3 refused or not observed; 130 interrupted.
A wrong option is 1 and not click's own 2, which says here that changes are pending.
"""

from typing import IO, Any, Self

import click
from typing_extensions import override

from fleet.record import DIGEST
from fleet.refusal import Refusal

FAILED = 1
PENDING = 2
REFUSED = 3
INTERRUPTED = 130
"""128 and SIGINT's number, as shells report it."""


class Failed(click.ClickException):
    """It could not be done; the message is one line per complaint."""

    exit_code = FAILED

    @override
    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(self.message, err=True)


class Refused(Failed):
    """It must not be done, or not all of it; the message says why and what would help."""

    exit_code = REFUSED

    def __init__(self, message: str, refusals: tuple[Refusal, ...] = ()) -> None:
        super().__init__(message)
        self.refusals = refusals
        """Every reason, for whoever makes a document of it."""

    @classmethod
    def of(cls, *refusals: Refusal) -> Self:
        """The refusals as people read them."""
        return cls("\n".join(map(str, refusals)), refusals)


def is_interrupt(error: BaseException) -> bool:
    """Did a signal end it? Whoever catches what code of others raises lets that through."""
    return isinstance(error, KeyboardInterrupt) or (isinstance(error, SystemExit) and error.code == INTERRUPTED)


def said(error: BaseException) -> str:
    """What an error of somebody else's code says, on one line: its kind, and its words."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def exact_digest(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """click's callback for an option that takes a digest: anything else is wrong usage, before any host is asked."""
    if value is not None and DIGEST.fullmatch(value) is None:
        raise click.BadParameter(f"expected sha256: and 64 hex digits, found {value!r}")
    return value


named_plan_option = click.option(
    "--plan", "named", callback=exact_digest, metavar="SHA256", help="Carry out this very plan, and no other."
)
"""Gives a command `named: str | None`, the digest that a script says yes to."""

inventory_option = click.option(
    "-i",
    "--inventory",
    envvar="SPARKS_INVENTORY",
    default="inventories/sparks.py",
    show_default=True,
    show_envvar=True,
    metavar="FILE",
    help="The site's inventory.",
)
"""Gives a command `inventory: str`, as `lab.collect.collect` and `lab.collect.roster_of` take it."""

LOOK_SECONDS = 150
"""More than any look has for itself (`Look.timeout_seconds`), so that one that hangs leaves the others their answer."""

timeout_option = click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(1, 3600),
    default=LOOK_SECONDS,
    show_default=True,
    help="Seconds that each host has to answer.",
)
"""Gives a command that looks `seconds: float`, as `lab.collect.collect` takes it."""
