"""Clients ask while a run is at work: what it has started itself is its own to load as declared."""

from pathlib import Path

import pytest

from fleet.observation import known
from fleet.ollama.observed import ModelStore
from tests.fleet.ollama import host as ollama_host
from tests.simulated.controller import Ran
from tests.simulated.matrix import DONE
from tests.simulated.site import TARGET, Natively, Site
from tests.simulated.world import World


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def asked_at_once(site: Site) -> World:
    """Whatever runs is asked for the declared model at once, with another context."""
    world = site.world()
    spark = world.sparks[TARGET]
    spark.asked_for = (ollama_host.loaded(context_length=4096),)
    spark.change(ollama_models=ModelStore(source="api", models=(ollama_host.HELD,)))
    return world


def converge(site: Site, world: World) -> Ran:
    operator = Natively(site)
    looked = operator.look(world)
    return operator.carry_out(looked.ran.world.next_run(), looked)


def test_what_clients_load_into_the_process_that_the_run_started_is_loaded_as_declared(site: Site) -> None:
    ran = converge(site, asked_at_once(site))
    assert ran.status == DONE, ran.said
    spark = ran.world.sparks[TARGET]
    assert [each.context_length for each in known(spark.seen.ollama_residency).residents] == [8192]
