"""The word of somebody who looked at a plan: which one, for how long, and what it lets a run do. Pure."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol, Self

from fleet.instant import Instant
from fleet.plan import Plan
from fleet.record import DIGEST, Digest, Record
from fleet.refusal import Refusal
from fleet.step import Step
from fleet.target import Target

LOOK_AGAIN = "look at the new plan, and approve that"


class Approvable(Protocol):
    """What can be approved: a plan of some kind."""

    @property
    def digest(self) -> str:
        """Of what it says."""

    @property
    def target(self) -> Target:
        """What it is about."""


class Approval(Record):
    """Exactly one plan of exactly one target may be carried out."""

    plan_digest: Digest
    target: str
    hosts: tuple[str, ...]
    approved_by: str
    """`user@controller`."""
    approved_at: Instant
    expires_at: Instant

    @classmethod
    def of(cls, plan: Approvable, by: str, at: datetime, seconds: int) -> Self:
        """The approval of a plan by somebody, for some time from now on."""
        return cls(
            plan_digest=plan.digest,
            target=plan.target.name,
            hosts=plan.target.hosts,
            approved_by=by,
            approved_at=at,
            expires_at=at + timedelta(seconds=seconds),
        )

    def refusal(self, plan: Approvable, now: datetime) -> Refusal | None:
        """Why it does not let this plan be carried out now; None where it does."""
        subject = f"{plan.target} approval"
        if (self.target, self.plan_digest) != (plan.target.name, plan.digest):
            found = f"plan {plan.digest} for {plan.target}"
            expected = f"plan {self.plan_digest} for {self.target}, which was approved"
            return Refusal(code="plan_moved", subject=subject, expected=expected, found=found, hint=LOOK_AGAIN)
        if now >= self.expires_at:
            found = f"one that ended at {self.expires_at:%F %T} UTC"
            return Refusal(code="approval_expired", subject=subject, expected="one in force", found=found,
                           hint=LOOK_AGAIN)  # fmt: skip
        return None


def named(text: str) -> tuple[str, ...]:
    """The digests of plans in a text with commas between them, each once; raises ValueError for anything else."""
    digests = tuple(dict.fromkeys(text.split(",")))
    for each in digests:
        if not DIGEST.fullmatch(each):
            raise ValueError(f"expected digests as sha256:…, with commas between, found {each!r}")
    return digests


def chosen(digests: Sequence[str], plans: Sequence[Plan]) -> dict[str, Plan] | tuple[Refusal, ...]:
    """The one plan of each host that its digest approves, or every reason why a host has none.

    + digests: those that were named
    + plans: every plan that could be carried out now; each host has at least one
    """
    approved = [each for each in plans if each.digest in digests]
    refusals = [_of_no_plan(digest, plans) for digest in digests if digest not in {each.digest for each in plans}]
    by_host: dict[str, list[Plan]] = {host: [] for each in plans for host in each.target.hosts}
    for each in approved:
        for host in each.target.hosts:
            by_host[host].append(each)
    for host, found in by_host.items():
        if len(found) > 1:
            refusals.append(
                Refusal(
                    code="approved_twice",
                    subject=host,
                    expected="one approved plan",
                    found=", ".join(f"{each.digest} for {each.target}" for each in found),
                )
            )
        elif not found and not refusals:
            refusals.append(not_approved(host))
    return tuple(refusals) or {host: found[0] for host, found in by_host.items()}


def not_approved(subject: str) -> Refusal:
    """The refusal of what nobody approved."""
    return Refusal(
        code="not_approved",
        subject=subject,
        expected="a plan that was approved",
        found="none",
        hint="look at the plan of a dry run, then say --data plan=sha256:… -y",
    )


def _of_no_plan(digest: str, plans: Sequence[Plan]) -> Refusal:
    return Refusal(
        code="plan_moved",
        subject=", ".join(dict.fromkeys(host for each in plans for host in each.target.hosts)),
        expected=f"plan {digest}, which was approved",
        found=", ".join(f"{each.digest} for {each.target}" for each in plans),
        hint=LOOK_AGAIN,
    )


def unapproved(planned: Sequence[Step] | None, step: Step, done: Collection[str] = frozenset()) -> Refusal | None:
    """Why a step may not be carried out; None where it is one of an approved plan.

    + planned: the steps that the plan has for the host; None where none was approved
    + done: the kinds of steps that this run has carried out on the host

    It must be the planned one in everything but its reason. Where a step that it `follows` was carried out before it in
    this run, our own hand has moved what it finds: then it must still *do* the same (`Step.act`). What it leaves is
    read back in either case.
    """
    if planned is None:
        return not_approved(step.subject)
    same = [each for each in planned if each.subject == step.subject and each.kind in {step.kind, *step.stands_for}]
    if not same:
        return _drifted(step, "nothing to be due here, as in the approved plan")
    if any(_is(each, step) for each in same):
        return None
    if any(step.follows & set(done) and each.act == step.act for each in same):
        return None
    return _drifted(step, f"{same[0].before} -> {same[0].after}, as in the approved plan")


def _is(planned: Step, step: Step) -> bool:
    return planned.replaced(reason=step.reason) == step


def _drifted(step: Step, expected: str) -> Refusal:
    found = f"{step.before} -> {step.after}"
    return Refusal(code="drifted", subject=step.subject, expected=expected, found=found, hint=LOOK_AGAIN)
