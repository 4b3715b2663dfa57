"""Somebody else's lock on the host: nothing is written beside it, in a dry run or not, and it is told."""

import pytest

from fleet.lock_text import lock_head
from tests.fleet.test_lock import DESK
from tests.simulated.controller import Ran
from tests.simulated.matrix import REFUSED
from tests.simulated.site import TARGET, Site
from tests.simulated.spark import boot_id
from tests.simulated.world import World

SESSION = 77
THEIRS = (
    f"{lock_head('theirs', None, DESK)}from 10.0.0.9\nsince 2026-12-01 10:00:00 UTC\nboot {boot_id(1)}\n"
    f"holder {SESSION} {SESSION}\n"
)


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(tmp_path_factory.mktemp("site"))


def locked(site: Site, lives: bool) -> World:
    """The Sparks as they come, but for a lock of somebody on another machine."""
    world = site.world()
    world.sparks[TARGET].lock = THEIRS
    world.sparks[TARGET].sessions |= {SESSION} if lives else set()
    return world


def untouched(ran: Ran) -> bool:
    return set(ran.world.commands) == {"a look"} and ran.world.sparks[TARGET].lock == THEIRS


@pytest.mark.parametrize(("lives", "said"), [
    (True, f"its process {SESSION} on the host lives [locked]\n  wait for its end"),
    (False, f"its process {SESSION} on the host is gone [locked]\n  sparks unlock a --owner ada@desk"),
])  # fmt: skip
def test_it_is_told_whose_it_is_and_what_helps(site: Site, lives: bool, said: str) -> None:
    whose = "refused: a lock: expected no other run on this host, found one of ada@desk from 10.0.0.9"
    converge = site.sparks(locked(site, lives))
    dry = site.pyinfra(locked(site, lives), "--dry")
    assert (converge.status, dry.status) == (REFUSED, 1)
    assert whose in converge.said
    assert all(said in ran.said and untouched(ran) for ran in (converge, dry))


@pytest.mark.parametrize("at", [1, 2])
def test_who_comes_between_the_plan_and_the_first_change_is_found(site: Site, at: int) -> None:
    """Two operators with an approved plan each: the second comes as the first is at work."""
    looked = site.sparks(site.world())
    world = looked.world.next_run()
    world.locks_at = (at, THEIRS, SESSION)
    (plan,) = {line.split()[1] for line in looked.said.splitlines() if line.startswith("plan ")}
    ran = site.sparks(world, "--yes", "--plan", plan)
    assert ran.status == REFUSED, ran.said
    assert "found one of ada@desk" in ran.said
    assert ran.world.sparks[TARGET].lock == THEIRS
    assert not ran.world.parts, "no step was carried out"
