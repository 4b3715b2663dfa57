"""What llama.cpp says of itself: cases 098 and 100, and what it was not asked."""

import json
from typing import Any

import pytest

from facts.remote import engines
from fleet.llamacpp import LlamaServer, parse_llamacpp
from fleet.record import Unobserved
from tests.conftest import CaseText

REMOTE: Any = engines
PROPS = {"role": None, "model_path": "/m/a.gguf", "total_slots": 2, "build_info": "b8681-x", "n_ctx": 8192}
MODEL = {
    "id": "a", "aliases": [], "size": 100, "n_params": 7, "n_ctx": 8192, "n_ctx_train": 40960, "status": None,
    "failed": False,
}  # fmt: skip
ANSWERS: dict[str, Any] = {
    "/health": {"status": 200, "value": True},
    "/props": {"status": 200, "value": {**PROPS, "is_sleeping": False}},
    "/models": {"status": 200, "value": [MODEL]},
    "/metrics": {"status": 501},
    "/slots": {"status": 200, "value": [{"id": 0, "n_ctx": 8192, "is_processing": True}]},
}


def server(**changed: Any) -> LlamaServer:
    said = {**ANSWERS, **{f"/{path}": answer for path, answer in changed.items()}}
    told = {"endpoint": "http://127.0.0.1:8080", "pid": 7, "container_id": None, "said": said}
    (found,) = parse_llamacpp(json.dumps({"servers": [told], "lenders": []})).servers
    return found


def test_a_single_server_is_told() -> None:
    found = server()
    assert (found.mode, found.health, found.build, found.context_per_slot, found.total_slots) == (
        "single", "ok", "b8681-x", 8192, 2,
    )  # fmt: skip
    assert not isinstance(found.models, Unobserved)
    assert (found.models[0].weights_bytes, found.models[0].is_resident) == (100, True)
    assert found.is_idle is False


def test_one_that_loads_is_no_fault(case: CaseText) -> None:
    for name, status in (("input.503.json", 503), ("input.ok.json", 200)):
        assert json.loads(case("098", name))
        assert server(health={"status": status}).health == {503: "loading", 200: "ok"}[status]
    assert server(health={"status": 500}).health == "error"
    assert server(health={"status": 404}).health == Unobserved(reason="/health: status 404")
    assert isinstance(server(health={"error": "no answer in 5 s"}).health, Unobserved)


def test_what_is_turned_off_is_not_observed_and_no_fault() -> None:
    found = server(slots={"status": 501})
    assert found.counts == Unobserved(reason="/metrics: it was not started with --metrics")
    assert found.slots == Unobserved(reason="/slots: status 501")
    assert isinstance(found.is_idle, Unobserved)


@pytest.mark.parametrize(("processing", "deferred", "idle"), [(1, 0, False), (0, 2, False), (0, 0, True)])
def test_what_it_counts_tells_where_slots_do_not(processing: int, deferred: int, idle: bool) -> None:
    text = f"llamacpp:requests_processing {processing}\nllamacpp:requests_deferred {deferred}\n"
    assert server(slots={"status": 501}, metrics={"status": 200, "value": text}).is_idle is idle


def test_a_router_counts_what_those_behind_it_count() -> None:
    text = "llamacpp:requests_processing 1\nllamacpp:requests_deferred 0\n"
    counts = server(metrics={"status": 200, "value": f"{text}\n{text}"}).counts
    assert not isinstance(counts, Unobserved)
    assert (counts.processing, counts.deferred) == (2, 0)


def test_an_alias_is_another_name_than_its_id() -> None:
    found = server(models={"status": 200, "value": [{**MODEL, "aliases": ["a", "b"]}]})
    assert not isinstance(found.models, Unobserved)
    assert found.models[0].aliases == ("b",)


def test_a_router_lists_what_it_could_load(case: CaseText) -> None:
    for name, resident in (("input.json", [False]), ("input.empty.json", [])):
        listed = REMOTE.llama_models(case("100", name))
        found = server(models={"status": 200, "value": listed}, props={"status": 200, "value": {"role": "router"}})
        assert found.mode == "router"
        assert not isinstance(found.models, Unobserved)
        assert [each.is_resident for each in found.models] == resident


@pytest.mark.parametrize(
    ("status", "resident"),
    [("loaded", True), ("loading", True), ("unloaded", False), ("sleeping", False), ("downloading", False)],
)
def test_a_model_of_a_router_that_sleeps_has_given_its_memory_back(status: str, resident: bool) -> None:
    found = server(models={"status": 200, "value": [{**MODEL, "status": status}]})
    assert found.mode == "router"
    assert not isinstance(found.models, Unobserved)
    assert found.models[0].is_resident is resident


def test_an_older_router_without_a_role_is_known_by_its_list(case: CaseText) -> None:
    listed = REMOTE.llama_models(case("100", "input.empty.json"))
    assert server(models={"status": 200, "value": listed}).mode == "router"
    assert isinstance(server(models={"status": 401}).mode, Unobserved)


@pytest.mark.parametrize("value", [None, 7, [None], [{}]])
def test_another_shape_is_not_observed(value: Any) -> None:
    found = server(models={"status": 200, "value": value}, slots={"status": 200, "value": value})
    assert isinstance(found.models, Unobserved)
    assert isinstance(found.slots, Unobserved)


@pytest.mark.parametrize(
    ("key", "value"),
    [("total_slots", "many"), ("build_info", 7), ("n_ctx", [1]), ("is_sleeping", 1.5), ("role", {}), ("n_ctx", 0.5)],
)
def test_props_of_another_shape_cost_nothing_else(key: str, value: Any) -> None:
    found = server(props={"status": 200, "value": {**PROPS, key: value}})
    assert (found.build, found.total_slots, found.sleeping, found.mode) == (None, None, None, "single")
    assert not isinstance(found.models, Unobserved)
    assert found.is_idle is False
