"""A process is itself in one boot only, and reading what a look says of it never guesses."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.invocation import Invocation, Running, parse_running
from fleet.record import Unobserved

A, B = "sha256:" + "a" * 64, "sha256:" + "b" * 64
DIGESTS = st.sampled_from([A, B])

invocations = st.builds(
    Invocation, unit=st.sampled_from([None, "ollama.service", "session-3.scope"]), pid=st.integers(1, 3),
    start_ticks=st.integers(0, 2), boot_id=st.sampled_from(["one", "two"]), executable_digest=DIGESTS,
    argv_digest=DIGESTS,
)  # fmt: skip


@given(invocations, invocations)
def test_one_digest_is_one_process_of_one_program(one: Invocation, other: Invocation) -> None:
    assert (one.digest == other.digest) == (one.is_process(other) and one.is_program(other))


@given(invocations)
def test_a_pid_in_another_boot_is_another_process(one: Invocation) -> None:
    again = one.model_copy(update={"boot_id": "later"})
    assert again.is_program(one)
    assert not again.is_process(one)


def said(**changes: Any) -> str:
    found: dict[str, Any] = {"invocation": None, "listens": [], "clients": [], "models": None, "other": None}
    return json.dumps(found | changes)


def test_no_process_is_not_unobserved() -> None:
    found = parse_running(said())
    assert found == Running(invocation=None)
    assert not found.may_serve


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        ({"body": '{"models": [{"name": "b:1"}, {"name": "a:1"}]}'}, ("a:1", "b:1")),
        ({"body": '{"models": null}'}, ()),
        ({"body": "<html>"}, Unobserved(reason="/api/ps: expected JSON, found '<html>'")),
        ({"error": "no answer in 5 s"}, Unobserved(reason="no answer in 5 s")),
    ],
)
def test_models_are_what_it_says_or_unobserved(models: dict[str, str], expected: object) -> None:
    assert parse_running(said(models=models)).models == expected


@pytest.mark.parametrize("text", ['{"error": "process 7: gone"}', "[]", "", "{}"])
def test_what_is_no_look_is_refused(text: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        parse_running(text)


def test_a_record_survives_its_spelling() -> None:
    found = Running(
        invocation=Invocation(unit="ollama.service", pid=7, start_ticks=1, boot_id="x", executable_digest=A,
                              argv_digest=B),
        models=Unobserved(reason="x"), clients=("10.0.0.9",),
    )  # fmt: skip
    assert Running.from_canonical(found.canonical) == found
