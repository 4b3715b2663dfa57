"""A deployment moves from one simulated Spark to another: it is stopped where it was once it answers where it goes."""

import re
from pathlib import Path

import pytest

from fleet.observation import known
from fleet.roster import Roster
from tests.deploys.site import VALUES
from tests.fleet.ollama import host as ollama_host
from tests.simulated.controller import Ran, run
from tests.simulated.faults import Fault, Kind
from tests.simulated.matrix import DONE, FAILED
from tests.simulated.site import Site
from tests.simulated.spark import SimulatedSpark
from tests.simulated.world import World

CHAT = VALUES["deployments"]["chat"]
PLAN = re.compile(r"--plan (sha256:[0-9a-f]{64})")


def site(folder: Path, **changes: object) -> Site:
    return Site(folder, moved(**changes))


def moved(**changes: object) -> dict[str, object]:
    return VALUES | {"deployments": {"chat": CHAT | {"spark": "b", "moved_from": "a"} | changes}}


def world(**changes: object) -> World:
    """a serves, by a run of ours; b has Ollama as it comes."""
    before, after = Roster.read(VALUES, "before"), Roster.read(moved(**changes), "after")
    sparks = {name: SimulatedSpark.as_it_comes(after.desired_for(name)) for name in ("a", "b")}
    served = ollama_host.seen()
    a = sparks["a"]
    process = a.new_process()
    a.change(
        ollama_service=served.ollama_service,
        ollama_models=served.ollama_models,
        ollama_residency=served.ollama_residency,
        invocation=ollama_host.running(known(served.ollama_service), known(served.ollama_residency), process),
        generation=ollama_host.stamped(process),
    )
    assert before.desired_for("a").ollama is not None
    return World(sparks)


def converge(site: Site, world: World, fault: Fault | None = None) -> Ran:
    """Look at the plan of the deployment, and carry it out."""
    command = ("sparks", "converge", "chat", "-i", str(site.inventory), "--receipts", str(site.receipts))
    looked = run(world, site.folder, *command)
    found = PLAN.search(looked.said)
    assert found is not None, looked.said
    return run(looked.world.next_run(fault), site.folder, *command, "--yes", "--plan", found[1])


def acts(ran: Ran) -> list[str]:
    return [each for each in ran.world.commands if " ollama_" in each]


def is_served(ran: Ran, name: str) -> bool:
    return bool(known(ran.world.sparks[name].seen.ollama_residency).residents)


@pytest.mark.parametrize("stop_first", [False, True])
def test_it_starts_there_and_stops_here_or_the_other_way_round(tmp_path: Path, stop_first: bool) -> None:
    ran = converge(site(tmp_path, stop_first=stop_first), world(stop_first=stop_first))
    assert ran.status == DONE, ran.said
    starts, stops = ["b ollama_service", "b ollama_pull", "b ollama_load"], ["a ollama_retire"]
    assert acts(ran) == (stops + starts if stop_first else starts + stops)
    assert (is_served(ran, "a"), is_served(ran, "b")) == (False, True)


def test_it_is_not_stopped_where_it_was_while_it_does_not_answer_where_it_goes(tmp_path: Path) -> None:
    found = world()
    found.sparks["b"].answers = False
    ran = converge(site(tmp_path), found)
    assert ran.status == FAILED, ran.said
    assert "expected an answer of one token, before it is stopped where it was" in ran.said
    assert "a ollama_retire" not in acts(ran)
    assert is_served(ran, "a")


def test_it_is_not_stopped_where_it_was_when_it_does_not_start(tmp_path: Path) -> None:
    ran = converge(site(tmp_path), world())
    load = ran.world.commands.index("b ollama_load")
    again = converge(site(tmp_path / "again"), world(), Fault(Kind.LOST, load))
    assert again.status == FAILED, again.said
    assert "a ollama_retire" not in acts(again)
    assert is_served(again, "a")


def test_its_models_come_over_the_rail_from_where_it_was(tmp_path: Path) -> None:
    found = world()
    a = found.sparks["a"]
    a.change(ollama_models=known(a.seen.ollama_models).replaced(directory="/usr/share/ollama/.ollama/models"))
    b = found.sparks["b"]
    b.change(ollama_models=known(b.seen.ollama_models).replaced(directory="/usr/share/ollama/.ollama/models"))
    ran = converge(site(tmp_path), found)
    assert ran.status == DONE, ran.said
    assert acts(ran) == ["b ollama_service", "a ollama_offer", "b ollama_copy", "b ollama_load", "a ollama_retire"]
    assert "t0ken" not in ran.said
