"""What was seen before, from the files that `sparks observe` has kept."""

from collections.abc import Iterable

import click

from fleet.observation import Observation
from fleet.record import Unobserved
from fleet.roster import Roster
from lab.collect import unseen
from lab.command import Failed
from lab.plans.documents import Collection
from lab.plans.files import read_collection

_RESTS_ON = ("memory", "kernel", "machine", "ollama_residency")
"""What an answer about memory rests on."""


def read_seen(roster: Roster, source: str) -> Collection:
    """What is in one file; raises Failed for one that is none, and tells where it was seen for another roster."""
    collection = read_collection(source)
    if collection.roster_digest != roster.digest:
        click.echo(f"{source}: it was seen for another roster than this one", err=True)
    return collection


def kept(roster: Roster, hosts: Iterable[str], sources: Iterable[str]) -> dict[str, Observation]:
    """Each host as it is in one of the files; one that is in none was not observed. Raises Failed for one in two."""
    found: dict[str, tuple[str, Observation]] = {}
    for source in sources:
        for each in read_seen(roster, source).observations:
            if each.host in found:
                raise Failed(
                    f"{source}: expected each spark in one file, found {each.host} in {found[each.host][0]} too"
                )
            found[each.host] = source, each
    nowhere = Unobserved(reason="it is in no file of --from")
    return {host: found[host][1] if host in found else unseen(host, nowhere, _RESTS_ON) for host in hosts}
