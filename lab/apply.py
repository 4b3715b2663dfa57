"""`sparks apply`: a plan that was kept in a file, carried out as it is there or not at all."""

from contextlib import ExitStack
from datetime import datetime, timedelta

import click
from pydantic import TypeAdapter, ValidationError

from fleet.instant import Instant, utc_now
from fleet.moved import moved
from fleet.plan import Plan
from fleet.refusal import Refusal
from lab.command import Failed, inventory_option
from lab.consent import VALID_SECONDS, consent
from lab.converge import end, show_plan
from lab.evidence.after import admits_first
from lab.place import EVIDENCE, RECEIPTS
from lab.plans.files import read_plan
from lab.receipts.command import json_option
from lab.receipts.run import this_command
from lab.session import session
from lab.transaction import Consent, Wanted, transact

CLOCKS_SECONDS = 300
"""How far the clocks of two controllers may be apart: what Kerberos allows (RFC 4120, 3.1.3)."""


@click.command()
@click.argument("file")
@json_option
@RECEIPTS.option
@EVIDENCE.option
@inventory_option
def apply(file: str, as_json: bool, receipts: str | None, evidence: str | None, inventory: str) -> None:
    """Carry out the plan in FILE, as `sparks plan -o FILE` has kept it: whoever names the file has looked at it.

    The hosts are looked at again first. Where anything of the plan would be another now, or an hour has gone by since
    they were observed, it is refused with what moved, and nothing is written. Exit status as of `sparks converge`.
    """
    kept = read_plan(file)
    until = _until(file, kept)
    folders = RECEIPTS.folder(receipts, inventory), EVIDENCE.folder(evidence, inventory)
    command, admit = this_command("apply", kept.target.name), admits_first(kept)
    wanted = Wanted(inventory, kept.target, kept.scope, "apply", command, *folders, admit)
    with ExitStack() as connected:
        first = connected.enter_context(session(inventory, kept.target, kept.scope, admit))
        show_plan(first.plan)
        given = _consent(kept, first.plan, until) if isinstance(first.plan, Plan) else None
        document = transact(wanted, connected, first, given)
    end(document, as_json)


def _until(file: str, kept: Plan) -> datetime:
    """When the plan is too old; raises Failed for one that nobody can carry out."""
    if kept.made.observed_at is None or any(each.commands is None for host in kept.hosts for each in host.operations):
        raise Failed(f"{file}: expected a plan made with a connection to its hosts, found one made from an observation")
    observed = _instant(file, kept.made.observed_at)
    if observed > utc_now() + timedelta(seconds=CLOCKS_SECONDS):
        raise Failed(f"{file}: plan.made.observed_at: expected a time that has been, found {kept.made.observed_at}")
    return observed + timedelta(seconds=VALID_SECONDS)


def _instant(file: str, text: str) -> datetime:
    try:
        return TypeAdapter(Instant).validate_python(text)
    except ValidationError as error:
        expected = "a time with its zone, as 2026-11-29T16:15:00Z"
        raise Failed(f"{file}: plan.made.observed_at: expected {expected}, found {text!r}") from error


def _consent(kept: Plan, now: Plan, until: datetime) -> Consent:
    lines = moved(kept, now)
    if not lines or now.is_noop:
        return consent(now, kept.digest, until)
    found = "\n  ".join(("it moved:", *lines))
    expected = f"plan {kept.digest} to be what is due"
    subject = f"{kept.target} plan"
    return Consent(None, "a file", (Refusal(code="plan_moved", subject=subject, expected=expected, found=found),))
