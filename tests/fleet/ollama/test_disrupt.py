"""A change that would take a served model away waits for a drain, unless a run of ours left the process running."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.generation import Stamp
from fleet.invocation import Invocation, Running
from fleet.observation import NOT_LOOKED, Observation
from fleet.ollama.decide import service_step
from fleet.ollama.disrupt import MAX_LOADED, disrupts, interrupted, undrained
from fleet.ollama.steps import ConfigureService, EvictResident, LoadResident
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.step import Step
from tests.fleet.ollama import host
from tests.fleet.ollama.host import DESIRED, PIN, PROCESS, STAY, B, loaded, own_file, service, stamped

ANOTHER = PROCESS.model_copy(update={"pid": 4121, "executable_digest": B})
LOADED = Running(invocation=ANOTHER, models=(PIN.name,))
EVICT = EvictResident(subject="x", before="x", after="x", reason="x", model="other:1")
STAMPS = [Stamp(generation=None), Stamp(generation=Unobserved(reason="x")), stamped(), stamped(PROCESS)]


def seen(running: Running | Unobserved = LOADED, stamp: Stamp | Unobserved = STAMPS[0], **looks: Any) -> Observation:
    return host.seen(**looks).model_copy(update={"invocation": running, "generation": stamp})


def restart(found: Observation) -> ConfigureService:
    step = service_step(DESIRED, found)
    assert isinstance(step, ConfigureService)
    assert step.restart
    return step


OLD = service(process_environment={"OLLAMA_HOST": "1"})
"""A process that runs with other settings, so that a restart is due."""


def outcome(found: Observation, *drained: Invocation) -> Step | Refusal | None:
    return undrained(restart(found), DESIRED, found, frozenset(each.digest for each in drained))


@pytest.mark.parametrize("stamp", STAMPS)
def test_a_process_that_nobody_knows_and_that_serves_is_not_restarted(stamp: Stamp) -> None:
    refusal = outcome(seen(stamp=stamp, state=OLD))
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.subject, refusal.hint) == (
        "drain_needed", "srv5 ollama.service", "sparks drain srv5"
    )  # fmt: skip
    assert f"pid 4121, {'another' if stamp.known and stamp.known.invocations else 'a process'}" in refusal.found
    assert f"with {PIN.name} loaded" in refusal.found


@pytest.mark.parametrize("stamp", STAMPS)
def test_drained_it_is(stamp: Stamp) -> None:
    assert isinstance(outcome(seen(stamp=stamp, state=OLD), ANOTHER), ConfigureService)


@given(st.sampled_from(["pid", "start_ticks", "boot_id"]))
def test_a_drain_is_about_one_process_alone(field: str) -> None:
    other = {"pid": 9, "start_ticks": 99, "boot_id": "x"}[field]
    before = ANOTHER.model_copy(update={field: other})
    assert isinstance(outcome(seen(state=OLD), before), Refusal)


@pytest.mark.parametrize(
    ("changes", "is_ours"),
    [({}, True), ({"boot_id": "two", "pid": 9}, True), ({"pid": 9}, True), ({"unit": "session-3.scope"}, False)],
)
def test_what_a_run_of_ours_left_running_may_be_changed_and_so_may_its_like(
    changes: dict[str, Any], is_ours: bool
) -> None:
    running = LOADED.model_copy(update={"invocation": PROCESS.model_copy(update=changes)})
    assert isinstance(outcome(seen(running, stamped(PROCESS), state=OLD)), ConfigureService) == is_ours


@pytest.mark.parametrize("running", [Running(invocation=None), Running(invocation=ANOTHER)])
def test_where_nothing_is_loaded_nothing_is_served(running: Running) -> None:
    """A blank Spark is one of these."""
    assert isinstance(outcome(seen(running, state=OLD)), ConfigureService)


def test_what_it_has_loaded_must_be_known() -> None:
    wedged = Running(invocation=ANOTHER, models=Unobserved(reason="no answer in 5 s"))
    refusal = outcome(seen(wedged, state=OLD))
    assert isinstance(refusal, Refusal)
    assert (refusal.code, "no answer in 5 s" in refusal.found) == ("drain_needed", True)
    assert isinstance(outcome(seen(wedged, state=OLD), ANOTHER), ConfigureService)


@pytest.mark.parametrize("section", ["invocation", "generation"])
def test_what_was_not_looked_at_is_not_restarted(section: str) -> None:
    refusal = outcome(seen(state=OLD).model_copy(update={section: NOT_LOOKED}), ANOTHER)
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.subject) == ("unobserved", f"srv5 {section}")


def test_a_port_that_somebody_else_has_is_told_before_a_start_would_fail() -> None:
    running = Running(invocation=None, other="pid 4121 (ollama, session-3.scope)")
    refusal = outcome(seen(running, state=service(active_state="inactive", process_environment=None)))
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.found) == ("ollama_port_taken", running.other)


def test_a_file_that_is_written_ends_nothing() -> None:
    found = seen(state=service(unit_file_state="disabled"))
    step = service_step(DESIRED, found)
    assert isinstance(step, ConfigureService)
    assert undrained(step, DESIRED, found, frozenset()) is step


def load(context: int = STAY.context) -> LoadResident:
    return LoadResident(
        subject="x", before="x", after="x", reason="x", model=PIN.name, context=context, keep_alive=-1
    )  # fmt: skip


def others(count: int) -> list[Any]:
    return [loaded(name=f"other{number}:1") for number in range(count)]


@pytest.mark.parametrize(
    ("residents", "setting", "displaces"),
    [
        ((), None, False),
        ((loaded(),), None, False),
        ((loaded(keep="until", seconds_left=9),), None, False),
        ((loaded(context_length=2048),), None, True),
        ((loaded(size_bytes=0, context_length=None),), None, False),
        (tuple(others(MAX_LOADED - 1)), None, False),
        (tuple(others(MAX_LOADED)), None, True),
        (tuple(others(1)), "1", True),
        (tuple(others(1)), "2", False),
        (tuple(others(MAX_LOADED)), "0", True),
    ],
)
def test_a_load_disrupts_where_another_goes_for_it(
    residents: tuple[Any, ...], setting: str | None, displaces: bool
) -> None:
    changes = {} if setting is None else {"OLLAMA_MAX_LOADED_MODELS": setting}
    desired = DESIRED.model_copy(update={"environment": DESIRED.environment | changes})
    process = {"PATH": "/usr/bin", **desired.desired_environment}
    state = service(process_environment=process, drop_ins=(own_file(desired),))
    assert disrupts(load(), desired, seen(state=state, residents=residents)) == displaces


def test_after_a_restart_there_is_room() -> None:
    assert not disrupts(load(), DESIRED, seen(state=OLD, residents=tuple(others(MAX_LOADED))))


def test_evicting_is_a_disruption() -> None:
    assert isinstance(undrained(EVICT, DESIRED, seen(), frozenset()), Refusal)
    assert undrained(EVICT, DESIRED, seen(), frozenset({ANOTHER.digest})) is EVICT


@pytest.mark.parametrize("outcome", [None, Refusal(code="x", subject="x", expected="x", found="x")])
def test_what_is_no_step_stays(outcome: Refusal | None) -> None:
    assert undrained(outcome, DESIRED, seen(), frozenset()) is outcome


CLIENTS = ("10.0.0.2", "10.0.0.9", "10.0.0.9")


@pytest.mark.parametrize(
    ("running", "said"),
    [
        ({"clients": CLIENTS}, "3 connections are up, from 10.0.0.2, 10.0.0.9, qwen3:0.6b loaded; sparks drain srv5"),
        ({"clients": CLIENTS[:1]}, "1 connection is up, from 10.0.0.2"),
        ({"clients": ()}, "no connection is up"),
        ({"clients": Unobserved(reason="no ss")}, "connections that could not be observed (no ss)"),
        ({"models": ()}, "has no model loaded, so no request runs"),
    ],
)
def test_a_restart_tells_what_it_interrupts(running: dict[str, Any], said: str) -> None:
    found = seen(LOADED.model_copy(update=running), state=OLD)
    (line,) = interrupted([restart(found)], DESIRED, found)
    assert line.startswith("srv5 ollama.service: ")
    assert said in line


def test_what_interrupts_nothing_tells_nothing() -> None:
    assert interrupted([], DESIRED, seen()) == ()
    stopped = seen(Running(invocation=None), state=OLD)
    assert interrupted([restart(stopped)], DESIRED, stopped) == ()
    assert "a model that goes" in interrupted([EVICT], DESIRED, seen())[0]
