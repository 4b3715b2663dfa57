"""What a run has for a host besides what it sees there: the `roster` of its group_data, what was drained, what fits."""

from typing import Any

from pyinfra.api import Host

from fleet.fit.admission import Admission
from fleet.ollama.disrupt import Drained
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.roster_error import RosterError
from fleet.target import target_of


def roster_for(host: Host) -> Roster:
    """The roster of a host's site; raises RosterError with every complaint, also where there is none."""
    values: Any = host.data.get("roster")
    source = f"group_data of {', '.join(host.groups)}"
    if values is None:
        raise RosterError([f"{source}: roster: expected a value, found none"])
    return Roster.read(values, source)


def drained_for(host: Host) -> Drained:
    """Digests of the serving processes that were drained, as the site has read them from its receipts."""
    return frozenset(host.data.get("drained") or ())


def admission_for(host: Host) -> Admission:
    """What has fitted, as the site has read its evidence, and what `--data admit=…` names for a first time.

    Raises RosterError for a name that is neither a Spark nor a deployment of the roster.
    """
    named = host.data.get("admit")
    names = [] if named is None else str(named).split(",")
    targets = [target_of(roster_for(host), name) for name in names]
    refusals = [f"--data admit: {each}" for each in targets if isinstance(each, Refusal)]
    if refusals:
        raise RosterError(refusals)
    first = frozenset(name for each in targets if not isinstance(each, Refusal) for name in each.hosts)
    known = {"evidence": host.data.get("evidenced") or {}, "refuted": host.data.get("refuted") or {}}
    return Admission(first=first, **known)
