"""Asking whether a plan may be carried out: on a terminal, or by its digest in a script."""

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

import click

from deploys.maker import maker
from fleet.approval import Approvable, Approval
from fleet.instant import utc_now
from fleet.refusal import Refusal
from lab.command import INTERRUPTED
from lab.transaction import Consent

VALID_SECONDS = 3600
"""For how long a plan that was looked at may be carried out."""


class Plannable(Approvable, Protocol):
    """A plan that somebody can be asked about."""

    @property
    def is_noop(self) -> bool:
        """Is nothing due?"""

    @property
    def steps(self) -> Sequence[object]:
        """What is due, one after the other."""


def consent(plan: Plannable, named: str | None, until: datetime | None = None) -> Consent:
    """The approval of a plan that was shown, or the refusal of it.

    + named: the digest that a script was given and says yes to; None to ask whoever is there
    + until: when the plan is too old for that, where it was kept in a file; by default an hour from now
    """
    now = utc_now()
    approval = Approval.of(plan, maker(), now, VALID_SECONDS)
    approval = approval if until is None else approval.replaced(expires_at=until)
    if plan.is_noop:
        return Consent(None, "nothing is due")
    if named is not None:
        refusal = approval.replaced(plan_digest=named).refusal(plan, now)
        how = "--plan" if until is None else "a file"
        return Consent(approval, how, () if refusal is None else (refusal,))
    if (refusal := approval.refusal(plan, now)) is not None:
        return Consent(None, "asked", (refusal,))
    return Consent(approval, "answered yes") if _asked(plan) else Consent(None, "asked", (_not_given(plan),))


def _asked(plan: Plannable) -> bool:
    """Somebody's yes. Without a terminal nobody is there to be asked."""
    if not sys.stdin.isatty():
        return False
    try:
        return click.confirm(f"carry out these {len(plan.steps)} steps on {', '.join(plan.target.hosts)}?", err=True)
    except click.Abort:
        raise SystemExit(INTERRUPTED) from None


def _not_given(plan: Plannable) -> Refusal:
    return Refusal(
        code="not_approved",
        subject=f"{plan.target} plan",
        expected="a yes to what was shown",
        found="no" if sys.stdin.isatty() else "no terminal to ask on",
        hint=f"in a script: --yes --plan {plan.digest}",
    )
