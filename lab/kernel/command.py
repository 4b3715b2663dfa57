"""`sparks kernel`: what a Spark boots, and trying another kernel without anybody at the machine."""

from pathlib import Path

import click

from fleet.kernel.trial_plan import TrialPlan
from fleet.kernel.trial_target import trial_target
from fleet.outcome import Outcome
from fleet.plan import Refusals
from fleet.receipt.events import Approved, Opening
from fleet.refusal import Refusal
from fleet.target import Target
from fleet.verdict import Verdict
from lab.collect import roster_of
from lab.command import REFUSED, Refused, inventory_option, named_plan_option, timeout_option
from lab.consent import consent
from lab.document import put_document
from lab.interrupt import Interrupted, interruptible
from lab.kernel.documents import Tried
from lab.kernel.look import planned
from lab.kernel.run import Trial, Wish
from lab.kernel.show import shown
from lab.place import RECEIPTS
from lab.receipts.command import json_option
from lab.receipts.journal import Journal, opened
from lab.receipts.run import this_command
from lab.transaction import Consent


@click.group()
def kernel() -> None:
    """Look at what a Spark boots, and try another kernel on it."""


@kernel.command()
@click.argument("target")
@timeout_option
@json_option
@inventory_option
def show(target: str, seconds: float, as_json: bool, inventory: str) -> None:
    """Show what runs on TARGET, what the next boot starts, and what it falls back to; nothing is changed.

    TARGET is a Spark, a deployment, or a cluster. Exit status 0, or 3 where one could not be observed.
    """
    document = shown(inventory, _target(inventory, target), seconds)
    if as_json:
        put_document(document)
    else:
        click.echo(document.text)
    for refusal in document.refusals:
        click.echo(str(refusal), err=True)
    if document.refusals:
        raise SystemExit(REFUSED)


@kernel.command()
@click.argument("target")
@click.option("--yes", is_flag=True, help="Ask nobody; only together with --plan.")
@named_plan_option
@click.option("--quiet-seconds", "quiet", type=click.FloatRange(1, 3600), default=30, show_default=True,
              help="For how long no request must run before a boot.")  # fmt: skip
@click.option("--drain-timeout", "drain", type=click.IntRange(1, 86400), default=600, show_default=True,
              metavar="SECONDS", help="When to give up waiting for that.")  # fmt: skip
@click.option("--boot-timeout", "boot", type=click.IntRange(10, 7200), default=900, show_default=True,
              metavar="SECONDS", help="How long a boot may take until the Spark answers.")  # fmt: skip
@click.option("--settle", type=click.IntRange(0, 7200), default=600, show_default=True, metavar="SECONDS",
              help="How long fabric and serving may take to be well after it.")  # fmt: skip
@json_option
@RECEIPTS.option
@inventory_option
def trial(
    target: str,
    yes: bool,
    named: str | None,
    quiet: float,
    drain: int,
    boot: int,
    settle: int,
    as_json: bool,
    receipts: str | None,
    inventory: str,
) -> None:
    """Try the kernel of TARGET's policy: drain, boot it once, hold it against its tasks, and make it the default.

    TARGET is a Spark, a deployment, or a cluster, whose Sparks follow one another. What does not qualify is booted into
    the fallback again. Until the end the fallback is the default: a power cycle returns to it, at any moment.

    Exit status: 0 the kernel runs and is the default, 1 it failed, 3 refused, 130 interrupted. A receipt tells.
    """
    if yes != (named is not None):
        raise click.UsageError("--yes: expected it together with --plan sha256:…, found one alone")
    found = _target(inventory, target)
    plan = planned(inventory, found)
    if isinstance(plan, TrialPlan):
        click.echo(plan.text, err=True)
    given = consent(plan, named) if isinstance(plan, TrialPlan) else None
    wish = Wish(quiet, drain, boot, settle)
    document = _tried(inventory, found, plan, given, wish, RECEIPTS.folder(receipts, inventory))
    _end(document, as_json)


def _target(inventory: str, name: str) -> Target:
    found = trial_target(roster_of(inventory), name)
    if isinstance(found, Refusal):
        raise Refused.of(found)
    return found


def _tried(
    inventory: str, target: Target, plan: TrialPlan | Refusals, given: Consent | None, wish: Wish, receipts: Path
) -> Tried:
    digest = plan.digest if isinstance(plan, TrialPlan) else None
    about = Opening(kind="trial", target=target.name, hosts=target.hosts, plan=digest,
                    command=this_command("kernel", "trial", target.name))  # fmt: skip
    run: Trial | None = None
    journal: Journal | None = None
    try:
        with opened(receipts, about) as journal, interruptible() as stop:
            if isinstance(plan, Refusals) or given is None or given.refusals:
                why = plan.refusals if isinstance(plan, Refusals) else given.refusals if given else ()
                found = Verdict(Outcome.REFUSED, "nothing was changed", why)
            elif given.approval is None:
                found = Verdict(Outcome.FOUND_AS_DESIRED, "the kernel of the policy runs and is the default")
            else:
                journal.say(_approved(given))
                run = Trial(inventory, roster_of(inventory), plan, journal, stop, wish)
                found = run.run()
            journal.close(found.outcome, found.reason, found.refusals)
    except Interrupted as interrupted:
        if journal is None or journal.outcome is not Outcome.INTERRUPTED:
            raise
        found = Verdict(Outcome.INTERRUPTED, _interrupted(interrupted, run))
    return Tried(
        target=target.name, plan=digest, outcome=found.outcome, reason=found.reason,
        hosts=tuple(run.ends) if run else (), refusals=found.refusals, findings=run.findings if run else (),
        receipt=journal.name,
    )  # fmt: skip


def _interrupted(interrupted: Interrupted, run: Trial | None) -> str:
    where = f"; {run.ends[-1].says}" if run and run.ends else "; nothing was changed"
    return f"{interrupted.signal}{where}"


def _approved(given: Consent) -> Approved:
    approval = given.approval
    assert approval is not None, "expected an approval where something is due"
    return Approved(plan=approval.plan_digest, approved_by=approval.approved_by, approved_at=approval.approved_at,
                    expires_at=approval.expires_at, how=given.how)  # fmt: skip


def _end(document: Tried, as_json: bool) -> None:
    for each in (*map(str, document.findings), *(f"{document.outcome}: {each}" for each in document.refusals)):
        click.echo(each, err=as_json)
    reason = f": {document.reason}" if document.reason else ""
    click.echo(f"{document.target}: {document.outcome}{reason} (receipt {document.receipt})", err=as_json)
    if as_json:
        put_document(document)
    if document.outcome.exit_status:
        raise SystemExit(document.outcome.exit_status)
