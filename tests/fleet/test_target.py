"""A name is one spark, or one deployment with its sparks; everything else is refused by its own code."""

from typing import Any

import pytest

from fleet.decide import considered
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.target import Scope, Target, target_of, targets_within
from tests.fleet import observed
from tests.fleet.test_roster import GOOD

VALUES: dict[str, Any] = {
    "sparks": GOOD["sparks"] | {"lone": {"enrolled": False}, "twice": {"enrolled": True}},
    "fabrics": GOOD["fabrics"],
    "deployments": {"chat": {"spark": "b", "ollama": {}}, "twice": {"spark": "twice", "ollama": {}}},
}
ROSTER = Roster.read(VALUES, "test")


@pytest.mark.parametrize(
    ("name", "kind", "hosts"), [("a", "spark", ("a",)), ("b", "spark", ("b",)), ("chat", "deployment", ("b",))]
)
def test_a_name_of_the_roster_is_an_exact_set_of_hosts(name: str, kind: str, hosts: tuple[str, ...]) -> None:
    found = target_of(ROSTER, name)
    assert isinstance(found, Target)
    assert (found.name, found.kind, found.hosts) == (name, kind, hosts)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("", "target_empty"),
        ("  ", "target_empty"),
        ("all", "target_all"),
        ("nobody", "target_unknown"),
        ("lone", "target_only_named"),
        ("twice", "target_ambiguous"),
    ],
)
def test_any_other_name_is_refused(name: str, code: str) -> None:
    found = target_of(ROSTER, name)
    assert isinstance(found, Refusal)
    assert found.code == code
    assert found.hint == "sparks: a, b, twice; deployments: chat, twice"


def test_a_run_has_the_targets_that_lie_wholly_in_it() -> None:
    assert [(each.kind, each.name) for each in targets_within(ROSTER, ["b"])] == [
        ("spark", "b"),
        ("deployment", "chat"),
    ]
    assert [each.name for each in targets_within(ROSTER, ["a"])] == ["a"]


def test_the_fabric_is_not_held_up_by_what_is_served() -> None:
    desired = ROSTER.desired_for("b")
    blind = Unobserved(reason="closed")
    seen = observed.as_desired(desired.rail_ends, "b").model_copy(update={"ollama_service": blind})
    assert all(each.outcome is None for each in considered(desired, seen, Scope.FABRIC))
    assert any(isinstance(each.outcome, Refusal) for each in considered(desired, seen, Scope.SERVE))
    assert Scope.SERVE.includes(Scope.FABRIC)
    assert not Scope.FABRIC.includes(Scope.SERVE)
