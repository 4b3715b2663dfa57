"""The command `sparks doctor`."""

from collections.abc import Iterable
from difflib import get_close_matches

import click

from fleet.doctor.examine import examine_measured
from fleet.doctor.explain import every_id, explained
from fleet.doctor.finding import Finding, Level, in_order
from fleet.instant import utc_now
from lab.collect import roster_of
from lab.command import PENDING, REFUSED, Failed, inventory_option, timeout_option
from lab.converge import target_named
from lab.doctor.document import DoctorDocument
from lab.doctor.fixing import fix_plans, make_folder
from lab.doctor.measured import read_measured
from lab.doctor.text import shown
from lab.doctor.visit import visit, visit_site
from lab.document import put_document
from lab.output import STANDARD, put
from lab.receipts.command import json_option

_STATUS = {Level.ERROR: REFUSED, Level.WARN: PENDING, Level.INFO: 0, None: 0}


@click.command()
@click.argument("targets", nargs=-1, metavar="[TARGET]…")
@click.option("--static", is_flag=True, help="The roster and what this machine keeps; no host is asked.")
@click.option("--slow", is_flag=True, help="Ask also what takes long: in how many pieces the files of models lie.")
@click.option("--explain", "explains", metavar="ID", help="What an id means, why it matters, what to do; then end.")
@click.option("--fix-plan", "folder", metavar="DIR",
              help="Plan what can be mended: a file for each Spark and scope for `sparks apply`.")  # fmt: skip
@click.option("--bandwidth", metavar="FILE", help="Judge also what sparks bandwidth --json has measured, kept in FILE.")
@timeout_option
@json_option
@inventory_option
def doctor(
    targets: tuple[str, ...],
    static: bool,
    slow: bool,
    explains: str | None,
    folder: str | None,
    bandwidth: str | None,
    seconds: float,
    as_json: bool,
    inventory: str,
) -> None:
    """Tell what is wrong with each TARGET, a Spark or a deployment; without one, of the site and each enrolled Spark.

    Every host is looked at once, all at the same time, and nothing is changed. Exit status 0 when nothing is worse
    than INFO, 2 when something is a WARN, 3 when something is an ERROR, as a host that did not answer; 1 when doctor
    itself failed.
    """
    if explains is not None:
        if as_json:
            raise click.UsageError("--explain: expected it without --json, found both")
        put(STANDARD, _explained(explains))
        return
    if static and (targets or folder is not None):
        raise click.UsageError("--static: expected neither a TARGET nor --fix-plan beside it, since no host is asked")
    if folder is not None:
        make_folder(folder)
    measured = () if bandwidth is None else examine_measured(read_measured(bandwidth))
    hosts = () if static else _hosts(inventory, targets)
    found = (*measured, *(() if targets else visit_site(inventory)))
    document = _visited(inventory, hosts, found, slow, seconds, folder)
    if as_json:
        put_document(document)
    else:
        put(STANDARD, shown(document))
    if status := _STATUS[document.level]:
        raise SystemExit(status)


def _visited(
    inventory: str, hosts: tuple[str, ...], found: tuple[Finding, ...], slow: bool, seconds: float, folder: str | None
) -> DoctorDocument:
    now = utc_now()
    findings = in_order((*found, *(visit(inventory, hosts, seconds, slow) if hosts else ())))
    plans = () if folder is None else fix_plans(inventory, findings, folder)
    return DoctorDocument.of(hosts, findings, plans, now)


def _hosts(inventory: str, targets: Iterable[str]) -> tuple[str, ...]:
    """The Sparks of these targets, each once; every enrolled one where none is given."""
    named = [host for each in targets for host in target_named(inventory, each).hosts]
    return tuple(dict.fromkeys(named)) or roster_of(inventory).enrolled


def _explained(id: str) -> str:
    text = explained(id)
    if text is None:
        near = get_close_matches(id, every_id(), 3, 0.5)
        near = near or [each for each in every_id() if id in each][:5]
        known = f"one of {len(every_id())} ids" + (f", as {', '.join(near)}" if near else "")
        raise Failed(f"{id}: expected {known}, found none of that name; docs/reference/doctor.md has them all")
    return text
