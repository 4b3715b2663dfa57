"""The size of a pull before it happens, and a pull that would bring another model."""

import ast
import json
import re

import pytest

from fleet.observation import Observation
from fleet.ollama.decide import model_step
from fleet.ollama.deployment import OllamaModelPin
from fleet.ollama.published import sizes
from fleet.ollama.registry import Published, parse_published
from fleet.ollama.source import Source
from fleet.ollama.steps import CopyModel, PullModel
from fleet.prestate import prestate
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.target import Scope
from tests.fleet.ollama.host import PIN, A, B, seen

KNOWN = Published(model=PIN.name, digests=(A,), size_bytes=1_000_000, missing_bytes=250_000)
UNKNOWN = Published(model=PIN.name, reason="no answer in 6 s")


def absent(*published: Published) -> Observation:
    return seen(models=()).replaced(ollama_registry=published)


def said(found: Observation) -> str:
    step = model_step(PIN, found)
    assert isinstance(step, PullModel)
    (line,) = sizes([step], found)
    return line


def test_the_size_is_told_before_it_happens() -> None:
    assert said(absent(KNOWN)) == (
        "srv5 ollama model qwen3:0.6b: 1,000,000 bytes at the registry, 250,000 of them to download"
    )


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (absent(UNKNOWN), "no answer in 6 s"),
        (absent(), "nobody asked"),
        (seen(models=()), "this observation did not look"),
        (seen(models=()).replaced(ollama_registry=Unobserved(reason="x")), "x"),
    ],
)
def test_a_size_that_is_not_known_is_said_to_be_so(found: Observation, reason: str) -> None:
    assert f"the registry could not be asked ({reason}), so its size is what the roster says" in said(found)


def test_a_pull_that_would_bring_another_model_is_refused_before_it_begins() -> None:
    moved = KNOWN.replaced(digests=(B,))
    refusal = model_step(PIN, absent(moved))
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.found) == ("model_republished", B)
    assert refusal.hint is not None
    (row,) = re.findall(r"\{[^}]*\}", refusal.hint)
    follows = OllamaModelPin(**ast.literal_eval(row))
    assert (follows.manifest_digest, follows.size_bytes, follows.pull) == (B, 1_000_000, True)
    assert isinstance(model_step(follows, absent(moved)), PullModel)


def test_any_of_the_digests_that_it_may_get_here_will_do() -> None:
    assert isinstance(model_step(PIN, absent(KNOWN.replaced(digests=(B, A)))), PullModel)


def test_what_is_copied_is_asked_of_nobody() -> None:
    found = absent(KNOWN.replaced(digests=(B,)))
    store = found.ollama_models
    assert not isinstance(store, Unobserved)
    source = Source(spark="a", rail=1, address="10.0.1.1", client="10.0.1.2")
    step = model_step(PIN, found.replaced(ollama_models=store.replaced(directory="/data")), source)
    assert isinstance(step, CopyModel)
    assert sizes([step], found) == ()


def test_no_plan_rests_on_what_others_publish() -> None:
    digests = {prestate(absent(each), Scope.SERVE)["ollama_registry"] for each in (KNOWN, UNKNOWN)}
    assert len(digests) == 1


def test_a_look_is_read() -> None:
    text = json.dumps([
        {"model": "a:1", "digests": ["sha256:" + "a" * 64, "sha256:" + "a" * 64], "size": 5, "missing": 2},
        {"model": "b:1", "error": "status 404"},
    ])  # fmt: skip
    assert parse_published(text) == (
        Published(model="a:1", digests=(A,), size_bytes=5, missing_bytes=2),
        Published(model="b:1", reason="status 404"),
    )
    with pytest.raises(ValueError, match="no such"):
        parse_published('{"error": "no such"}')
