"""The commands `sparks virtual …`."""

import os
import signal
import sys

import click

from virtual.cabling import LAYOUTS
from virtual.lab import Lab
from virtual.machine import MOVED_ADDRESS
from virtual.progress import to_terminal
from virtual.shell import USER

IS_DOWN = 3
"""Exit status of `status` when the lab is not up, as systemctl's for a unit that is not active."""


@click.group()
def virtual() -> None:
    """Virtual Sparks: QEMU machines that stand in for real ones."""
    # Ended from outside is interrupted too: what was started is stopped on the way out.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


@virtual.command()
@click.option("--layout", type=click.Choice(list(LAYOUTS)), default="pair", show_default=True,
              help="How the machines are cabled.")  # fmt: skip
@click.option("--count", type=int, help="How many machines; by default as many as the layout joins.")
def up(layout: str, count: int | None) -> None:
    """Bring up the lab: built and booted once, then woken from a snapshot in seconds."""
    Lab(say=to_terminal()).up(layout, count)


@virtual.command()
def down() -> None:
    """Stop the lab; no process and no socket stays."""
    Lab(say=to_terminal()).down()


@virtual.command()
def status() -> None:
    """Say how each machine is; exit status 0 when the lab is up, 3 when it is not."""
    seen = Lab().status()
    for machine in seen:
        word = "answers" if machine.answers else "does not answer" if machine.running else "has stopped"
        click.echo(f"{machine.name}  127.0.0.1:{machine.port}  {word}")
    if not seen:
        click.echo("the lab is down")
    if not seen or not all(machine.answers for machine in seen):
        sys.exit(IS_DOWN)


@virtual.command(context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--user", default=USER, show_default=True, help="spark, asksudo (its sudo asks) or nosudo.")
@click.option("--moved", is_flag=True, help=f"By way of {MOVED_ADDRESS}, for a machine that was given it.")
def ssh(name: str, command: tuple[str, ...], user: str, moved: bool) -> None:
    """Log in to a machine, or run a command there."""
    argv = Lab().shell(name, moved).argv(user, *(["-t"] if sys.stdin.isatty() else []))
    os.execv(argv[0], [*argv, *command])


@virtual.command("power-cycle")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def power_cycle(names: tuple[str, ...]) -> None:
    """Cut the power of machines and wait until they have booted."""
    Lab(say=to_terminal()).power_cycle(*names)


@virtual.command()
@click.argument("name")
@click.argument("port")
@click.argument("what", type=click.Choice(["pull", "plug"]))
def cable(name: str, port: str, what: str) -> None:
    """Pull a cable, or plug it in: the one in PORT, a cage (f0, f1) or one interface of it."""
    Lab().set_cable(name, port, what == "plug")


@virtual.command()
@click.argument("name")
@click.argument("port")
@click.argument("what", type=click.Choice(["remove", "insert"]))
def card(name: str, port: str, what: str) -> None:
    """Remove network cards from PCI, or insert them: those of PORT, a cage (f0, f1) or one interface of it."""
    Lab(say=to_terminal()).set_card(name, port, what == "insert")


@virtual.command()
def reset() -> None:
    """Bring every machine back to its state after `up`, in seconds."""
    Lab(say=to_terminal()).reset()
