"""What a decision about one Spark needs to know of the others in the same run. Pure."""

from collections.abc import Mapping

from fleet.observation import Observation
from fleet.record import Record
from fleet.roster import Roster


class Beside(Record):
    """The other Sparks of a run, as far as they matter to one."""

    hosts: frozenset[str] = frozenset()
    """Their names: what moves away from this one goes to one of these, or not now."""


ALONE = Beside()
"""A Spark that is decided about by itself."""


def beside(roster: Roster, name: str, collection: Mapping[str, Observation]) -> Beside:
    """What the others in a collection mean to a Spark."""
    return Beside(hosts=frozenset(collection) - {name})
