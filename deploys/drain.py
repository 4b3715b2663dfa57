"""A host on whose serving process no request runs; with `unload`, one that serves nothing until somebody asks again."""

from collections.abc import Callable
from dataclasses import dataclass

from pyinfra.api import Host
from pyinfra.context import ctx_host

from fleet.drain import Drain, Waiting
from fleet.refusal import Refusal
from operations.drain import wait_until_quiet


@dataclass(frozen=True)
class Wish:
    """How a host is to be drained."""

    seconds: float
    """For how long no request must run."""
    timeout: float
    """Seconds after which it is given up."""
    unload: bool = False
    """Whether every model is unloaded at the end."""


def drained(host: Host, wish: Wish, tell: Callable[[Waiting], None]) -> Drain | Refusal:
    """How the drain ended, or why it must not be or could not be done.

    + tell: gets each look as it comes
    """
    with ctx_host.use(host):
        return wait_until_quiet(host, wish.seconds, wish.timeout, wish.unload, tell)
