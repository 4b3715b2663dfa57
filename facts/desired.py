"""What a run has for a host besides what it sees there: the `roster` of its group_data, and what was drained."""

from typing import Any

from pyinfra.api import Host

from fleet.ollama.disrupt import Drained
from fleet.roster import Roster
from fleet.roster_error import RosterError


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
