"""What a run says of memory: by what its loads were admitted, and afterwards the evidence that they have fitted."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from deploys.maker import maker
from fleet.evidence import FitEvidence
from fleet.fit.admission import By
from fleet.instant import utc_now
from fleet.observation import Observation
from fleet.ollama.measured import Occasion, fit_evidence
from fleet.plan import Plan
from fleet.receipt.acts import Admitted, Evidenced, Refuted
from fleet.receipt.events import Note
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.target import Target
from lab.command import Failed, Refused
from lab.evidence.store import put, read_store
from lab.receipts.journal import Journal
from lab.session import Session

Measured = Mapping[str, Observation]
"""By host."""
NOT_MEASURED: Measured = {}


def say_admitted(journal: Journal, plan: Plan) -> None:
    """Write down by what each load is admitted, before any is begun."""
    for host in loading(plan):
        word = plan.host(host).memory_fit
        assert word is not None, "expected a word for each host that loads"
        journal.say(Admitted(host=host, subject=word.subject, evidence=word.evidence))


def loading(plan: Plan) -> tuple[str, ...]:
    """The hosts on which something is loaded whose memory is declared."""
    by = (By.EVIDENCE, By.FIRST_TIME)
    return tuple(each.host for each in plan.hosts if each.memory_fit is not None and each.memory_fit.by in by)


def admits_first(plan: Plan) -> bool:
    """Is anything in a plan to be loaded for a first time?"""
    return any(each.memory_fit is not None and each.memory_fit.by is By.FIRST_TIME for each in plan.hosts)


def measured(plan: Plan, session: Session) -> Measured:
    """What every instrument says of the hosts on which something is to be loaded, before it is."""
    return {host: session.measured(host) for host in loading(plan)}


def keep_evidence(journal: Journal, folder: Path, before: Measured, again: Session) -> None:
    """Keep that what the run has loaded fitted, once it is well; of what has evidence already, no more.

    What stands in the way of keeping it is told, and changes nothing about the run.
    """
    for host in before:
        kept = _kept(journal, folder, before, again, host)
        if kept is not None:
            journal.say(Evidenced(host=host, subject=kept.subject.digest, evidence=kept.digest))


def keep_refuted(journal: Journal, folder: Path, before: Measured, first: Session, refusals: Iterable[Refusal]) -> None:
    """Keep that what the run was to load did not fit, where its engine has said so.

    + first: the session of the run, whose hosts are connected still
    """
    said = {each.subject.split(" ")[0]: each.found for each in refusals if each.code == "did_not_fit"}
    for host in before:
        kept = _kept(journal, folder, before, first, host, said[host]) if host in said else None
        if kept is not None:
            journal.say(Refuted(host=host, subject=kept.subject.digest, evidence=kept.digest))


def _kept(
    journal: Journal, folder: Path, before: Measured, now: Session, host: str, said: str | None = None
) -> FitEvidence | None:
    """The evidence, newly kept; None where it says nothing new, or could not be kept."""
    roster = now.run.roster
    desired = roster.desired_for(host).ollama
    assert desired is not None, "expected a deployment where something was to be loaded"
    occasion = Occasion(
        deployment=served_on(roster, host), at=utc_now(), by=maker(), receipt=journal.name, said=said
    )  # fmt: skip
    try:
        made = fit_evidence(desired, before[host], now.measured(host), occasion)
        if isinstance(made, Refusal):
            raise Refused(str(made))
        return _put(folder, made)
    except Failed as error:
        text = f"no evidence of its fit was kept: {error.message}"
        journal.say(Note(host=host, text=text))
        click.echo(f"{host}: {text}", err=True)
        return None


def _put(folder: Path, made: FitEvidence) -> FitEvidence | None:
    known = read_store(folder).admission
    if made.subject.digest in (known.evidence if made.fitted else known.refuted):
        return None
    put(folder, made)
    return made


def served_on(roster: Roster, host: str) -> str:
    """The name of the deployment of a Spark."""
    return next(name for name, deployment in roster.deployments.items() if deployment.spark == host)


def serving(roster: Roster, target: Target) -> tuple[str, ...]:
    """The Sparks of a target that serve: of a deployment not those that it is copied from; all where none does."""
    return tuple(host for host in target.hosts if roster.desired_for(host).ollama is not None) or target.hosts
