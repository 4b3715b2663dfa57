"""Every option of every command is known to whoever keeps a command line: as one with a value, or as one without."""

from collections.abc import Iterator
from importlib import import_module

import click

from fleet.receipt.redaction import FLAGS, WITH_VALUE
from lab.cli import _COMMANDS


def options(command: click.Command) -> Iterator[click.Option]:
    yield from (each for each in command.params if isinstance(each, click.Option))
    if isinstance(command, click.Group):
        for each in command.commands.values():
            yield from options(each)


def test_each_is_listed_by_whether_it_has_a_value_and_nothing_else_is() -> None:
    found: dict[bool, set[str]] = {True: set(), False: set()}
    for place in _COMMANDS.values():
        module, _, name = place.partition(":")
        for each in options(getattr(import_module(module), name)):
            found[each.is_flag or each.count] |= {*each.opts, *each.secondary_opts}
    assert found[False] ^ WITH_VALUE == set(), "name it in fleet/receipt/redaction.py, or take it out there"
    assert found[True] ^ FLAGS == set(), "the same"
    assert FLAGS.isdisjoint(WITH_VALUE)
