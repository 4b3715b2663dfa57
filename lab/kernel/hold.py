"""Holding the locks of Sparks while a trial is about to change what they stand on. No two trials in one deployment."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from pyinfra.api import Host
from pyinfra.context import ctx_host

from fleet.refusal import Refusal
from lab.collect import connected
from lab.command import Refused
from operations.lock import take


@contextmanager
def held(inventory: str, hosts: Sequence[str]) -> Iterator[tuple[Refusal, ...]]:
    """The locks of these Sparks for as long as this lasts, each over a connection of its own; or why not, by name."""
    with ExitStack() as stack:
        yield _taken(stack, inventory, hosts) if hosts else ()


def _taken(stack: ExitStack, inventory: str, hosts: Sequence[str]) -> tuple[Refusal, ...]:
    try:
        found = stack.enter_context(connected(inventory, *hosts))
    except Refused as silent:
        return silent.refusals
    for host in found:
        if (refusal := taken(host)) is not None:
            return (refusal,)
    return ()


def taken(host: Host) -> Refusal | None:
    """Take the lock of a connected host, for as long as it is connected; or why it cannot be."""
    with ctx_host.use(host):
        return take(host)
