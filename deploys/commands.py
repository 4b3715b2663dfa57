"""What the operations of a deploy would do on a host: every command they have, collected and not run."""

from collections.abc import Iterator
from typing import Any

from pyinfra.api import FunctionCommand, Host
from pyinfra.context import ctx_host

from fleet.agreement import Declared
from fleet.decide import OPERATIONS
from fleet.planned import PlannedCommand


def declared(host: Host, since: int) -> tuple[Declared, ...]:
    """What each operation that a plan is about says, in order; nothing is looked at again, since this phase has looked.

    + since: how many operations were there before the deploy's first
    """
    named = [(operation_name(host, each), each) for each in host.op_hash_order[since:]]
    return tuple(_declared(host, name, each) for name, each in named if name in OPERATIONS)


def operation_name(host: Host, operation: str) -> str:
    """The name of an operation by its hash, without the file that included it."""
    return min(host.state.get_op_meta(operation).names).rpartition(" | ")[2]


def _declared(host: Host, name: str, operation: str) -> Declared:
    commands = tuple(_commands(host, operation))
    steps = tuple(each.step for each in commands if getattr(each, "step", None) is not None)
    return Declared(name=name, steps=steps, commands=tuple(map(_planned, commands)))


def _commands(host: Host, operation: str) -> Iterator[Any]:
    """pyinfra pulls an operation's first command while it prepares; the others come from its generator as well."""
    before = ctx_host.get()
    ctx_host.set(host)
    try:
        yield from host.state.get_op_data_for_host(host, operation).command_generator()
    finally:
        ctx_host.set(before)


def _planned(command: Any) -> PlannedCommand:
    found: PlannedCommand | None = getattr(command, "planned", None)
    if found is not None:
        return found
    if isinstance(command, FunctionCommand):
        return PlannedCommand(does=command.function.__name__.strip("_").replace("_", " "))
    return PlannedCommand(does="script", sends=(str(command),))
