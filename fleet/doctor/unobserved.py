"""What could not be looked at, as findings: never silence."""

from collections.abc import Iterator

from fleet.doctor.check import Host
from fleet.doctor.finding import Finding, Level
from fleet.ledger import residency
from fleet.observation import NOT_LOOKED
from fleet.record import Unobserved

HOST, SECTION = "unobserved.host", "unobserved.section"
_ONLY_WHERE_USED = {"containers": "containers"}
"""Sections that matter where something of theirs runs, by what the ledger calls them."""


def unobserved(asked: Host) -> Iterator[Finding]:
    """A finding for a host of which nothing was seen; else one for each section that could not be."""
    name, seen = asked.desired.name, asked.seen
    if blind := seen.blind:
        yield Finding(level=Level.ERROR, id=HOST, host=name, subject=name, expected=blind.expected, found=blind.found,
                      fix=f"{asked.ssh or f'ssh {name}'} sudo -n true")  # fmt: skip
        return
    for section in type(seen).model_fields:
        found = getattr(seen, section)
        if isinstance(found, Unobserved) and found != NOT_LOOKED:
            subject = f"{name} {section.replace('_', ' ')}"
            yield Finding(level=_level(section, asked), id=SECTION, host=name, subject=subject,
                          expected="an observation", found=found.reason)  # fmt: skip


def _level(section: str, asked: Host) -> Level:
    """Docker that is not there is no fault where nothing runs in a container."""
    if section not in _ONLY_WHERE_USED or isinstance(asked.seen.processes, Unobserved):
        return Level.ERROR
    missed = {each.part for each in residency(asked.desired, asked.seen).unobserved}
    return Level.ERROR if _ONLY_WHERE_USED[section] in missed else Level.INFO
