"""The roster that a run has for a host: the `roster` value of its group_data."""

from typing import Any

from pyinfra.api import Host

from fleet.roster import Roster
from fleet.roster_error import RosterError


def roster_for(host: Host) -> Roster:
    """The roster of a host's site; raises RosterError with every complaint, also where there is none."""
    values: Any = host.data.get("roster")
    source = f"group_data of {', '.join(host.groups)}"
    if values is None:
        raise RosterError([f"{source}: roster: expected a value, found none"])
    return Roster.read(values, source)
