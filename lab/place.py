"""Where a site keeps what it writes: a folder beside its `group_data/`, or where an option or a variable says."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click
from pyinfra.api.exceptions import PyinfraError

from lab.command import Failed
from lab.group_data import group_data_of


class Place(NamedTuple):
    """One kind of things that a site keeps."""

    what: str
    """Its folder's name, and that of the option: `receipts`."""
    variable: str

    @property
    def option(self) -> Callable[[Any], Any]:
        """Gives a command the folder that was named, as `folder` takes it beside the inventory."""
        return click.option(
            f"--{self.what}",
            envvar=self.variable,
            callback=self._for_the_site_too,
            metavar="DIR",
            show_envvar=True,
            help=f"The folder of {self.what}; by default `{self.what}` in the site's folder.",
        )

    def folder(self, named: str | None, inventory: str) -> Path:
        """The folder; raises Failed where none was named and the inventory is that of no site."""
        if named:
            return Path(named)
        try:
            return self.beside(inventory)
        except PyinfraError as error:
            raise Failed(f"{error}; name a folder with --{self.what} or {self.variable}") from error

    def beside(self, inventory: str) -> Path:
        """Where it is when nobody says; raises PyinfraError for the inventory of no site."""
        told = os.environ.get(self.variable)
        return Path(told) if told else group_data_of(Path(inventory)).parent.parent / self.what

    def _for_the_site_too(self, ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        """The site reads there too, when a command loads its inventory."""
        variable, before = self.variable, os.environ.get(self.variable)
        if value and value != before:
            os.environ[variable] = value
            back = {variable: before} if before is not None else {}
            ctx.call_on_close(lambda: os.environ.update(back) if back else os.environ.pop(variable))
        return value


RECEIPTS = Place("receipts", "SPARKS_RECEIPTS")
EVIDENCE = Place("evidence", "SPARKS_EVIDENCE")
