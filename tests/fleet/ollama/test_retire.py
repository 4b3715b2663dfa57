"""What a deployment leaves behind where it is served no more, and a deployment that moves."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.beside import ALONE, beside
from fleet.decide import OLLAMA_STOPS, OLLAMA_STOPS_FIRST, considered
from fleet.observation import NOT_LOOKED, Observation
from fleet.ollama.deployment import DROP_IN
from fleet.ollama.residents_unit import RESIDENTS_PATH, residents_digest
from fleet.ollama.retire import retire_step
from fleet.ollama.retirement import Retirement
from fleet.ollama.service import ResidentsUnit
from fleet.ollama.steps import RetireOllama
from fleet.plan import Plan, Refusals, plan
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.roster_error import RosterError
from fleet.target import Target, target_of
from tests.deploys.site import VALUES
from tests.fleet import observed
from tests.fleet.ollama import host
from tests.fleet.ollama.host import DESIRED, PROCESS, A, own_file, retired, service

GONE = Retirement()
SERVED = ("ollama_service", "ollama_models", "ollama_residency", "invocation", "generation")
ALONG = {"a", "b"}


def step(found: Observation, retirement: Retirement | None = GONE, **others: Any) -> RetireOllama | Refusal | None:
    return retire_step("srv5", retirement, found, **others)


def test_what_nobody_declared_to_go_is_refused_with_the_ways_out() -> None:
    for state, found in (
        (service(residents=ResidentsUnit()), DROP_IN),
        (service(drop_ins=()), RESIDENTS_PATH),
        (service(), f"{DROP_IN} and {RESIDENTS_PATH}"),
    ):
        refusal = step(host.seen(state), None)
        assert isinstance(refusal, Refusal)
        assert (refusal.code, refusal.found) == ("ollama_left_behind", found)
        assert refusal.hint is not None
        assert '"moved_from": "srv5"' in refusal.hint
        assert '"retire": ["ollama"]' in refusal.hint


def test_an_ollama_that_has_nothing_of_ours_is_nobodys_concern() -> None:
    theirs = service(drop_ins=(), residents=ResidentsUnit(), process_environment={"PATH": "/usr/bin"})
    for found in (host.seen(theirs), observed.blank("srv5")):
        assert step(found, None) is None
        assert step(found, GONE) is None


def test_it_goes_and_the_process_goes_on_without_our_settings() -> None:
    found = host.seen()
    due = step(found)
    assert isinstance(due, RetireOllama)
    assert (due.files, due.restart) == (True, True)
    assert "running with OLLAMA_HOST=0.0.0.0:11434" in due.before
    after = retired(due, found)
    assert step(after) is None
    assert step(after, None) is None


@given(st.booleans(), st.sampled_from([None, A, residents_digest(DESIRED)]), st.booleans())
def test_killed_anywhere_it_is_finished_by_the_next(drop_in: bool, residents: str | None, runs: bool) -> None:
    state = service(
        drop_ins=(own_file(),) if drop_in else (),
        residents=ResidentsUnit(content_digest=residents),
        process_environment={"PATH": "/usr/bin"} | (DESIRED.desired_environment if runs else {}),
    )
    due = step(host.seen(state))
    if not (drop_in or residents or runs):
        assert due is None
        return
    assert isinstance(due, RetireOllama)
    assert (due.files, due.restart) == (drop_in or residents is not None, runs)
    assert step(retired(due, host.seen(state))) is None


def test_a_process_that_no_run_of_ours_has_left_running_is_drained_first() -> None:
    found = host.seen().replaced(generation=host.stamped())
    refusal = step(found)
    assert isinstance(refusal, Refusal)
    assert refusal.code == "drain_needed"
    assert isinstance(step(found, drained=frozenset({PROCESS.digest})), RetireOllama)


@pytest.mark.parametrize("section", ["ollama_service", "invocation", "generation"])
def test_what_was_not_looked_at_is_not_stopped(section: str) -> None:
    refusal = step(host.seen().model_copy(update={section: NOT_LOOKED}))
    assert isinstance(refusal, Refusal)
    assert refusal.code == "unobserved"


def moving(**changes: Any) -> Roster:
    """What a served is served by b now."""
    chat = VALUES["deployments"]["chat"] | {"spark": "b", "moved_from": "a"} | changes
    return Roster.read(VALUES | {"deployments": {"chat": chat}}, "test")


def sparks() -> dict[str, Observation]:
    """a serves still, and b has Ollama and nothing of it."""
    bare = service(drop_ins=(), residents=ResidentsUnit(), process_environment={"PATH": "/usr/bin"})
    seen = {"a": host.seen(), "b": host.seen(bare, models=(), residents=()).replaced(generation=host.stamped())}
    return {
        name: observed.blank(name).replaced(**{section: getattr(found, section) for section in SERVED})
        for name, found in seen.items()
    }


def planned(roster: Roster, *names: str) -> Plan | Refusals:
    target = Target(name="x", kind="deployment", hosts=names)
    return plan(roster, target, {name: found for name, found in sparks().items() if name in names})


def test_a_move_is_one_plan_of_the_deployment_that_starts_there_and_stops_here() -> None:
    roster = moving()
    target = target_of(roster, "chat")
    assert isinstance(target, Target)
    assert set(target.hosts) == ALONG
    outcome = planned(roster, *target.hosts)
    assert isinstance(outcome, Plan), outcome
    kinds = {each.host: [step.kind for step in each.steps if step.kind.startswith("ollama")] for each in outcome.hosts}
    assert kinds == {"a": ["ollama_retire"], "b": ["ollama_service", "ollama_pull", "ollama_load"]}
    (stops,) = [each for each in outcome.host("a").operations if each.name in (OLLAMA_STOPS, OLLAMA_STOPS_FIRST)]
    assert stops.name == OLLAMA_STOPS
    assert stops.steps[0].reason == "b serves it now: stopped once it answers there"
    assert any("its restart interrupts what runs" in each for each in outcome.host("a").notes)


def test_it_is_stopped_first_where_the_roster_says_so() -> None:
    outcome = planned(moving(stop_first=True), "a", "b")
    assert isinstance(outcome, Plan)
    (stops,) = [each for each in outcome.host("a").operations if each.name in (OLLAMA_STOPS, OLLAMA_STOPS_FIRST)]
    assert (stops.name, stops.steps[0].reason) == (
        OLLAMA_STOPS_FIRST,
        "b serves it now: stopped before it starts there",
    )


def test_the_spark_that_is_left_stops_in_no_run_of_its_own() -> None:
    outcome = planned(moving(), "a")
    assert isinstance(outcome, Refusals)
    assert [each.code for each in outcome.refusals] == ["moved_alone"]
    assert isinstance(planned(moving(), "b"), Plan), "it may start first by itself"


def test_once_it_has_moved_nothing_is_due_and_the_row_may_stay() -> None:
    roster, found = moving(), sparks()["a"]
    (due,) = [each.outcome for each in considered(roster.desired_for("a"), found, beside=beside(roster, "a", sparks()))
              if isinstance(each.outcome, RetireOllama)]  # fmt: skip
    after = retired(due, found)
    assert not [each for each in considered(roster.desired_for("a"), after, beside=ALONE) if each.subject == "ollama"
                and each.outcome is not None]  # fmt: skip


def test_a_spark_that_another_deployment_moved_to_is_made_so_by_that() -> None:
    values = VALUES["deployments"]["chat"]
    swapped = {
        "chat": values | {"spark": "b", "moved_from": "a"},
        "other": values | {"spark": "a", "moved_from": "b"},
    }
    roster = Roster.read(VALUES | {"deployments": swapped}, "test")
    assert all(roster.desired_for(name).retirement is None for name in ALONG)


WALLS: list[tuple[dict[str, Any], str]] = [
    ({"moved_from": "b"}, "moved_nowhere"),
    ({"moved_from": "z"}, "unknown_spark"),
    ({"moved_from": "c"}, "deployment_not_enrolled"),
]


@pytest.mark.parametrize(("changes", "code"), WALLS)
def test_what_cannot_be_a_move(changes: dict[str, Any], code: str) -> None:
    with pytest.raises(RosterError, match=code):
        moving(**changes)


def test_a_spark_that_serves_is_not_retired() -> None:
    sparks = VALUES["sparks"] | {"a": VALUES["sparks"]["a"] | {"retire": ["ollama"]}}
    with pytest.raises(RosterError, match="retire_serves"):
        Roster.read(VALUES | {"sparks": sparks}, "test")
    roster = Roster.read(VALUES | {"sparks": sparks, "deployments": {}}, "test")
    assert roster.desired_for("a").retirement == GONE
