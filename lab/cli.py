"""`sparks`: the operator's command. Each group of commands is imported when it is used."""

from importlib import import_module

import click

_GROUPS = {"virtual": "virtual.cli:virtual"}
"""Command groups by name: `module:attribute`."""


class _Groups(click.Group):
    """Imports a group of commands only when it is asked for, so that start-up stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_GROUPS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _GROUPS:
            return None
        module, _, attribute = _GROUPS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


@click.group(cls=_Groups)
def main() -> None:
    """Run a lab of DGX Sparks as desired state."""
