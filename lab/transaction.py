"""A plan carried out as one transaction: approved, carried out, read back over new connections, planned again, judged.

The receipt is opened before the first effect and closed with what was found, whatever happens in between.
"""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fleet.approval import Approval
from fleet.health import Finding
from fleet.outcome import Outcome
from fleet.plan import Plan, Refusals
from fleet.receipt.acts import Health, Readback, Replan
from fleet.receipt.events import Approved, Note, Opening
from fleet.refusal import Refusal
from fleet.target import Scope, Target
from fleet.verdict import NOTHING_DUE, Ran, Verdict, verdict
from lab.converge_document import Converged
from lab.evidence.after import NOT_MEASURED, Measured, keep_evidence, keep_refuted, measured, say_admitted
from lab.interrupt import Interrupted, Stop, interruptible
from lab.receipts.journal import Journal, opened
from lab.session import Session, session
from lab.telling import Telling


@dataclass(frozen=True)
class Wanted:
    """What is to be converged, and where its receipt goes."""

    inventory: str
    target: Target
    scope: Scope
    kind: Literal["converge", "apply"]
    command: tuple[str, ...]
    """The command line, as a receipt keeps it."""
    receipts: Path
    evidence: Path
    admit_first: bool = False
    """Whether what it loads is admitted for a first time, without evidence that it has fitted."""


@dataclass(frozen=True)
class Consent:
    """The word of whoever looked at the plan, and how it was given; or why it was not given."""

    approval: Approval | None
    how: str
    refusals: tuple[Refusal, ...] = ()


def transact(wanted: Wanted, connected: ExitStack, first: Session, consent: Consent | None) -> Converged:
    """Carry out what was consented to, and say how it ended.

    + connected: holds the session; it is closed once the plan was carried out, so that the locks are released
    + consent: None where there is no plan to consent to
    """
    plan = first.plan if isinstance(first.plan, Plan) else None
    journal: Journal | None = None
    try:
        with opened(wanted.receipts, _opening(wanted, plan)) as journal, interruptible() as stop:
            found, findings = _ended(journal, stop, wanted, connected, first, consent)
            journal.close(found.outcome, found.reason, found.refusals)
    except Interrupted as interrupted:
        if journal is None or journal.outcome is not Outcome.INTERRUPTED:
            raise
        found, findings = Verdict(Outcome.INTERRUPTED, interrupted.signal), ()
    return Converged(
        target=wanted.target,
        scope=wanted.scope,
        plan=None if plan is None else plan.digest,
        outcome=found.outcome,
        reason=found.reason,
        refusals=found.refusals,
        findings=findings,
        receipt=journal.name,
    )


def _ended(
    journal: Journal, stop: Stop, wanted: Wanted, connected: ExitStack, first: Session, consent: Consent | None
) -> tuple[Verdict, tuple[Finding, ...]]:
    if isinstance(first.plan, Refusals):
        return Verdict(Outcome.REFUSED, "nothing was written", first.plan.refusals), ()
    if consent is None or consent.refusals:
        return Verdict(Outcome.REFUSED, "nothing was written", consent.refusals if consent else ()), ()
    before = measured(first.plan, first)
    ran = carry_out(journal, stop, first, first.plan, consent)
    keep_refuted(journal, wanted.evidence, before, first, ran.refusals)
    connected.close()
    return judged(journal, wanted, first, ran, before)


def _opening(wanted: Wanted, plan: Plan | None) -> Opening:
    return Opening(
        kind=wanted.kind,
        target=wanted.target.name,
        hosts=wanted.target.hosts,
        scope=wanted.scope,
        plan=None if plan is None else plan.digest,
        desired=None if plan is None else plan.desired_digest,
        prestate=None if plan is None else plan.prestate_digest,
        command=wanted.command,
    )


def carry_out(journal: Journal, stop: Stop, first: Session, plan: Plan, consent: Consent) -> Ran:
    """What was consented to, carried out on the hosts of a session; what became of it."""
    telling = Telling(journal, plan)
    telling.connected(*(first.run.collection[host] for host in plan.target.hosts))
    if plan.is_noop:
        return _finish(journal, stop, first)
    approval = consent.approval
    assert approval is not None, "expected an approval where something is due"
    journal.say(
        Approved(
            plan=approval.plan_digest,
            approved_by=approval.approved_by,
            approved_at=approval.approved_at,
            expires_at=approval.expires_at,
            how=consent.how,
        )
    )
    say_admitted(journal, plan)
    telling.looking_again()
    first.state.add_callback_handler(telling)
    with stop.between_commands(first.state):
        why = first.carry_out(approval, telling)
    return telling.ran(_failed(journal, first, why))


def _finish(journal: Journal, stop: Stop, first: Session) -> Ran:
    """Nothing is due. Still, a run that died may have come to its last step and not to its end."""
    if not first.has_left:
        return NOTHING_DUE
    for host, plan in first.cut_off.items():
        journal.say(Note(host=host, text=f"a run of plan {plan} was cut off behind its last step; it is ended now"))
    with stop.between_commands(first.state):
        why = first.finish()
    return Ran(acted=False, failed=_failed(journal, first, why), finished=bool(first.cut_off))


def _failed(journal: Journal, first: Session, why: str | None) -> tuple[str, ...]:
    if why is not None:
        journal.say(Note(text=why))
    return first.failed or (first.target.hosts if why is not None else ())


def judged(
    journal: Journal, wanted: Wanted, first: Session, ran: Ran, before: Measured = NOT_MEASURED
) -> tuple[Verdict, tuple[Finding, ...]]:
    """What there is now, over new connections. A run that failed is not read back: the next one looks anyway.

    + before: what instruments said before anything was loaded
    """
    plan = first.plan
    assert isinstance(plan, Plan), "expected a plan that was carried out"
    if ran.failed:
        return verdict(ran, plan, ()), ()
    applied = plan.digest if ran.acted else None
    with session(wanted.inventory, wanted.target, wanted.scope, wanted.admit_first) as again:
        found = again.plan
        refusals = found.refusals if isinstance(found, Refusals) else ()
        for host in wanted.target.hosts:
            due = () if isinstance(found, Refusals) else found.host(host).steps
            journal.say(Readback(host=host, as_desired=not due and not refusals, refusals=_about(host, refusals)))
        digest, steps = (None, 0) if isinstance(found, Refusals) else (found.digest, len(found.steps))
        journal.say(Replan(plan=digest, steps=steps, refusals=refusals))
        findings = again.health(applied)
        ended = verdict(ran, found, findings)
        if ended.outcome is Outcome.CONVERGED:
            keep_evidence(journal, wanted.evidence, before, again)
    for host in wanted.target.hosts:
        journal.say(Health(host=host, findings=tuple(each for each in findings if each.subject.startswith(f"{host} "))))
    return ended, findings


def _about(host: str, refusals: tuple[Refusal, ...]) -> tuple[Refusal, ...]:
    return tuple(each for each in refusals if each.subject.split(" ")[0] == host)
