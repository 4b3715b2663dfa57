"""`sparks evidence`: what was measured, of exactly what, and whether what was written down is as it was written."""

import click

from deploys.maker import maker
from fleet.evidence import FitEvidence
from fleet.health import Verdict as Health
from fleet.health import worst
from fleet.instant import utc_now
from fleet.ollama.measured import Occasion, fit_evidence
from fleet.ollama.subject import not_declared
from fleet.plan import Plan
from fleet.refusal import Refusal
from fleet.target import Scope
from lab.command import FAILED, Refused, inventory_option
from lab.converge import target_named
from lab.document import put_document
from lab.evidence.after import served_on, serving
from lab.evidence.documents import Recorded, Verdict, listing
from lab.evidence.store import put, read_store, tell_broken
from lab.evidence.text import listed, shown, verified
from lab.output import STANDARD
from lab.output import put as print_out
from lab.place import EVIDENCE
from lab.receipts.command import json_option
from lab.session import Session, session


@click.group()
def evidence() -> None:
    """What has fitted, measured on exactly one subject each. Only `record` contacts hosts."""


@evidence.command("list")
@json_option
@EVIDENCE.option
@inventory_option
def list_command(as_json: bool, evidence: str | None, inventory: str) -> None:
    """One line for each piece of evidence, the newest last."""
    where = EVIDENCE.folder(evidence, inventory)
    store = read_store(where)
    if as_json:
        put_document(listing(str(where), store))
    elif store.evidence:
        print_out(STANDARD, listed(store))
    else:
        click.echo(f"{where}: no evidence", err=True)
    tell_broken(where, store)


@evidence.command()
@click.argument("digest")
@json_option
@EVIDENCE.option
@inventory_option
def show(digest: str, as_json: bool, evidence: str | None, inventory: str) -> None:
    """One piece of evidence, by its DIGEST or the beginning of that: exactly what it is of, and what was measured."""
    where = EVIDENCE.folder(evidence, inventory)
    store = read_store(where)
    found = store.find(digest)
    if as_json:
        put_document(found)
    else:
        print_out(STANDARD, shown(found))
    tell_broken(where, store)


@evidence.command()
@json_option
@EVIDENCE.option
@inventory_option
def verify(as_json: bool, evidence: str | None, inventory: str) -> None:
    """Whether every file is as it was written; exit status 1 where not, with each that is not."""
    where = EVIDENCE.folder(evidence, inventory)
    store = read_store(where)
    if as_json:
        put_document(Verdict(folder=str(where), evidence=len(store.evidence), broken=store.broken))
    else:
        print_out(STANDARD, verified(store))
    if store.broken:
        raise SystemExit(FAILED)


@evidence.command()
@click.argument("target")
@json_option
@EVIDENCE.option
@inventory_option
def record(target: str, as_json: bool, evidence: str | None, inventory: str) -> None:
    """Keep the evidence that TARGET, which is loaded as declared and well now, fits. Nothing on its hosts is changed.

    What is resident is asked for one token. Exit status 3 where it is not as desired, or not well.
    """
    where, found = EVIDENCE.folder(evidence, inventory), target_named(inventory, target)
    with session(inventory, found, Scope.SERVE) as looked:
        _is_well(looked)
        made = [_evidence(looked, host) for host in serving(looked.run.roster, found)]
    for each in made:
        put(where, each)
    if as_json:
        put_document(Recorded(target=found.name, evidence=tuple(each.digest for each in made)))
    else:
        print_out(STANDARD, "".join(f"{each.digest}\n" for each in made))


def _is_well(looked: Session) -> None:
    """Raises Refused for what is not loaded as declared, and answering: it is evidence of nothing."""
    plan = looked.plan
    if not isinstance(plan, Plan):
        raise Refused.of(*plan.refusals)
    lines = list(map(str, plan.steps))
    if not lines:
        findings = looked.health(None)
        lines = [] if worst(findings) is Health.OK else [str(each) for each in findings if not each.is_good]
    if lines:
        expected = "it as desired and well, since only that is evidence"
        raise Refused("\n".join(f"{looked.target}: expected {expected}, found {line}" for line in lines))


def _evidence(looked: Session, host: str) -> FitEvidence:
    desired = looked.run.roster.desired_for(host).ollama
    if desired is None:
        raise Refused.of(not_declared(host, desired))
    occasion = Occasion(deployment=served_on(looked.run.roster, host), at=utc_now(), by=maker())
    made = fit_evidence(desired, None, looked.measured(host), occasion)
    if isinstance(made, Refusal):
        raise Refused.of(made)
    return made
