"""`sparks`: the operator's command. Each command is imported when it is used."""

import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import FrameType
from typing import Any

import click

from lab.command import FAILED, INTERRUPTED, Failed
from lab.document import document_at_the_end, is_asked

_COMMANDS = {
    "adopt": "lab.adopt:adopt",
    "apply": "lab.apply:apply",
    "bandwidth": "lab.bandwidth:bandwidth",
    "converge": "lab.converge:converge",
    "doctor": "lab.doctor.command:doctor",
    "drain": "lab.drain:drain",
    "env": "lab.env:env",
    "evidence": "lab.evidence.command:evidence",
    "fit": "lab.fit:fit",
    "kernel": "lab.kernel.command:kernel",
    "map": "lab.map.command:map_command",
    "observe": "lab.plans.command:observe",
    "pings": "lab.pings:pings",
    "plan": "lab.plans.command:plan_command",
    "readback": "lab.converge:readback",
    "receipts": "lab.receipts.command:receipts",
    "show": "lab.plans.command:show",
    "status": "lab.status.command:status",
    "unlock": "lab.unlock:unlock",
    "virtual": "virtual.cli:virtual",
}
"""Commands and groups of commands by name: `module:attribute`."""
_ASKED = "lab.cli.asked"
"""Whether the command line asks for a document."""
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""How standard output says that it takes no more. A reader that has gone (EPIPE) is click's: status 1, no word."""
_ASK_HOSTS = frozenset(
    {
        "adopt",
        "apply",
        "bandwidth",
        "converge",
        "doctor",
        "drain",
        "env",
        "evidence",
        "fit",
        "kernel",
        "map",
        "observe",
        "pings",
        "plan",
        "readback",
        "show",
        "status",
        "unlock",
    }
)
"""Those that talk to hosts through pyinfra."""


class _Commands(click.Group):
    """Imports a command only when it is asked for, so that start-up stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        if cmd_name in _ASK_HOSTS:
            _patch_for_gevent()
        module, _, attribute = _COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A command that asks hosts hears a signal whatever greenlet runs: paramiko's threads forget an exception."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in _ASK_HOSTS and threading.current_thread() is threading.main_thread():
            from lab.interrupt import interruptible

            ctx.with_resource(interruptible())
        return name, command, rest

    def make_context(self, info_name: str | None, args: list[str], *others: Any, **extra: Any) -> click.Context:
        asked = is_asked(args)
        with _wrong_usage_failed(), document_at_the_end(asked):
            context = super().make_context(info_name, args, *others, **extra)
        context.meta[_ASKED] = asked
        if os.environ.get("TERM") == "dumb" or os.environ.get("NO_COLOR"):
            context.color = False
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """An interrupted command ends with its own status: click says 1, as for a failure."""
        try:
            with _wrong_usage_failed(), document_at_the_end(ctx.meta[_ASKED], ctx):
                _refuse_closed_output()
                _end_by_signals()
                done = super().invoke(ctx)
                sys.stdout.flush()
                return done
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            _leave_the_rest_unsaid()
            raise Failed(f"standard output: expected room for all of it, found {error.strerror}") from error
        except (KeyboardInterrupt, click.Abort, SystemExit) as error:
            if isinstance(error, SystemExit) and error.code != INTERRUPTED:
                raise
            click.echo("interrupted", err=True)
            raise SystemExit(INTERRUPTED) from None


def _refuse_closed_output() -> None:
    """Where standard output or error is closed (`>&-`), Python has none, and pyinfra cannot be imported."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            raise Failed(f"{name}: expected it open, found it closed")


def _end_by_signals() -> None:
    """To be told to end is an interrupt, with its status; what has more to do about it says so (`lab.interrupt`)."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _ended)


def _ended(number: int, frame: FrameType | None) -> None:
    raise SystemExit(INTERRUPTED)


def _leave_the_rest_unsaid() -> None:
    """What Python still holds for standard output would be tried again at its exit, and complained about there."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _wrong_usage_failed() -> Iterator[None]:
    """Ends wrong usage as a failure: click's own status for it means something else here."""
    try:
        yield
    except click.UsageError as error:
        error.exit_code = FAILED  # type: ignore[misc]
        raise


def _patch_for_gevent() -> None:
    """pyinfra asks hosts side by side only where this came before its own import, as in its own command."""
    from gevent import get_hub, monkey

    monkey.patch_all()
    # An interrupt is told by `_Commands.invoke`, once; the hub would print it as an error before.
    hub = get_hub()
    hub.NOT_ERROR = (*hub.NOT_ERROR, KeyboardInterrupt)


@click.group(cls=_Commands)
def main() -> None:
    """Run a lab of DGX Sparks as desired state."""
