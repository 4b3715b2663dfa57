"""`sparks plan`, `sparks show` and `sparks observe`."""

from collections.abc import Iterable
from pathlib import Path

import click

from deploys.maker import versions
from facts.needs import looks_for
from fleet.fit.admission import Admission
from fleet.instant import utc_now
from fleet.invocation import Running
from fleet.observation import Observation
from fleet.plan import Plan, Refusals, plan
from fleet.record import Digest
from fleet.target import Scope, Target
from lab.collect import collect, roster_of
from lab.command import PENDING, Refused, inventory_option
from lab.converge import admit_option, scope_option, target_named
from lab.document import put_document
from lab.evidence.store import admission_in
from lab.output import STANDARD, put, refuse_output
from lab.place import EVIDENCE, RECEIPTS
from lab.plans.documents import Collection, CollectionDocument, PlanDocument
from lab.plans.files import read_plan, text_of, write
from lab.plans.seen import read_seen
from lab.plans.text import shown
from lab.receipts.command import json_option
from lab.receipts.drained import drained_in
from lab.session import session

commands_option = click.option("--commands", is_flag=True, help="With what crosses SSH, byte for byte.")


@click.command("plan")
@click.argument("target")
@click.option("-o", "--output", metavar="FILE", help="Keep the plan in a file, to be shown and applied.")
@click.option("--from", "source", metavar="FILE",
              help="Plan from an observation; no host is contacted, so the plan cannot be applied.")  # fmt: skip
@scope_option
@admit_option
@commands_option
@json_option
@EVIDENCE.option
@inventory_option
def plan_command(
    target: str,
    output: str | None,
    source: str | None,
    scope: str,
    admit_first: bool,
    commands: bool,
    as_json: bool,
    evidence: str | None,
    inventory: str,
) -> None:
    """Show what TARGET needs, a Spark or a deployment; nothing is changed.

    Exit status 0 when it is as desired, 2 when changes are pending, 3 when refused, 1 when it failed.
    """
    if output is not None:
        refuse_output(output)
    found, asked = target_named(inventory, target, PlanDocument.of if as_json else None), Scope(scope)
    if source is None:
        outcome = _planned(inventory, found, asked, admit_first)
    else:
        first = frozenset(found.hosts) if admit_first else frozenset()
        admission = admission_in(EVIDENCE.folder(evidence, inventory)).replaced(first=first)
        outcome = _replanned(inventory, found, asked, source, admission)
    document = PlanDocument.of(outcome)
    if output is not None and document.plan is not None:
        write(output, document)
    _tell(outcome, document, as_json, commands)
    if isinstance(outcome, Plan) and not outcome.is_noop:
        raise SystemExit(PENDING)


@click.command()
@click.argument("file")
@commands_option
def show(file: str, commands: bool) -> None:
    """Show the plan in FILE as text, with what changes in each file. No host is contacted."""
    put(STANDARD, shown(read_plan(file), commands))


@click.command()
@click.argument("target")
@click.option("-o", "--output", metavar="FILE", default=STANDARD, show_default=True,
              help="Where to keep it; - is standard output.")  # fmt: skip
@inventory_option
def observe(target: str, output: str, inventory: str) -> None:
    """Look at the hosts of TARGET and keep what was seen, to plan from elsewhere with `sparks plan TARGET --from FILE`.

    Nothing is changed. Keys, passwords and SSIDs have not left the hosts; names, addresses and paths are in it. What
    could not be observed is in it as that; exit status 3 where it is all of a host, as when it does not answer.
    """
    refuse_output(output)
    found = target_named(inventory, target)
    now = f"{utc_now():%FT%TZ}"
    seen = collect(inventory, found.hosts, looks_for)
    collection = Collection(
        target=found,
        roster_digest=roster_of(inventory).digest,
        observed_at=now,
        versions=versions(),
        observations=tuple(seen[name] for name in found.hosts),
        drained=_drained(inventory, seen.values()),
    )
    document = CollectionDocument.of(collection)
    if output == STANDARD:
        put(STANDARD, text_of(document))
    else:
        write(output, document)
    if silent := [no for each in collection.observations if (no := each.blind) is not None]:
        raise Refused.of(*silent)


def _planned(inventory: str, target: Target, scope: Scope, admit_first: bool) -> Plan | Refusals:
    with session(inventory, target, scope, admit_first) as looked:
        return looked.plan


def _drained(inventory: str, seen: Iterable[Observation]) -> tuple[Digest, ...]:
    running = [each.invocation for each in seen if isinstance(each.invocation, Running)]
    processes = {each.invocation.digest for each in running if each.invocation is not None}
    return tuple(sorted(processes & drained_in(RECEIPTS.folder(None, inventory))))


def _replanned(inventory: str, target: Target, scope: Scope, source: str, admission: Admission) -> Plan | Refusals:
    roster = roster_of(inventory)
    collection = read_seen(roster, source)
    seen = {each.host: each for each in collection.observations}
    outcome = plan(roster, target, seen, scope, frozenset(collection.drained), admission)
    if isinstance(outcome, Plan):
        return outcome.made_by(f"--from {Path(source).name}", collection.observed_at, versions())
    return outcome


def _tell(outcome: Plan | Refusals, document: PlanDocument, as_json: bool, commands: bool) -> None:
    if as_json:
        put_document(document)
    elif isinstance(outcome, Plan):
        put(STANDARD, shown(outcome, commands))
    if isinstance(outcome, Refusals):
        raise Refused.of(*outcome.refusals)
