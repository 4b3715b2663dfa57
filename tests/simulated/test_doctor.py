"""`sparks doctor` as it is typed, on simulated Sparks: one look for each host, nothing written, plans that mend."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lab.command import PENDING, REFUSED
from lab.schemas import schema
from tests.simulated.controller import Ran, run
from tests.simulated.site import Site
from tests.simulated.world import World


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def doctor(site: Site, world: World, *arguments: str) -> Ran:
    return run(world, site.folder, "sparks", "doctor", *arguments, "-i", str(site.inventory))


def document(ran: Ran) -> dict[str, Any]:
    found: dict[str, Any] = json.JSONDecoder().raw_decode(ran.said[ran.said.index("{\n") :])[0]
    Draft202012Validator(schema("doctor")).validate(found)
    return found


def ids(found: dict[str, Any], host: str) -> set[str]:
    return {each["id"] for each in found["findings"] if each["host"] == host}


def test_every_host_is_looked_at_once_and_none_is_changed(site: Site) -> None:
    world = site.world()
    before = {name: spark.settled() for name, spark in world.sparks.items()}
    ran = doctor(site, world, "--json")
    found = document(ran)
    assert sorted(ran.world.commands) == ["a look", "b look"]
    assert {name: spark.settled() for name, spark in ran.world.sparks.items()} == before
    assert found["hosts"] == ["a", "b"]
    assert {"due.write_document", "due.activate"} <= ids(found, "a")
    assert (ran.status, found["level"]) == (REFUSED, "ERROR"), "no key of theirs is pinned"


def test_a_host_that_is_silent_and_one_without_sudo_are_errors(site: Site) -> None:
    world = site.world()
    world.sparks["a"].is_up = False
    world.sparks["b"].has_sudo = False
    ran = doctor(site, world, "a", "b")
    assert ran.status == REFUSED
    assert "ERROR unobserved.host a: expected an observation, found no answer over SSH: Could not connect" in ran.said
    assert "ERROR unobserved.host b: expected an observation, found expected sudo without a password" in ran.said


def test_what_it_plans_is_what_apply_carries_out_and_then_nothing_is_due(site: Site, tmp_path: Path) -> None:
    plans = tmp_path / "plans"
    ran = doctor(site, site.world(), "a", "--fix-plan", str(plans))
    (file,) = plans.iterdir()
    assert (ran.status, file.name, file.stat().st_mode & 0o777) == (PENDING, "a-serve.json", 0o600), ran.said
    assert f"a serve: sparks apply {file}\n" in ran.said
    assert not [each for each in ran.world.commands if not each.endswith("look")], "nothing is carried out"
    applied = run(ran.world.next_run(), site.folder, "sparks", "apply", str(file), "-i", str(site.inventory),
                  "--receipts", str(site.receipts))  # fmt: skip
    assert applied.status == 0, applied.said
    again = doctor(site, applied.world.next_run(), "a", "--json", "--fix-plan", str(plans))
    found = document(again)
    assert (again.status, found["level"], found["plans"]) == (0, None, [])
