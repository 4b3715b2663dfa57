"""`sparks converge` and `sparks readback`: the proof, and its last part alone."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

import click

from fleet.health import Verdict, worst
from fleet.plan import Plan, Refusals
from fleet.record import Record
from fleet.roster import Roster
from fleet.target import Scope, Target, target_of
from lab.collect import roster_of
from lab.command import FAILED, PENDING, REFUSED, Refused, inventory_option, named_plan_option
from lab.consent import consent
from lab.converge_document import Converged, Readback
from lab.document import put_document
from lab.place import EVIDENCE, RECEIPTS
from lab.plans.text import shown
from lab.receipts.command import json_option
from lab.receipts.run import this_command
from lab.session import session
from lab.transaction import Wanted, transact

scope_option = click.option(
    "--scope", type=click.Choice([str(each) for each in Scope]), default=str(Scope.SERVE), show_default=True,
    help="The fabric alone, what is served as well, the kernel, or the rest of the host by its policy.",
)  # fmt: skip

admit_option = click.option(
    "--admit-first", is_flag=True,
    help="Load also what there is no evidence of that it fits: for the first time.",
)  # fmt: skip


@click.command()
@click.argument("target")
@scope_option
@click.option("--yes", is_flag=True, help="Ask nobody; only together with --plan.")
@named_plan_option
@admit_option
@json_option
@RECEIPTS.option
@EVIDENCE.option
@inventory_option
def converge(
    target: str,
    scope: str,
    yes: bool,
    named: str | None,
    admit_first: bool,
    as_json: bool,
    receipts: str | None,
    evidence: str | None,
    inventory: str,
) -> None:
    """Plan TARGET, a Spark or a deployment, show the plan, ask, carry it out, read back, and plan again.

    Exit status: 0 as desired, 1 failed or not as desired afterwards, 3 refused, 130 interrupted. A receipt tells.
    """
    if yes != (named is not None):
        raise click.UsageError("--yes: expected it together with --plan sha256:…, found one alone")
    found = target_named(inventory, target, partial(Converged.no_target, Scope(scope)) if as_json else None)
    folders = RECEIPTS.folder(receipts, inventory), EVIDENCE.folder(evidence, inventory)
    command = this_command("converge", target)
    wanted = Wanted(inventory, found, Scope(scope), "converge", command, *folders, admit_first)
    with ExitStack() as connected:
        first = connected.enter_context(session(inventory, found, wanted.scope, admit_first))
        show_plan(first.plan)
        given = consent(first.plan, named) if isinstance(first.plan, Plan) else None
        document = transact(wanted, connected, first, given)
    end(document, as_json)


@click.command()
@click.argument("target")
@scope_option
@json_option
@inventory_option
def readback(target: str, scope: str, as_json: bool, inventory: str) -> None:
    """Look whether TARGET is as desired and well, and change nothing; what is served is asked for one token.

    Exit status: 0 as desired, 1 not well, 2 changes pending, 3 refused.
    """
    found = target_named(inventory, target, partial(Readback.no_target, Scope(scope)) if as_json else None)
    with session(inventory, found, Scope(scope)) as looked:
        plan, findings = looked.plan, looked.health(None)
    refusals = plan.refusals if isinstance(plan, Refusals) else ()
    due = tuple(map(str, plan.steps)) if isinstance(plan, Plan) else ()
    digest = plan.digest if isinstance(plan, Plan) else None
    document = Readback(
        target=found, scope=Scope(scope), plan=digest, due=due, refusals=refusals, findings=findings
    )  # fmt: skip
    show_plan(plan)
    _print(document, as_json, "refused: ")
    status = _status(document)
    if status:
        raise SystemExit(status)


def _status(document: Readback) -> int:
    if document.refusals:
        return REFUSED
    if document.due:
        return PENDING
    return 0 if worst(document.findings) is Verdict.OK else FAILED


def target_named(inventory: str, name: str, document: Callable[[Refusals], Record] | None = None) -> Target:
    """The target of that name; raises Refused, or Failed for a site that cannot be.

    + document: makes what stands on standard output where it is refused; None where only people read it
    """
    return target_in(roster_of(inventory), name, document)


def target_in(roster: Roster, name: str, document: Callable[[Refusals], Record] | None = None) -> Target:
    """The same for a roster that was read already."""
    found = target_of(roster, name)
    if isinstance(found, Target):
        return found
    if document is not None:
        put_document(document(Refusals(refusals=(found,))))
    raise Refused.of(found)


def show_plan(plan: Plan | Refusals) -> None:
    """A plan as `sparks show` has it, on standard error: a document can stand alone on the other."""
    if isinstance(plan, Plan):
        click.echo(shown(plan), err=True)


def end(document: Converged, as_json: bool) -> None:
    """Print how it ended, and end with its status."""
    reason = f": {document.reason}" if document.reason else ""
    last = f"{document.target}: {document.outcome}{reason} (receipt {document.receipt})"
    _print(document, as_json, f"{document.outcome}: ", last)
    if document.outcome.exit_status:
        raise SystemExit(document.outcome.exit_status)


def _print(document: Converged | Readback, as_json: bool, before: str, *last: str) -> None:
    """With a document on standard output what people read goes to the other.

    + before: each refusal; of a run that has acted they are no refusals, but how it failed or what differs
    """
    for line in (*map(str, document.findings), *(f"{before}{each}" for each in document.refusals), *last):
        click.echo(line, err=as_json)
    if as_json:
        put_document(document)
