"""Each state that a server of models can be in, on a virtual Spark that serves: what a plan says of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.control import INVENTORY, ask, faults, on, sparks

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.nightly, pytest.mark.timeout(3600)]

MODEL, CONTEXT = "qwen3:0.6b", 8192
ANOTHER = "llama3.2:1b"
AS_DESIRED, PENDING, REFUSED, FAILED = 0, 2, 3, 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("states")


def applied(name: str, folder: Path) -> tuple[int, str]:
    """The plan of now, carried out."""
    plan = folder / "plan.json"
    plan.unlink(missing_ok=True)
    found = sparks("plan", name, "-i", INVENTORY, "-o", str(plan))
    assert found.returncode in (AS_DESIRED, PENDING), found.stderr
    done = sparks("apply", str(plan), "-i", INVENTORY, "--receipts", str(folder / "receipts"))
    return done.returncode, done.stdout + done.stderr


def planned(name: str) -> tuple[int, str]:
    found = sparks("plan", name, "-i", INVENTORY)
    said = found.stdout + found.stderr
    assert "Traceback" not in said
    return found.returncode, " ".join(said.split())


@pytest.fixture(scope="module")
def served(lab: "Lab", folder: Path) -> Iterator["Lab"]:
    """The first Spark from blank to serving, and nothing left to do."""
    lab.reset()
    name = lab.state.machines[0].name
    status, said = applied(name, folder)
    assert status == AS_DESIRED, said
    assert planned(name)[0] == AS_DESIRED
    yield lab
    lab.reset()


@pytest.fixture
def spark(served: "Lab") -> Iterator[str]:
    """Serving as declared, before each test and after the last one."""
    name = served.state.machines[0].name
    reloaded(served, name)
    yield name
    faults(served, name)


def reloaded(lab: "Lab", name: str, **kinds: str) -> None:
    """Loaded anew as the roster says, by a server that has these faults."""
    faults(lab, name, **kinds)
    ask(lab, name, "generate", model=MODEL, keep_alive=0)
    ask(lab, name, "generate", model=MODEL, keep_alive=-1, options={"num_ctx": CONTEXT})


STATES: tuple[tuple[dict[str, str], int, str], ...] = (
    ({"processor": "cpu"}, REFUSED, "100% CPU"),
    ({"processor": "partial"}, REFUSED, "50%/50% CPU/GPU"),
    ({"context": "4096"}, PENDING, "context 4096, kept forever -> context 8192, kept forever"),
    ({"expiry": "past"}, PENDING, "kept for a time that runs down -> context 8192, kept forever"),
    ({"expiry": "far"}, PENDING, "kept for a time that runs down -> context 8192, kept forever"),
    ({"ps": "late", "tags": "late"}, AS_DESIRED, "nothing is due"),
    ({"tags": "500"}, REFUSED, "/api/tags: status 500: model list cache unavailable"),
    ({"tags": "garbage"}, REFUSED, "expected JSON, found '<html>"),
    ({"ps": "garbage"}, REFUSED, "expected JSON, found '<html>"),
    ({"ps": "close"}, REFUSED, "/api/ps: remote end closed connection"),
    ({"ps": "hang"}, REFUSED, "/api/ps: no answer in 5 s"),
)
"""The faults of a server, how a plan ends, and what it tells."""


@pytest.mark.parametrize(("kinds", "status", "told"), STATES, ids=[json.dumps(kinds) for kinds, *_ in STATES])
def test_each_way_to_serve_wrong_has_its_plan(
    served: "Lab", spark: str, kinds: dict[str, str], status: int, told: str
) -> None:
    reloaded(served, spark, **kinds)
    found, said = planned(spark)
    assert found == status, said
    assert told in said


def test_what_others_evict_or_load_has_its_plan(served: "Lab", spark: str) -> None:
    """One model is loaded at a time here: who loads another one evicts ours."""
    ask(served, spark, "generate", model=MODEL, keep_alive=0)
    status, said = planned(spark)
    assert status == PENDING, said
    assert f"{MODEL} not loaded -> context {CONTEXT}" in said
    reloaded(served, spark)
    ask(served, spark, "pull", model=ANOTHER)
    ask(served, spark, "generate", model=ANOTHER)
    status, said = planned(spark)
    assert status == PENDING, said
    assert f"a model that goes interrupts what runs: no connection is up, {ANOTHER} loaded" in said
    ask(served, spark, "generate", model=ANOTHER, keep_alive=0)


def test_one_that_is_killed_while_it_loads_fails_the_run_and_the_next_one_finishes(
    served: "Lab", spark: str, folder: Path
) -> None:
    ask(served, spark, "generate", model=MODEL, keep_alive=0)
    faults(served, spark, generate="die")
    status, said = applied(spark, folder)
    assert status == FAILED, said
    assert "Traceback" not in said
    faults(served, spark)
    on(served, spark, "for i in $(seq 60); do curl -sf localhost:11434/api/version && exit 0; sleep 1; done; exit 1")
    status, said = applied(spark, folder)
    assert status == AS_DESIRED, said
    assert planned(spark)[0] == AS_DESIRED
