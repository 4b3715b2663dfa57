"""The command `sparks map`."""

import shutil
from pathlib import Path

import click

from fleet.map import Map, map_of
from fleet.map_state import State
from lab.collect import collect, roster_of
from lab.command import PENDING, REFUSED, inventory_option
from lab.map.layout import picture
from lab.map.sentences import summary
from lab.map.svg import svg
from lab.map.text import WIDTH, text
from lab.output import STANDARD, put, refuse_output
from lab.plans.files import text_of

_STATUS = {State.PENDING: PENDING, State.NOT_OBSERVED: REFUSED, State.REFUSED: REFUSED}
"""Exit statuses other than 0."""
_FORMS = ("text", "svg", "json")


@click.command("map")
@inventory_option
@click.option("--format", "form", type=click.Choice(_FORMS),
              help="By default what FILE's name ends in, else text.")  # fmt: skip
@click.option("--observed/--desired-only", "observed", default=True, show_default=True,
              help="Ask the hosts, or contact none.")  # fmt: skip
@click.option("-o", "--output", default=STANDARD, show_default=True, metavar="FILE",
              help="Where to write it; - is standard output.")  # fmt: skip
def map_command(inventory: str, form: str | None, observed: bool, output: str) -> None:
    """Draw how the Sparks of a site are cabled, with which addresses, and how each thing stands.

    Hosts are only looked at. Exit status: 0 as desired, 2 changes pending, 3 refused or not observed, 1 failed;
    with --desired-only it is 0 or 1.
    """
    refuse_output(output)
    roster = roster_of(inventory)
    drawn = map_of(Path(inventory).stem, roster, collect(inventory) if observed else None)
    put(output, _rendered(drawn, form or _form_of(output), output))
    if output != STANDARD:
        click.echo(f"{output}: {summary(drawn)}", err=True)
    raise SystemExit(_STATUS.get(drawn.state, 0))


def _form_of(output: str) -> str:
    ending = Path(output).suffix.removeprefix(".").lower()
    return ending if ending in _FORMS else "text"


def _rendered(drawn: Map, form: str, output: str) -> str:
    if form == "json":
        return text_of(drawn)
    if form == "svg":
        return svg(picture(drawn))
    width = shutil.get_terminal_size((WIDTH, 24)).columns if output == STANDARD else WIDTH
    return text(drawn, max(width, WIDTH))
