"""Health at the end of a run: what each look makes of it, and that nothing unobserved is ever good."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.completion import Completion
from fleet.generation import Stamp
from fleet.health import Finding, Verdict, health, worst
from fleet.invocation import Running
from fleet.observation import Observation
from fleet.record import Unobserved
from fleet.target import Scope
from tests.fleet.ollama import host
from tests.fleet.ollama.host import DESIRED, PIN, PROCESS, A, B, begun, loaded, stamped
from tests.fleet.test_generation import PLAIN, SERVES

SERVING = SERVES.replaced(ollama=DESIRED)
ANSWER = Completion(model=PIN.name, kind="completion", asked=True, count=1, failure=None)
BLIND = Unobserved(reason="no answer")
SECTIONS = ("generation", "invocation", "completions", "ollama_service", "ollama_models", "ollama_residency")


def seen(residents: Any = None, **sections: Any) -> Observation:
    return host.seen(residents=residents).model_copy(update={"completions": (ANSWER,)} | sections)


def found(observation: Observation, applied: str | None = A, **changes: Any) -> dict[str, Finding]:
    """By code; of several with one code the gravest."""
    every = health(changes.get("desired", SERVING), observation, applied, changes.get("scope", Scope.SERVE))
    return {each.code: max((one for one in every if one.code == each.code), key=lambda one: one.verdict != "ok")
            for each in every}  # fmt: skip


def verdicts(observation: Observation, applied: str | None = A) -> dict[str, str]:
    return {code: each.verdict.value for code, each in found(observation, applied).items() if not each.is_good}


def test_all_is_well_after_a_run_and_when_read_back_later() -> None:
    for applied in (A, None):
        every = health(SERVING, seen(), applied)
        assert [each.code for each in every] == ["generation", "serving_process", "completion", "residency"]
        assert worst(every) is Verdict.OK
        assert all(str(each).startswith("srv5 ") for each in every)


def test_a_host_that_serves_nothing_has_only_its_stamp() -> None:
    assert list(found(seen(), desired=PLAIN)) == ["generation"]
    assert list(found(seen(), scope=Scope.FABRIC)) == ["generation"]


@pytest.mark.parametrize(
    ("stamp", "after_a_run", "read_back"),
    [
        (stamped(PROCESS, plan=B), "differs", "ok"),
        (Stamp(generation=None), "differs", "ok"),
        (Stamp(generation=BLIND), "unobserved", "unobserved"),
        (Stamp(generation=stamped(PROCESS).generation, begun=begun()), "differs", "differs"),
        (BLIND, "unobserved", "unobserved"),
    ],
)
def test_the_stamp_names_the_plan_that_was_carried_out(stamp: Any, after_a_run: str, read_back: str) -> None:
    assert found(seen(generation=stamp))["generation"].verdict == after_a_run
    assert found(seen(generation=stamp), None)["generation"].verdict == read_back


@pytest.mark.parametrize(
    ("changes", "after_a_run", "read_back", "told"),
    [
        ({}, "ok", "ok", "left running"),
        ({"boot_id": "two", "pid": 9}, "ok", "ok", "started again by the host's boot"),
        ({"pid": 9}, "differs", "ok", "restarted since by itself"),
        ({"executable_digest": B}, "differs", "differs", "another program"),
    ],
)
def test_what_serves_is_what_was_started(changes: dict[str, Any], after_a_run: str, read_back: str, told: str) -> None:
    observation = seen(invocation=Running(invocation=PROCESS.replaced(**changes), models=(PIN.name,)))
    for applied, verdict in ((A, after_a_run), (None, read_back)):
        process = found(observation, applied)["serving_process"]
        assert (process.verdict, told in process.found) == (verdict, True)


def test_what_was_adopted_is_told_and_is_no_fault() -> None:
    process = found(seen(generation=Stamp(generation=None)), None)["serving_process"]
    assert process.verdict == "ok"
    assert "no run of ours has started" in process.found


@pytest.mark.parametrize(
    "running", [Running(invocation=None), Running(invocation=PROCESS, other="pid 9 (nginx, nginx.service)")]
)
def test_no_process_and_another_in_its_place_are_faults(running: Running) -> None:
    assert verdicts(seen(invocation=running), None) == {"serving_process": "differs"}


@pytest.mark.parametrize(
    ("completions", "verdict", "told"),
    [
        ((ANSWER.replaced(count=0),), "differs", "an empty answer"),
        ((ANSWER.replaced(count=0, failure="status 500: x"),), "differs", "status 500: x"),
        ((ANSWER.replaced(count=0, asked=False, failure="not loaded"),), "unobserved", "not asked: not loaded"),
        ((), "unobserved", "not asked"),
        (BLIND, "unobserved", "no answer"),
    ],
)
def test_a_resident_must_really_answer(completions: Any, verdict: str, told: str) -> None:
    completion = found(seen(completions=completions))["completion"]
    assert (completion.verdict, told in completion.found) == (verdict, True)


@pytest.mark.parametrize(
    ("residents", "subject"),
    [
        ((), f"srv5 ollama resident {PIN.name}"),
        ((loaded(context_length=2048),), f"srv5 ollama resident {PIN.name}"),
        ((loaded(size_vram_bytes=0),), f"srv5 ollama resident {PIN.name}"),
        ((loaded(), loaded(name="stranger:1")), "srv5 ollama resident stranger:1"),
    ],
)
def test_residency_is_as_declared(residents: Any, subject: str) -> None:
    residency = found(seen(residents))["residency"]
    assert (residency.verdict, residency.subject) == ("differs", subject)


def test_strangers_are_not_taken_for_absent_where_nobody_could_look() -> None:
    alone = SERVES.replaced(ollama=DESIRED.replaced(residents=()))
    residency = found(seen(ollama_residency=BLIND), desired=alone)["residency"]
    assert residency.verdict == "unobserved"


@given(st.sets(st.sampled_from(SECTIONS), min_size=1), st.sampled_from([A, None]))
def test_what_could_not_be_observed_is_never_good(blind: set[str], applied: str | None) -> None:
    every = health(SERVING, seen(**dict.fromkeys(blind, BLIND)), applied)
    assert worst(every) is not Verdict.OK
    assert any(each.verdict is Verdict.UNOBSERVED and each.found for each in every)


@given(st.lists(st.sampled_from(list(Verdict))))
def test_a_difference_is_graver_than_not_knowing(verdicts: list[Verdict]) -> None:
    every = [Finding(code="x", subject="x", verdict=each, expected="x", found="x") for each in verdicts]
    expected = next((each for each in (Verdict.DIFFERS, Verdict.UNOBSERVED) if each in verdicts), Verdict.OK)
    assert worst(every) is expected
