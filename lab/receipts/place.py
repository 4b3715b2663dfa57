"""Where a site's receipts are: `receipts/` beside its `group_data/`, or where --receipts or SPARKS_RECEIPTS says."""

import os
from pathlib import Path

import click
from pyinfra.api.exceptions import PyinfraError

from lab.command import Failed
from lab.group_data import group_data_of

VARIABLE = "SPARKS_RECEIPTS"


def _for_the_site_too(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The site reads there what was drained, when a command loads its inventory."""
    before = os.environ.get(VARIABLE)
    if value and value != before:
        os.environ[VARIABLE] = value
        ctx.call_on_close(lambda: os.environ.pop(VARIABLE) if before is None else os.environ.update({VARIABLE: before}))
    return value


receipts_option = click.option(
    "--receipts",
    envvar=VARIABLE,
    callback=_for_the_site_too,
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
        return folder_beside(inventory)
    except PyinfraError as error:
        raise Failed(f"{error}; name a folder with --receipts or {VARIABLE}") from error


def folder_beside(inventory: str) -> Path:
    """Where the receipts of a site are when nobody says; raises PyinfraError for the inventory of no site."""
    told = os.environ.get(VARIABLE)
    return Path(told) if told else group_data_of(Path(inventory)).parent.parent / "receipts"
