"""The routes of a rail's document are part of what is active: the kernel has them all, and no others of a profile."""

import pytest

from fleet.link_route import LinkRoute
from fleet.rail_active import Activate, active_step
from tests.fleet import observed, shapes

NAMES = shapes.NAMES[:4]
RING = {"shape": "ring", "cables": shapes.round_trip(NAMES), "pool": "10.0.0.0/16", "transit": True}
DESIRED = shapes.site(NAMES, ring=RING).desired_for(NAMES[0])
END = next(end for end in DESIRED.rail_ends if end.routes)
DONE = observed.as_desired(DESIRED.rail_ends, DESIRED.name)
OWN = observed.link_of(END)
OTHER = LinkRoute(to="10.250.0.0/24", via="10.250.1.1")


def test_with_its_routes_nothing_is_due() -> None:
    assert active_step(END, DONE) is None


@pytest.mark.parametrize("routes", [(), (*OWN.routes, OTHER), (OTHER,)])
def test_a_route_too_few_or_too_many_is_due(routes: tuple[LinkRoute, ...]) -> None:
    """So transit that is asked for on a ring that is up, or not any more, needs no reboot."""
    step = active_step(END, observed.with_link(DONE, OWN.replaced(routes=routes)))
    assert isinstance(step, Activate)


def test_a_document_without_routes_takes_those_away_that_are_there() -> None:
    step = active_step(END.replaced(routes=()), DONE)
    assert isinstance(step, Activate)
    assert step.after == "routes none"
