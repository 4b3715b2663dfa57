"""Doctor on what virtual Sparks really looked like: it comes to its end, and says of a plan what the plan says."""

from pathlib import Path

import pytest

from fleet.doctor.check import Host
from fleet.doctor.examine import examine
from fleet.doctor.explain import explained
from lab.plans.files import read_collection
from lab.site import read_roster
from tests.recorded.planned import OBSERVATION, SITE, planned, recorded

ROSTER = read_roster(str(SITE))[0]


@pytest.mark.parametrize("folder", recorded().values(), ids=recorded())
def test_it_says_what_a_plan_says_and_every_id_is_explained(folder: Path) -> None:
    collection = read_collection(str(folder / OBSERVATION))
    drained = frozenset(collection.drained)
    hosts = [Host(ROSTER.desired_for(each.host), each, drained) for each in collection.observations]
    found = [finding for host in hosts for finding in examine(host)]
    assert all(explained(each.id) for each in found)
    said = planned(folder / OBSERVATION)
    due = {each.partition(": ")[0] for each in said["steps"]}
    assert due <= {each.id.removeprefix("due.") for each in found}
    refused = {each.rpartition("[")[2].rstrip("]") for line in said["refusals"] for each in line.splitlines()[:1]}
    assert refused <= {each.id.removeprefix("refused.") for each in found}
    assert not any(each.id == "unobserved.host" for each in found)
