"""The stamp: which plan was carried out, which process it left running, and where one that runs now comes from."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.desired import DesiredSpark
from fleet.generation import BEGUN, STAMP, Begun, Generation, Origin, Stamp, origin, parse_stamp
from fleet.generation_due import WriteStamp, stamp_step
from fleet.invocation import Invocation, Running
from fleet.observation import Observation
from fleet.ollama.deployment import OllamaDeployment
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.spark import Spark
from fleet.target import Scope
from tests.fleet.ollama.host import PROCESS, A, B, begun, stamped
from tests.fleet.test_invocation import invocations

SERVES = DesiredSpark(name="a", spark=Spark(enrolled=True), rail_ends=(), ollama=OllamaDeployment())
PLAIN = SERVES.model_copy(update={"ollama": None})


def seen(stamp: Stamp, running: Running | Unobserved | None = None) -> Observation:
    return Observation(host="a", generation=stamp, invocation=running or Running(invocation=PROCESS))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Origin.STARTED),
        ({"boot_id": "two", "pid": 9}, Origin.BOOTED),
        ({"boot_id": "two"}, Origin.BOOTED),
        ({"pid": 9, "start_ticks": 5}, Origin.RESTARTED),
        ({"start_ticks": 5}, Origin.RESTARTED),
        ({"argv_digest": A}, Origin.ANOTHER),
        ({"executable_digest": B, "pid": 9}, Origin.ANOTHER),
        ({"unit": "session-3.scope", "pid": 9}, Origin.ANOTHER),
    ],
)
def test_where_a_running_process_comes_from(changes: dict[str, Any], expected: Origin) -> None:
    assert origin(PROCESS.model_copy(update=changes), stamped(PROCESS)) is expected


@given(invocations, invocations)
def test_only_the_process_itself_is_the_one_that_was_left_running(now: Invocation, left: Invocation) -> None:
    assert (origin(now, stamped(left)) is Origin.STARTED) == (now == left)


@pytest.mark.parametrize("stamp", [Stamp(generation=None), Stamp(generation=Unobserved(reason="x")), stamped()])
def test_without_a_readable_stamp_nothing_is_known_of_it(stamp: Stamp) -> None:
    assert origin(PROCESS, stamp) is Origin.UNSTAMPED


def written(stamp: Stamp, applied: Begun | None, desired: DesiredSpark = SERVES, **looks: Any) -> Generation:
    step = stamp_step(desired, applied, seen(stamp, **looks))
    assert isinstance(step, WriteStamp), step
    assert stamp_step(desired, applied, seen(Stamp(generation=step.generation), **looks)) is None, "due again"
    return step.generation


def test_where_nothing_was_due_the_stamp_stays() -> None:
    for stamp in (Stamp(generation=None), stamped(PROCESS), Stamp(generation=Unobserved(reason="x"))):
        assert stamp_step(SERVES, None, seen(stamp)) is None


def test_a_run_that_acted_says_what_it_left_running() -> None:
    assert written(Stamp(generation=None), begun()) == Generation(**dict(begun()), invocations=(PROCESS,))
    assert written(Stamp(generation=Unobserved(reason="x")), begun()).invocations == (PROCESS,)
    assert written(stamped(PROCESS), begun(), running=Running(invocation=None)).invocations == ()
    assert written(stamped(PROCESS), begun(), PLAIN).invocations == ()


def test_a_run_about_the_fabric_vouches_for_no_process() -> None:
    older = PROCESS.model_copy(update={"pid": 3})
    assert written(stamped(older), begun(Scope.FABRIC)).invocations == (older,)
    assert written(Stamp(generation=None), begun(Scope.FABRIC)).invocations == ()


def test_a_run_that_was_cut_off_after_its_last_step_is_brought_to_its_end() -> None:
    cut = Stamp(generation=stamped(plan=B).generation, begun=begun())
    assert written(cut, None) == Generation(**dict(begun()), invocations=(PROCESS,))


def test_what_cannot_be_seen_is_not_written_down() -> None:
    outcome = stamp_step(SERVES, begun(), seen(Stamp(generation=None), Unobserved(reason="x")))
    assert isinstance(outcome, Refusal)
    assert (outcome.code, outcome.subject) == ("unobserved", "a invocation")


@given(st.lists(invocations, max_size=2))
def test_a_stamp_reads_back(left: list[Invocation]) -> None:
    generation = Generation(**dict(begun()), invocations=tuple(left))
    text = json.dumps({"stamp": generation.text, "begun": begun().canonical})
    assert parse_stamp(text) == Stamp(generation=generation, begun=begun())


def test_no_file_is_no_stamp_and_garbage_is_not_observed() -> None:
    assert parse_stamp('{"stamp": null, "begun": null}') == Stamp(generation=None)
    found = parse_stamp('{"stamp": "{}", "begun": "x"}')
    assert isinstance(found.generation, Unobserved)
    assert isinstance(found.begun, Unobserved)
    assert (STAMP in found.generation.reason, BEGUN in found.begun.reason) == (True, True)
    with pytest.raises(ValueError, match="no room"):
        parse_stamp('{"error": "no room"}')
