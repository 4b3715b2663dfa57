"""What `sparks kernel show` says of a Spark, with a policy and without one."""

import pytest

from fleet.kernel.packages import Package, Packages
from fleet.observation import Observation
from fleet.roster import Roster
from lab.kernel.documents import ShowDocument, Shown
from lab.kernel.show import show_looks, shown_of
from tests.fleet.kernel.menus import NEW, OLD, selector
from tests.fleet.kernel.test_standing import seen
from tests.fleet.test_roster import GOOD

KERNEL = {"release": NEW, "packages": {f"linux-image-{NEW}": "7.0.0-1019.19"}, "fallback": OLD}
ROSTER = Roster.read({**GOOD, "sparks": {**GOOD["sparks"], "a": {"enrolled": True, "kernel": "new"}},
                      "kernels": {"new": KERNEL}}, "test")  # fmt: skip
HELD = Packages(
    packages=(
        Package(name=f"linux-image-{OLD}", version="1", architecture="arm64", want="hold", status="installed"),
        Package(name=f"linux-image-{NEW}", version="2", architecture="arm64", want="install", status="installed"),
    )
)


def test_it_says_what_runs_what_boots_next_and_what_it_falls_back_to() -> None:
    found = shown_of(ROSTER.desired_for("a"), seen(next_entry=selector(NEW)).replaced(packages=HELD))
    assert isinstance(found, Shown)
    text = ShowDocument(target="a", hosts=(found,), refusals=()).text.splitlines()
    assert text == [
        f"srv5  running    {OLD}",
        f"srv5  default    {OLD}, by its name",
        f"srv5  one-shot   {selector(NEW)}",
        f"srv5  next boot  {NEW}",
        f"srv5  policy     {NEW}",
        f"srv5  fallback   {OLD}",
        f"srv5  held       linux-image-{OLD}",
    ]


def test_a_spark_without_a_policy_is_shown_too() -> None:
    found = shown_of(ROSTER.desired_for("b"), seen("0").replaced(packages=HELD))
    assert isinstance(found, Shown)
    assert (found.policy, found.fallback, found.fallback_missing, found.is_pinned) == (None, None, None, False)
    assert {"kernel", "kernels", "boot", "packages"} <= set(show_looks())


@pytest.mark.parametrize("blind", [seen(), Observation(host="srv5", packages=HELD)])
def test_what_was_not_observed_is_refused(blind: Observation) -> None:
    """No package that is held is another thing than nobody knowing."""
    found = shown_of(ROSTER.desired_for("a"), blind)
    assert isinstance(found, tuple)
    assert {each.code for each in found} == {"unobserved"}
