"""Making a kernel that has qualified the default: the Spark's plan of its kernel, which now has this step alone."""

from contextlib import ExitStack
from pathlib import Path

from deploys.maker import maker
from fleet.approval import Approval
from fleet.instant import utc_now
from fleet.kernel.trial_plan import HostTrial
from fleet.kernel.trial_refusal import not_persisted
from fleet.plan import Refusals
from fleet.refusal import Refusal
from fleet.target import Scope
from lab.consent import VALID_SECONDS
from lab.interrupt import Stop
from lab.kernel.look import spark, stood
from lab.receipts.journal import Journal
from lab.session import session
from lab.transaction import Consent, Wanted, carry_out, judged

DEFAULT_STEP = "next_boot"
"""The kind of the step that sets GRUB's default."""


def persist(inventory: str, trial: HostTrial, journal: Journal, stop: Stop) -> tuple[Refusal, ...]:
    """Why the kernel is not the default now; nothing where it is. Whoever approved the trial approved this step."""
    wanted = Wanted(inventory, spark(trial.host), Scope.KERNEL, "converge", (), Path(), Path())
    with ExitStack() as connected:
        first = connected.enter_context(session(inventory, wanted.target, wanted.scope))
        plan = first.plan
        if isinstance(plan, Refusals):
            return plan.refusals
        if other := tuple(step.subject for step in plan.steps if step.kind != DEFAULT_STEP):
            return (_refused(trial, f"also {', '.join(other)}"),)
        approval = Approval.of(plan, maker(), utc_now(), VALID_SECONDS)
        ran = carry_out(journal, stop, first, plan, Consent(approval, "the plan of the trial"))
        connected.close()
        found, _ = judged(journal, wanted, first, ran)
    if not found.outcome.is_good:
        return found.refusals or (_refused(trial, found.reason or str(found.outcome)),)
    seen = stood(inventory, trial.host)
    if seen is None or seen.default != trial.release or not seen.is_pinned:
        return (_refused(trial, "no answer" if seen is None else f"{seen.default} as the default"),)
    return ()


def _refused(trial: HostTrial, found: str) -> Refusal:
    return not_persisted(trial.host, trial.release, found)
