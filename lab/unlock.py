"""`sparks unlock`: break the lock that a run has left on a host, by its owner's name, where that run is gone."""

import click
from pyinfra.context import ctx_host

from facts.bundle import Wanted
from facts.lock import HostLock
from facts.needs import observation
from fleet.locked import unlock_refusal
from fleet.observation import known
from lab.collect import connected
from lab.command import Failed, Refused, inventory_option
from operations.answer import ask
from operations.lock_script import RELEASE_SECONDS, unlock_script

ANSWER_SECONDS = 30
"""For the host's answer, besides what it waits for."""


@click.command()
@click.argument("host")
@click.option("--owner", required=True, metavar="NAME", help="Whose lock it is, as the refusal says: ada@desk.")
@inventory_option
def unlock(host: str, owner: str, inventory: str) -> None:
    """Break the lock of NAME on HOST, where the run that took it is gone. Where it lives that is refused."""
    with connected(inventory, host) as (there,), ctx_host.use(there):
        seen = observation(there, host, {"lock": Wanted(HostLock)})
        refusal = seen.unobserved("lock") or unlock_refusal(host, owner, known(seen.lock))
        if refusal is not None:
            raise Refused.of(refusal)
        held = known(seen.lock).held
        if held is None:
            click.echo(f"{host} is not locked")
            return
        answer = ask(there, unlock_script(held), RELEASE_SECONDS + ANSWER_SECONDS)
    if answer is None or not answer.is_ok:
        raise Failed(f"{host} lock: {'expected an answer, found none' if answer is None else answer.error}")
    click.echo(f"{host}: broke {held}; {known(seen.lock).gone}")
