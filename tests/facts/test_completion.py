"""A resident is asked for one token, and nothing is loaded for it: against a real stand-in."""

import http.client
import json
import subprocess
import time
from typing import Any

import pytest
from pyinfra.api.exceptions import FactProcessError

from facts.completion import Completions
from facts.remote import ollama_completion as remote
from fleet.completion import Completion
from tests.virtual.standin import SMALLEST, Standin

CONTEXT = 2048
EMBEDS = "all-minilm:22m"


def look(standin: Standin, *residents: tuple[str, int]) -> tuple[Completion, ...]:
    fact = Completions()
    command = fact.command(residents=residents or ((SMALLEST, CONTEXT),), endpoint=standin.endpoint)
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: tuple[Completion, ...] = fact.process(done.stdout.splitlines())
    return found


def counters(standin: Standin) -> Any:
    """Once no request is at work: one is counted after its answer, however long after."""
    while (found := standin.ask("GET", "/stand-in/counters")[1])["running"]:
        time.sleep(0.01)
    return found


@pytest.fixture
def resident(standin: Standin) -> Standin:
    for name in (SMALLEST, EMBEDS):
        standin.pull(name)
        asked = {"model": name, "keep_alive": "1h", "options": {"num_ctx": CONTEXT}}
        path, body = ("/api/embed", asked | {"input": "x"}) if name == EMBEDS else ("/api/generate", asked)
        assert standin.ask("POST", path, body)[0] == 200
    return standin


def test_it_answers_with_one_token_and_stays_as_it_was(resident: Standin) -> None:
    before = counters(resident)
    (found,) = look(resident)
    assert found == Completion(model=SMALLEST, kind="completion", asked=True, count=1, failure=None)
    assert found.is_answered
    assert counters(resident) == before | {"completions": before["completions"] + 1}
    contexts = {each["name"]: each["context_length"] for each in resident.ask("GET", "/api/ps")[1]["models"]}
    assert contexts == {SMALLEST: CONTEXT, EMBEDS: CONTEXT}


def test_a_model_for_embeddings_is_asked_for_one(resident: Standin) -> None:
    (found,) = look(resident, (EMBEDS, CONTEXT))
    assert (found.kind, found.is_answered) == ("embedding", True)


@pytest.mark.parametrize(
    ("model", "context", "failure"),
    [("absent:1b", CONTEXT, "not loaded"), (SMALLEST, 4096, f"loaded with context {CONTEXT}")],
)
def test_what_is_not_loaded_as_declared_is_not_asked(resident: Standin, model: str, context: int, failure: str) -> None:
    before = counters(resident)
    (found,) = look(resident, (model, context))
    assert (found.asked, found.is_answered, found.failure) == (False, False, failure)
    assert counters(resident) == before


@pytest.mark.parametrize(
    ("faults", "failure"),
    [
        ({"generate": "500"}, "status 500: stand-in fault"),
        ({"generate": "garbage"}, "status 200 and no JSON"),
        ({"generate": "close"}, "remote end closed connection without response"),
        ({"completion": "empty"}, None),
    ],
)
def test_no_token_is_no_answer(resident: Standin, faults: dict[str, str], failure: str | None) -> None:
    resident.fail(**faults)
    (found,) = look(resident)
    assert (found.asked, found.is_answered, found.failure) == (True, False, failure)


def test_it_waits_no_longer_than_it_says(resident: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("facts.completion.ANSWER_SECONDS", 1)
    resident.fail(generate="hang")
    found = look(resident, (SMALLEST, CONTEXT), (SMALLEST, CONTEXT))
    assert [each.failure for each in found] == ["no answer in 1 s"] * 2, "the time is for all of them together"


def test_a_server_that_does_not_say_what_is_loaded_is_not_observed(resident: Standin) -> None:
    resident.fail(ps="500")
    with pytest.raises(FactProcessError, match=r"/api/ps: status 500"):
        look(resident)


@pytest.mark.parametrize("said", ["[]", "7", '"x"', "null", '{"models": [7]}', '{"models": 7}', '{"models": [{}]}'])
def test_what_does_not_say_what_is_loaded_was_not_looked_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: str
) -> None:
    monkeypatch.setattr(http.client, "HTTPConnection", lambda *_, **__: Connection([said]))
    remote.main(json.dumps({"endpoint": "http://x:1", "seconds": 5, "residents": []}))
    assert json.loads(capsys.readouterr().out)["error"].startswith("ollama API http://x:1/api/ps: ")


@pytest.mark.parametrize("said", ["[]", "7", '{"response": 7}', '{"eval_count": "x"}', '{"eval_count": []}'])
def test_an_odd_answer_is_none(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: str) -> None:
    loaded = json.dumps({"models": [{"name": SMALLEST, "context_length": CONTEXT}]})
    says = [loaded, "{}", said]
    monkeypatch.setattr(http.client, "HTTPConnection", lambda *_, **__: Connection(says))
    residents = [{"model": SMALLEST, "context": CONTEXT}]
    remote.main(json.dumps({"endpoint": "http://x:1", "seconds": 5, "residents": residents}))
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["asked"], found["count"]) == (True, 0)


class Connection:
    """Gives one text after the other as an answer of status 200."""

    status = 200

    def __init__(self, says: list[str]) -> None:
        self.says = says

    def request(self, *_: Any) -> None:
        pass

    def getresponse(self) -> "Connection":
        return self

    def read(self, _: int) -> str:
        return self.says.pop(0)

    def close(self) -> None:
        pass
