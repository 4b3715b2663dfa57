"""No two Sparks of one deployment or cluster are tried at once, whoever tries them."""

import pytest

from fleet.kernel.trial_beside import beside, together
from fleet.observation import Observation
from fleet.roster import Roster
from tests.fleet.kernel.menus import NEW, OLD, selector
from tests.fleet.kernel.test_standing import seen
from tests.fleet.test_lock import state
from tests.fleet.test_roster import GOOD

POLICY = {"release": NEW, "packages": {f"linux-image-{NEW}": "7.0.0-1019.19"}, "fallback": OLD}
ROSTER = Roster.read(GOOD | {
    "sparks": {"a": {"enrolled": True, "kernel": "k"}, "b": {"enrolled": True}, "c": {"enrolled": False},
               "d": {"enrolled": True}},
    "kernels": {"k": POLICY},
    "clusters": {"both": {"fabric": "rails", "sparks": ["a", "b"]}},
}, "test")  # fmt: skip
FREE = state(held=None, holder_lives=None)


def spark(next_entry: str = "", **changes: object) -> Observation:
    return seen(**({"next_entry": next_entry} if next_entry else {})).replaced(lock=FREE, **changes)


def codes(found: Observation, name: str = "a") -> list[str]:
    return [each.code for each in beside(ROSTER.desired_for(name), found)]


def test_those_that_serve_together_are_the_others_of_each_group() -> None:
    assert together(ROSTER, ("a",)) == ("b",)
    assert together(ROSTER, ("a", "b")) == ()
    assert together(ROSTER, ("d",)) == ()


def test_a_spark_at_rest_is_in_nobodys_way() -> None:
    assert codes(spark()) == []
    assert codes(spark(), "b") == []


def test_a_pending_boot_and_a_kernel_that_is_not_the_default_are_a_trial_under_way() -> None:
    assert codes(spark(selector(NEW))) == ["trial_beside"]
    kernel = seen().kernel.replaced(release=NEW)
    assert codes(spark(kernel=kernel)) == ["trial_beside"]
    assert codes(spark(kernel=kernel), "b") == [], "its kernel is not ours"


@pytest.mark.parametrize("name", ["a", "b"])
def test_the_lock_of_another_names_whose_it_is_and_a_silent_spark_is_not_free(name: str) -> None:
    (refusal,) = beside(ROSTER.desired_for(name), spark().replaced(lock=state()))
    assert (refusal.code, "ada@desk" in refusal.found) == ("locked", True)
    assert set(codes(Observation(host="srv5"), name)) == {"unobserved"}
