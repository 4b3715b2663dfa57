"""Each recorded observation is still read, and a plan from it says what it has always said."""

import json
from pathlib import Path
from typing import Any

import pytest

from fleet.observation import NOT_LOOKED
from fleet.plan import Plan, plan
from fleet.record import canonical_json, sha256_digest
from fleet.roster import Roster
from fleet.target import Scope, Target
from lab.command import Failed
from lab.plans.documents import Collection, CollectionDocument
from lab.plans.files import read_collection, write
from tests.deploys.site import VALUES, blank
from tests.fleet import observed
from tests.recorded.planned import EXPECTED, OBSERVATION, planned, recorded
from tests.recorded.record import CASES, unclean


@pytest.mark.parametrize("folder", [pytest.param(path, id=name) for name, path in recorded().items()])
def test_a_plan_from_it_says_what_is_expected(folder: Path) -> None:
    expected: dict[str, Any] = json.loads((folder / EXPECTED).read_text(encoding="utf-8"))
    assert planned(folder / OBSERVATION) == expected


def test_what_is_there_was_recorded_by_a_case() -> None:
    assert set(recorded()) <= set(CASES)


ROSTER = Roster.read(VALUES, "test")
SPARK = Target(name="a", kind="spark", hosts=("a",))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "group_data").mkdir()
    (tmp_path / "group_data" / "site.py").write_text(f"roster = {VALUES!r}\n")
    (tmp_path / "site.py").write_text("")
    return tmp_path / "site.py"


def kept(seen: Any, folder: Path) -> Path:
    collection = Collection(target=SPARK, roster_digest=ROSTER.digest, observed_at="2026-11-30T08:00:00Z", versions={},
                            observations=(seen,), drained=())  # fmt: skip
    write(str(folder / OBSERVATION), CollectionDocument.of(collection))
    return folder / OBSERVATION


def test_what_is_compared_is_what_the_plan_says(site: Path, tmp_path: Path) -> None:
    """Of an observation that was played, so that this holds also where nothing is recorded yet."""
    outcome = plan(ROSTER, SPARK, {"a": blank("a")}, Scope.SERVE)
    assert isinstance(outcome, Plan)
    said = planned(kept(blank("a"), tmp_path), site)
    assert said["status"] == 2
    assert said["steps"] == [f"{step.kind}: {step}" for step in outcome.steps]
    pulled = observed.with_link(blank("a"), observed.link("enp1s0f0np0", carrier=False))
    refused = planned(kept(pulled, tmp_path), site)
    assert (refused["status"], refused["steps"]) == (3, [])
    assert any("[no_carrier]" in each for each in refused["refusals"])


def test_nothing_of_the_machine_that_records_is_kept() -> None:
    assert unclean("user ada@desk in /home/ada/sparks", root="/home/ada/sparks", host="desk") == "/home/ada/sparks"
    assert unclean("user ada@desk", root="/home/ada/sparks", host="desk") == "@desk"
    assert unclean("a desk lamp", root="/home/ada/sparks", host="desk") is None


def test_one_from_before_there_was_a_section_is_read_and_one_that_was_changed_is_not(tmp_path: Path) -> None:
    """A release adds sections, and reads what people have attached to their reports before."""
    file = kept(blank("a"), tmp_path)
    document: Any = json.loads(file.read_text())
    del document["collection"]["observations"][0]["memory"]
    file.write_text(json.dumps(document))
    with pytest.raises(Failed, match="collection_digest: expected sha256:"):
        read_collection(str(file))
    document["collection_digest"] = sha256_digest(canonical_json(document["collection"]).encode())
    file.write_text(json.dumps(document))
    (seen,) = read_collection(str(file)).observations
    assert seen.memory == NOT_LOOKED
