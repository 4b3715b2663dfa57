"""A run on two Sparks in which one fails: nothing more is begun on the other, and the next run finishes both."""

import re

import pytest

from fleet.plan import Plan, plan
from fleet.target import Target
from tests.simulated.controller import Ran
from tests.simulated.faults import Fault, Kind
from tests.simulated.matrix import DONE, FAILED
from tests.simulated.site import ROSTER, Site
from tests.simulated.world import World

PLANS = re.compile(r"plan (sha256:[0-9a-f]{64}) for [ab]\n")


class Both:
    """Runs on both Sparks of the site."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def look(self, world: World) -> Ran:
        return self.site.pyinfra(world, "--dry", limit=None)

    def carry_out(self, world: World, looked: Ran) -> Ran:
        digests = ",".join(PLANS.findall(looked.said))
        return self.site.pyinfra(world, *(("--data", f"plan={digests}") if digests else ()), "-y", limit=None)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(Site(tmp_path_factory.mktemp("site")))


def is_done(world: World) -> bool:
    target = Target(name="both", kind="deployment", hosts=tuple(sorted(world.sparks)))
    outcome = plan(ROSTER, target, {name: spark.seen for name, spark in world.sparks.items()})
    return isinstance(outcome, Plan) and outcome.is_noop and not any(each.lock for each in world.sparks.values())


def test_one_that_fails_stops_the_other_and_the_next_run_finishes_both(both: Both) -> None:
    looked = both.look(both.site.world())
    whole = both.carry_out(looked.world.next_run(), looked)
    assert whole.status == DONE, whole.said
    assert is_done(whole.world)
    steps = sorted(whole.world.parts)
    assert {whole.world.commands[at].split()[0] for at in steps} == {"a", "b"}
    for at in steps:
        ran = both.carry_out(looked.world.next_run(Fault(Kind.DROPPED, at)), looked)
        assert ran.status == FAILED, ran.said
        after = [name for number, name in enumerate(ran.world.commands) if number > at and number in ran.world.parts]
        assert len(after) <= 1, "what the other one was at comes to its end, and no more"
        again = both.look(ran.world.next_run())
        done = both.carry_out(again.world.next_run(), again)
        assert done.status == DONE, f"{whole.world.commands[at]}\n{done.said}"
        assert is_done(done.world)
