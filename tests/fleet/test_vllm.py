"""What vLLM says of itself: cases 091, 093 and 096, and answers that are none."""

import json
from typing import Any

import pytest

from fleet.record import Unobserved
from fleet.vllm import Adapter, ServedModel, VllmServer, parse_models, parse_servers
from fleet.vllm_metrics import VllmMetrics, parse_metrics
from tests.conftest import CaseText

COUNTED = 'vllm:num_requests_running{engine="0"} 0\nvllm:num_requests_waiting{engine="0"} 0\n'
ANSWERS: dict[str, Any] = {
    "/health": {"status": 200, "value": True},
    "/version": {"status": 200, "value": "0.11.0+nv25.11"},
    "/v1/models": {"status": 200, "value": [{"id": "m", "root": "org/m", "parent": None, "max_model_len": 4096}]},
    "/is_sleeping": {"status": 404},
    "/metrics": {"status": 200, "value": COUNTED},
}


def server(**changed: Any) -> VllmServer:
    said = {**ANSWERS, **{"/" + path.replace("__", "/"): answer for path, answer in changed.items()}}
    told = {"endpoint": "http://127.0.0.1:8000", "pid": 7, "container_id": None, "said": said}
    (found,) = parse_servers(json.dumps({"servers": [told]}))
    return found


def counted(text: str) -> VllmMetrics:
    found = parse_metrics(text)
    assert isinstance(found, VllmMetrics)
    return found


def test_names_of_one_model_and_adapters_are_told_apart(case: CaseText) -> None:
    found = parse_models(json.loads(case("091", "input.json"))["data"])
    assert found.models == (
        ServedModel(names=("fast", "default"), root="nvidia/Llama-3.1-8B-FP4", max_model_len=131072),
    )
    assert found.adapters == (Adapter(name="sql-lora", root="/adapters/sql", parent="fast"),)


def test_models_without_a_root_are_not_one() -> None:
    found = parse_models([{"id": "a", "root": None}, {"id": "b"}])
    assert [(each.names, each.root) for each in found.models] == [(("a",), None), (("b",), None)]


@pytest.mark.parametrize(("name", "engine"), [("input.new.txt", "0"), ("input.old.txt", "")])
def test_a_series_counts_under_its_old_name_too(case: CaseText, name: str, engine: str) -> None:
    (found,) = counted(case("093", name)).engines
    assert (found.engine, found.kv_use, found.running, found.waiting) == (engine, 0.4, 1, None)


def test_where_both_names_are_there_the_new_one_counts() -> None:
    text = 'vllm:gpu_cache_usage_perc{engine="0"} 0.1\nvllm:kv_cache_usage_perc{engine="0"} 0.4\n'
    assert counted(text).engines[0].kv_use == 0.4


def test_engines_are_counted_apart_and_models_of_one_together() -> None:
    text = "".join(
        f'vllm:num_requests_running{{engine="{engine}",model_name="{model}"}} {count}\n'
        f'vllm:num_requests_waiting{{engine="{engine}",model_name="{model}"}} 0\n'
        for engine, model, count in (("0", "a", 1), ("0", "b", 2), ("1", "a", 4))
    )
    found = counted(text)
    assert [(each.engine, each.running) for each in found.engines] == [("0", 3), ("1", 4)]
    assert found.requests == 7


def test_nobody_counts_is_not_idle() -> None:
    for text in ("", "python_gc_collections_total 3\n"):
        assert isinstance(parse_metrics(text), Unobserved)
    found = server(metrics={"status": 200, "value": ""})
    assert isinstance(found.is_idle, Unobserved)
    assert isinstance(server(metrics={"status": 404}).is_idle, Unobserved)
    assert server().is_idle is True


def test_an_engine_whose_waiting_is_not_counted_may_be_busy(case: CaseText) -> None:
    found = server(metrics={"status": 200, "value": case("093", "input.new.txt").replace(" 1.0", " 0.0")})
    assert isinstance(found.is_idle, Unobserved)


def test_drafts_are_accepted_or_not() -> None:
    lines = ("vllm:spec_decode_num_draft_tokens_total 50", "vllm:spec_decode_num_accepted_tokens_total 30")
    assert counted("\n".join(lines)).engines[0].acceptance == 0.6
    assert counted(lines[0].replace("50", "0")).engines[0].acceptance is None
    assert counted(lines[0]).engines[0].acceptance is None


def test_the_cache_says_how_much_context_it_holds() -> None:
    text = COUNTED + 'vllm:cache_config_info{engine="0",block_size="16",num_gpu_blocks="1000",cache_dtype="fp8"} 1\n'
    assert counted(text).engines[0].kv_capacity_tokens == 16000
    assert counted(text.replace('"1000"', '"None"')).engines[0].kv_capacity_tokens is None
    assert counted(text.replace("cache_dtype=", 'kv_cache_size_tokens="9000",d=')).engines[0].kv_capacity_tokens == 9000


def test_it_may_be_healthy_and_asleep_and_say_nothing_of_its_models() -> None:
    """The answers of cases/096."""
    asleep = COUNTED + 'vllm:engine_sleep_state{engine="0",sleep_state="awake"} 0.0\n'
    found = server(
        is_sleeping={"status": 200, "value": True},
        v1__models={"status": 401},
        metrics={"status": 200, "value": asleep},
    )
    assert (found.healthy, found.sleeping, found.version) == (True, True, "0.11.0+nv25.11")
    assert found.models == Unobserved(reason="/v1/models: status 401: it asks for a key")
    assert server(metrics={"status": 200, "value": asleep}).sleeping is True
    assert server(metrics={"status": 200, "value": asleep.replace("0.0\n", "1.0\n")}).sleeping is False
    assert server().sleeping == Unobserved(reason="/is_sleeping: status 404")


@pytest.mark.parametrize(
    ("answer", "healthy"),
    [
        ({"status": 503}, False),
        ({"status": 500}, Unobserved(reason="/health: status 500")),
        ({"error": "connection refused"}, Unobserved(reason="/health: connection refused")),
    ],
)
def test_health_has_two_words(answer: dict[str, Any], healthy: bool | Unobserved) -> None:
    assert server(health=answer).healthy == healthy


@pytest.mark.parametrize("value", [None, 7, "text", [None], [{}], {"id": "m"}])
def test_another_shape_is_not_observed(value: Any) -> None:
    found = server(v1__models={"status": 200, "value": value}, metrics={"status": 200, "value": "a b c"})
    assert isinstance(found.models, Unobserved)
    assert isinstance(found.metrics, Unobserved)
    assert found.version == "0.11.0+nv25.11"


def test_a_look_that_could_not_find_processes_is_none() -> None:
    with pytest.raises(ValueError, match="process 7: permission denied"):
        parse_servers('{"error": "process 7: permission denied"}')


@pytest.mark.parametrize("value", [None, 7, "false", {}, ["0.11.0"]])
def test_a_word_of_another_kind_is_not_observed(value: Any) -> None:
    found = server(is_sleeping={"status": 200, "value": value})
    assert found.sleeping == Unobserved(reason="/is_sleeping: expected another shape, found TypeError")
    if not isinstance(value, str):
        assert isinstance(server(version={"status": 200, "value": value}).version, Unobserved)
