"""Where a site's receipts are: `receipts/` beside its `group_data/`, or where --receipts or SPARKS_RECEIPTS says."""

from pathlib import Path

import click
from pyinfra.api.exceptions import PyinfraError

from lab.command import Failed
from lab.site import group_data_of

receipts_option = click.option(
    "--receipts",
    envvar="SPARKS_RECEIPTS",
    metavar="DIR",
    show_envvar=True,
    help="The folder of receipts; by default `receipts` in the site's folder.",
)
"""Gives a command `receipts: str | None`, as `receipts_folder` takes it beside the inventory."""


def receipts_folder(receipts: str | None, inventory: str) -> Path:
    """The folder; raises Failed where none was named and the inventory is that of no site."""
    if receipts:
        return Path(receipts)
    try:
        return group_data_of(Path(inventory)).parent.parent / "receipts"
    except PyinfraError as error:
        raise Failed(f"{error}; name a folder with --receipts or SPARKS_RECEIPTS") from error
