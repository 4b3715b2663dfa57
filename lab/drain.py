"""`sparks drain`: wait until no request runs on what a target serves, and write down for which exact process."""

from collections.abc import Callable

import click
import gevent
from pyinfra.api import Host

from deploys.drain import Wish, drained
from fleet.drain import Drain, End, Waiting, nothing_to_drain
from fleet.outcome import Outcome
from fleet.receipt import acts
from fleet.receipt.events import HostConnected, Note, Opening
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.target import Target, target_of
from lab.collect import connected, roster_of
from lab.command import Refused, inventory_option
from lab.document import put_document
from lab.drain_document import Drains, outcome_of
from lab.place import RECEIPTS
from lab.receipts.command import json_option
from lab.receipts.journal import Journal, opened
from lab.receipts.run import this_command

ADMITS = "Ollama goes on taking requests: it cannot be told to stop"


@click.command()
@click.argument("target")
@click.option("--quiet-seconds", type=click.FloatRange(1, 3600), default=30, show_default=True,
              help="For how long no request must run.")  # fmt: skip
@click.option("--timeout", type=click.IntRange(1, 86400), default=600, show_default=True, metavar="SECONDS",
              help="When to give up.")  # fmt: skip
@click.option("--unload", is_flag=True, help="Unload every model at the end, so that nothing is served.")
@json_option
@RECEIPTS.option
@inventory_option
def drain(
    target: str, quiet_seconds: float, timeout: int, unload: bool, as_json: bool, receipts: str | None, inventory: str
) -> None:
    """Wait until no request runs on what TARGET serves, a Spark or a deployment; also where a deployment was before.

    The receipt is bound to the very process that was waited for: a plan may then restart it, or change what it has
    loaded, although no run of ours has started it. Ollama goes on taking requests meanwhile.

    Exit status 0 when it is drained or nothing is served, 1 when requests still ran in the end, 3 when refused.
    """
    roster = roster_of(inventory)
    wish = Wish(seconds=quiet_seconds, timeout=timeout, unload=unload)
    journal: Journal | None = None
    try:
        found = _target(roster, target)
        about = Opening(kind="drain", target=found.name, hosts=found.hosts, command=this_command("drain", target))
        where = RECEIPTS.folder(receipts, inventory)
        with opened(where, about) as journal, connected(inventory, *found.hosts) as hosts:
            document = _drained(journal, found, hosts, wish)
    except Refused as refused:
        name = None if journal is None else journal.name
        document = Drains(
            target=target, receipt=name, outcome=Outcome.REFUSED, drains=(), refusals=refused.refusals
        )  # fmt: skip
    _show(document, as_json)
    if not document.outcome.is_good:
        raise SystemExit(document.outcome.exit_status)


def _target(roster: Roster, name: str) -> Target:
    found = target_of(roster, name)
    if isinstance(found, Target) and found.kind == "deployment":
        found = found.replaced(hosts=roster.deployments[name].served_on)
    refused = [found] if isinstance(found, Refusal) else []
    if isinstance(found, Target):
        refused = [no for host in found.hosts if (no := nothing_to_drain(roster.desired_for(host)))]
        if not refused:
            return found
    raise Refused.of(*refused)


def _drained(journal: Journal, target: Target, hosts: list[Host], wish: Wish) -> Drains:
    for host in hosts:
        journal.say(HostConnected(host=host.name))
    waiting = [gevent.spawn(drained, host, wish, _teller(host.name, wish.seconds)) for host in hosts]
    try:
        gevent.joinall(waiting, raise_error=True)
    finally:
        gevent.killall(waiting)
    found = [each.get() for each in waiting]
    drains = tuple(each for each in found if isinstance(each, Drain))
    refusals = tuple(each for each in found if isinstance(each, Refusal))
    for each in drains:
        say_drain(journal, each)
    outcome = outcome_of(drains, refusals)
    reason = None if outcome.is_good or refusals else "; ".join(map(str, drains))
    journal.close(outcome, reason, refusals)
    return Drains(target=target.name, receipt=journal.name, outcome=outcome, drains=drains, refusals=refusals)


def say_drain(journal: Journal, each: Drain) -> None:
    """Only what was waited for to its end is evidence of a drain."""
    if each.end is not End.QUIET or each.invocation is None:
        journal.say(Note(host=each.host, text=str(each)))
        return
    journal.say(
        acts.Drained(
            host=each.host,
            runtime=each.invocation.runtime,
            invocation=each.invocation.digest,
            instrument=each.instrument,
            idle_seconds=each.quiet_seconds,
            admitting=True,
        )
    )
    if each.unloaded:
        journal.say(Note(host=each.host, text=f"unloaded {', '.join(each.unloaded)}"))


def _teller(host: str, seconds: float) -> Callable[[Waiting], None]:
    """Prints what goes on when that changes, so that a person sees what is waited for."""
    told: list[tuple[str, ...]] = []

    def tell(look: Waiting) -> None:
        if told[-1:] != [look.activity]:
            told.append(look.activity)
            click.echo(f"{host}: {'; '.join(look.activity) or f'quiet; {seconds:g} s of it are wanted'}", err=True)

    return tell


def _show(document: Drains, as_json: bool) -> None:
    if as_json:
        put_document(document)
        return
    for each in document.drains:
        click.echo(str(each), err=each.end in (End.TIMEOUT, End.GONE))
    for refusal in document.refusals:
        click.echo(str(refusal), err=True)
    if any(each.end is End.QUIET for each in document.drains):
        click.echo(ADMITS)
    if document.receipt is not None:
        last = f"{document.target}: {document.outcome} (receipt {document.receipt})"
        click.echo(last, err=not document.outcome.is_good)
