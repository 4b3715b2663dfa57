"""What a drain has found, from the lines that it printed on the host."""

import json
from typing import Any

import pytest

from fleet.drain import Drain, End, Waiting, nothing_to_drain, read_drain, read_waiting
from tests.fleet.ollama.host import PROCESS
from tests.fleet.test_generation import PLAIN, SERVES

LOOK = {"quiet_seconds": 1.5, "activity": ["2 may run, from 10.0.0.9"], "models": ["a:1"]}


def ended(**changes: Any) -> Drain:
    process = {name: value for name, value in PROCESS.to_json().items() if name != "runtime"}
    said = LOOK | {"end": "quiet", "invocation": process, "unloaded": [], "told_by_ss": True} | changes
    return read_drain("srv5", json.dumps(said))


def test_a_look_and_the_end_are_told_apart() -> None:
    assert read_waiting(json.dumps(LOOK)) == Waiting(
        quiet_seconds=1.5, activity=("2 may run, from 10.0.0.9",), models=("a:1",)
    )
    assert read_waiting(json.dumps(LOOK | {"end": "quiet"})) is None
    assert ended().invocation == PROCESS


@pytest.mark.parametrize("text", ['{"error": "no bus"}', "[]", "x", '{"quiet_seconds": "x"}'])
def test_what_is_neither_is_refused(text: str) -> None:
    for read in (read_waiting, lambda line: read_drain("srv5", line)):
        with pytest.raises(ValueError, match=r".+"):
            read(text)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"quiet_seconds": 30}, "srv5: pid 7 of ollama.service: no request ran for 30 s"),
        ({"quiet_seconds": 30, "unloaded": ["a:1", "b:1"]},
         "srv5: pid 7 of ollama.service: no request ran for 30 s; unloaded a:1, b:1"),
        ({"end": "timeout"},
         "srv5: pid 7 of ollama.service: expected no request in time, found 2 may run, from 10.0.0.9"),
        ({"end": "timeout", "activity": []},
         "srv5: pid 7 of ollama.service: expected no request in time, found quiet for 1.5 s only"),
        ({"end": "gone"}, "srv5: pid 7 of ollama.service: expected it to live while it was drained, found it ended"),
        ({"end": "nothing", "invocation": None}, "srv5: no process of Ollama runs, so nothing is served"),
    ],
)  # fmt: skip
def test_its_sentence(changes: dict[str, Any], sentence: str) -> None:
    found = ended(**changes)
    assert str(found) == sentence
    assert found.end is End(changes.get("end", "quiet"))


def test_the_instruments_are_named() -> None:
    assert ended().instrument == (
        "established connections and what went over them last (ss), expiry of loaded models (/api/ps)"
    )
    assert ended(models=None, told_by_ss=False).instrument == "established connections"


def test_only_what_serves_is_drained() -> None:
    refusal = nothing_to_drain(PLAIN)
    assert refusal is not None
    assert refusal.code == "nothing_to_drain"
    assert nothing_to_drain(SERVES) is None
