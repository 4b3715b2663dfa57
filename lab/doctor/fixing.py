"""From findings to plan files: the planner of the scopes concerned, asked anew; nothing is carried out."""

from collections.abc import Iterable
from pathlib import Path

from fleet.doctor.finding import Finding
from fleet.plan import Plan
from fleet.target import Scope, Target
from lab.command import Failed
from lab.doctor.document import FixPlan
from lab.plans.documents import PlanDocument
from lab.plans.files import write
from lab.session import session


def fix_plans(inventory: str, findings: Iterable[Finding], folder: str) -> tuple[FixPlan, ...]:
    """A plan for each Spark and scope that something fixable was found in, each in a file of its own."""
    place = Path(folder)
    return tuple(_planned(inventory, host, scope, place) for host, scope in concerned(findings))


def concerned(findings: Iterable[Finding]) -> tuple[tuple[str, Scope], ...]:
    """Each Spark with each scope; one that another of its scopes includes is a part of that one's plan."""
    found = {(each.host, each.scope) for each in findings if each.host is not None and each.scope is not None}
    wide = {
        (host, scope)
        for host, scope in found
        if not any(name == host and other is not scope and other.includes(scope) for name, other in found)
    }
    return tuple(sorted(wide))


def make_folder(folder: str) -> None:
    """A folder for its owner alone, where there is none; raises Failed, before any host is asked."""
    place = Path(folder)
    try:
        place.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise Failed(f"{folder}: expected a folder for plans, found {error.strerror}") from error


def _planned(inventory: str, host: str, scope: Scope, place: Path) -> FixPlan:
    target = Target(name=host, kind="spark", hosts=(host,))
    with session(inventory, target, scope) as looked:
        outcome = looked.plan
    if not isinstance(outcome, Plan):
        return FixPlan(host=host, scope=scope, refusals=outcome.refusals)
    if outcome.is_noop:
        return FixPlan(host=host, scope=scope, plan=outcome.digest)
    file = str(place / f"{host}-{scope}.json")
    write(file, PlanDocument.of(outcome))
    return FixPlan(host=host, scope=scope, file=file, plan=outcome.digest)
