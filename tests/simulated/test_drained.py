"""A drain counts where its receipt is, and for a plan from an observation as it counted when the host was looked at."""

import json
from pathlib import Path

import pytest

from fleet.observation import known
from fleet.outcome import Outcome
from fleet.receipt import acts
from fleet.receipt.events import Opening
from lab.receipts.journal import opened
from tests.fleet.ollama import host as ollama_host
from tests.simulated.controller import Ran, run
from tests.simulated.matrix import REFUSED
from tests.simulated.site import TARGET, Site
from tests.simulated.world import World

PENDING = 2


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def serving(site: Site) -> World:
    """Ollama as it comes, and somebody has a model loaded."""
    world = site.world()
    spark = world.sparks[TARGET]
    loaded = ollama_host.loaded(name="stranger:1")
    running = known(spark.seen.invocation).replaced(models=(loaded.name,))
    residency = known(spark.seen.ollama_residency).replaced(residents=(loaded,))
    spark.change(invocation=running, ollama_residency=residency)
    return world


def drain(site: Site, world: World) -> None:
    process = known(world.sparks[TARGET].seen.invocation).invocation
    assert process is not None
    with opened(site.receipts, Opening(kind="drain", target=TARGET, hosts=(TARGET,), command=())) as journal:
        quiet = acts.Drained(host=TARGET, runtime="ollama", invocation=process.digest, instrument="connections",
                             idle_seconds=30, admitting=True)  # fmt: skip
        journal.say(quiet)
        journal.close(Outcome.DRAINED)


def sparks(site: Site, world: World, *arguments: str) -> Ran:
    return run(world, site.folder, "sparks", *arguments, "-i", str(site.inventory))


def test_it_is_kept_with_what_was_seen(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARKS_RECEIPTS", str(site.receipts))
    before, after = str(tmp_path / "before.json"), str(tmp_path / "after.json")
    assert sparks(site, serving(site), "observe", TARGET, "-o", before).status == 0
    world = serving(site)
    drain(site, world)
    assert sparks(site, world, "observe", TARGET, "-o", after).status == 0
    assert [len(json.loads(Path(each).read_text())["collection"]["drained"]) for each in (before, after)] == [0, 1]
    monkeypatch.delenv("SPARKS_RECEIPTS")
    undrained, drained = (sparks(site, serving(site), "plan", TARGET, "--from", each) for each in (before, after))
    assert (undrained.status, "[drain_needed]" in undrained.said) == (REFUSED, True), undrained.said
    assert drained.status == PENDING, drained.said
