"""What doctor says, for a terminal: a line for each finding, what would help below it, and a summary."""

from collections import Counter
from collections.abc import Iterator

import click

from fleet.doctor.finding import Finding, Level
from fleet.record import short
from lab.doctor.document import DoctorDocument, FixPlan
from lab.map.words import printable

_COLOURS = {Level.ERROR: "red", Level.WARN: "yellow", Level.INFO: "cyan"}


def shown(document: DoctorDocument) -> str:
    """All of a visit, with colours in it (`click.unstyle` takes them out)."""
    lines = [line for finding in document.findings for line in _finding(finding)]
    plans = [line for each in document.plans for line in _plan(each)]
    return "\n".join([*lines, _summary(document), *plans, ""])


def _finding(finding: Finding) -> Iterator[str]:
    said = _one_line(f"{finding.subject}: expected {finding.expected}, found {finding.found}")
    yield f"{click.style(finding.level, fg=_COLOURS[finding.level], bold=True)} {finding.id} {said}"
    yield from (f"  {printable(line.strip())}" for line in (finding.fix or "").splitlines())


def _one_line(text: str) -> str:
    return short(printable(" ".join(text.split())))


def _summary(document: DoctorDocument) -> str:
    counts = Counter(each.level for each in document.findings)
    parts = [f"{counts[level]} {level}" for level in reversed(Level) if counts[level]]
    where = f"{len(document.hosts)} {'Spark' if len(document.hosts) == 1 else 'Sparks'}"
    asked = where if document.hosts else "the roster alone, no host"
    return f"{', '.join(parts) or 'nothing found'}; asked: {asked}"


def _plan(plan: FixPlan) -> Iterator[str]:
    about = f"{plan.host} {plan.scope}"
    if plan.file is not None:
        yield f"{about}: sparks apply {plan.file}"
    elif plan.plan is not None:
        yield f"{about}: nothing is due any more"
    else:
        yield f"{about}: no plan: {len(plan.refusals)} in the way"
        yield from (f"  {printable(line)}" for each in plan.refusals for line in str(each).splitlines())
