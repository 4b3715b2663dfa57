"""What a run says of memory: by what its loads were admitted, and afterwards the evidence that they have fitted."""

from pathlib import Path

import click

from deploys.maker import maker
from fleet.evidence import FitEvidence
from fleet.fit.admission import By
from fleet.instant import utc_now
from fleet.ollama.subject import Occasion, fit_evidence
from fleet.plan import Plan
from fleet.receipt.acts import Admitted, Evidenced
from fleet.receipt.events import Note
from fleet.refusal import Refusal
from fleet.roster import Roster
from lab.command import Failed, Refused
from lab.evidence.store import put, read_store
from lab.receipts.journal import Journal
from lab.session import Session


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


def keep_evidence(journal: Journal, folder: Path, first: Session, again: Session) -> None:
    """Keep that what the run has loaded fitted, once it is well; of what has evidence already, no more.

    What stands in the way of keeping it is told, and changes nothing about the run.
    """
    assert isinstance(first.plan, Plan), "expected a plan that was carried out"
    for host in loading(first.plan):
        try:
            kept = _kept(folder, _evidence(first, again, host, journal.name))
        except Failed as error:
            text = f"no evidence of its fit was kept: {error.message}"
            journal.say(Note(host=host, text=text))
            click.echo(f"{host}: {text}", err=True)
            continue
        if kept is not None:
            journal.say(Evidenced(host=host, subject=kept.subject.digest, evidence=kept.digest))


def _evidence(first: Session, again: Session, host: str, receipt: str) -> FitEvidence:
    desired = again.run.roster.desired_for(host).ollama
    assert desired is not None, "expected a deployment where something was loaded"
    occasion = Occasion(deployment=served_on(again.run.roster, host), at=utc_now(), by=maker(), receipt=receipt)
    made = fit_evidence(desired, first.run.collection[host], again.run.collection[host], occasion)
    if isinstance(made, Refusal):
        raise Refused(str(made))
    return made


def _kept(folder: Path, evidence: FitEvidence) -> FitEvidence | None:
    """The evidence, newly kept; None where there is some of the same subject."""
    if evidence.subject.digest in read_store(folder).by_subject():
        return None
    put(folder, evidence)
    return evidence


def served_on(roster: Roster, host: str) -> str:
    """The name of the deployment of a Spark."""
    return next(name for name, deployment in roster.deployments.items() if deployment.spark == host)
