"""One visit of doctor: the roster, what this machine keeps, and every host at the same time, one round trip each."""

from pathlib import Path

from facts.needs_doctor import doctor_looks, slow_looks
from fleet.doctor.check import Host, Site
from fleet.doctor.checks_receipts import Kept
from fleet.doctor.checks_together import Together
from fleet.doctor.examine import examine, examine_kept, examine_site, examine_together
from fleet.doctor.finding import Finding, in_order
from lab.collect import collect, hosts_of, roster_of
from lab.command import Failed
from lab.doctor.reach import reached, ssh_command
from lab.evidence.store import admission_in
from lab.place import EVIDENCE, RECEIPTS
from lab.receipts.drained import drained_in
from lab.receipts.ledger import read_folder


def visit_site(inventory: str) -> tuple[Finding, ...]:
    """What there is to say without any host. Raises Failed for a roster that cannot be."""
    roster = roster_of(inventory)
    try:
        asked = Site(roster, reached(hosts_of(inventory, roster.enrolled)))
    except Failed as error:
        asked = Site(roster, unread=str(error))
    return in_order((*examine_site(asked), *examine_kept(_kept(RECEIPTS.folder(None, inventory)))))


def visit(inventory: str, hosts: tuple[str, ...], seconds: float, slow: bool = False) -> tuple[Finding, ...]:
    """What there is to say of some hosts.

    + slow: with what takes a host seconds to minutes
    """
    roster = roster_of(inventory)
    drained = drained_in(RECEIPTS.folder(None, inventory))
    admission = admission_in(EVIDENCE.folder(None, inventory))
    seen = collect(inventory, hosts, slow_looks if slow else doctor_looks, seconds)
    ways = {name: ssh_command(each) for name, each in hosts_of(inventory, hosts).items()}
    found = [examine(Host(roster.desired_for(name), seen[name], drained, admission, ways[name])) for name in hosts]
    return in_order(each for findings in (examine_together(Together(roster, seen)), *found) for each in findings)


def _kept(folder: Path) -> Kept:
    """A site in which nothing was ever run has no folder."""
    if not folder.exists():
        return Kept((), ())
    ledger = read_folder(folder)
    return Kept(ledger.receipts, ledger.faults)
