"""Finding servers by their processes and asking them: played engines over real HTTP."""

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from facts.ledger import OllamaServers
from facts.llamacpp import LlamaCpp
from facts.remote import engine_http, engine_places, engines
from facts.vllm import VllmServers
from fleet.llamacpp import LlamaServer
from fleet.record import Unobserved
from fleet.vllm import VllmServer
from tests.conftest import CaseText
from tests.facts.played_engine import PlayedEngine

REMOTE: Any = engines
PLACES: Any = engine_places
HTTP: Any = engine_http
Play = Callable[..., PlayedEngine]
PROPS = {
    "default_generation_settings": {"n_ctx": 8192, "prompt": "s3cr3t"}, "total_slots": 2, "build_info": "b8681-x",
    "model_path": "/m/a.gguf", "chat_template": "s3cr3t", "is_sleeping": False,
}  # fmt: skip
LLAMA: dict[str, Any] = {
    "/health": {"status": "ok"},
    "/props": PROPS,
    "/models": {"data": [{"id": "a", "meta": {"size": 100, "n_ctx_train": 40960}}]},
    "/slots": [{"id": 0, "n_ctx": 8192, "is_processing": True, "prompt": "s3cr3t"}],
    "/metrics": [501, '{"error": {"code": 501}}'],
}


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    started: list[PlayedEngine] = []

    def start(name: str, *words: str, **environment: str) -> PlayedEngine:
        folder = tmp_path / str(len(started))
        started.append(PlayedEngine(folder, name, *words, environment={**os.environ, **environment}))
        return started[-1]

    yield start
    for each in started:
        each.stop()


def look(fact: Any, **arguments: str) -> Any:
    """What a fact finds, without engines that run here and are not played."""
    REMOTE.found.cache_clear()
    command: Any = fact.command(**arguments)
    told = REMOTE.look(command.arguments)
    told["servers"] = [each for each in told["servers"] if each["pid"] in {*PlayedEngine.pids, None}]
    return fact.parse(json.dumps(told))


def vllm(**arguments: str) -> VllmServer:
    (found,) = look(VllmServers(), **arguments)
    assert isinstance(found, VllmServer)
    return found


def llama(**arguments: str) -> LlamaServer:
    (found,) = look(LlamaCpp(), **arguments).servers
    assert isinstance(found, LlamaServer)
    return found


def test_a_vllm_is_found_by_its_process_and_asked_where_it_listens(play: Play, case: CaseText) -> None:
    engine = play("vllm", "serve", "org/model", "--api-key", "s3cr3t")
    models = json.loads(case("091", "input.json"))
    models["data"][0]["permission"] = [{"id": "s3cr3t"}]
    engine.says({
        "/health": [200, ""], "/version": {"version": "0.11.0"}, "/v1/models": models,
        "/metrics": [307, "", {"Location": "/metrics/"}],
        "/metrics/": [200, case("093", "input.new.txt") + 'other{token="s3cr3t"} 1\n'],
    })  # fmt: skip
    found = vllm()
    assert (found.endpoint, found.pid, found.healthy, found.version) == (
        engine.endpoint, engine.process.pid, True, "0.11.0",
    )  # fmt: skip
    assert not isinstance(found.models, Unobserved)
    assert found.models.models[0].names == ("fast", "default")
    assert not isinstance(found.metrics, Unobserved)
    assert found.metrics.engines[0].kv_use == 0.4
    assert "s3cr3t" not in found.canonical


def test_one_that_asks_for_a_key_is_asked_no_more_than_that(play: Play) -> None:
    play("vllm", "serve", "m").says({"/health": [200, ""], "/v1/models": [401, '{"error": "s3cr3t"}']})
    found = vllm()
    assert found.models == Unobserved(reason="/v1/models: status 401: it asks for a key")
    assert "s3cr3t" not in found.canonical


def test_a_headless_vllm_answers_nobody(play: Play) -> None:
    play("vllm", "serve", "m", "--headless", "--node-rank", "1")
    assert look(VllmServers()) == ()


def test_an_address_is_asked_without_a_process_and_once_with_one(play: Play) -> None:
    engine = play("vllm", "serve", "m")
    engine.says({"/health": [200, ""]})
    assert vllm(endpoints=engine.endpoint).pid == engine.process.pid
    engine.stop()
    found = vllm(endpoints=f"{engine.endpoint}/")
    assert (found.endpoint, found.pid) == (engine.endpoint, None)
    assert found.healthy == Unobserved(reason="/health: connection refused")
    assert found.metrics == Unobserved(reason="/metrics: connection refused")


def test_a_llama_server_is_told_without_prompts(play: Play) -> None:
    engine = play("llama-server", "-m", "/m/a.gguf", "--api-key", "s3cr3t")
    engine.says(LLAMA)
    found = llama()
    assert (found.pid, found.mode, found.context_per_slot, found.is_idle) == (engine.process.pid, "single", 8192, False)
    assert not isinstance(found.models, Unobserved)
    assert found.models[0].weights_bytes == 100
    assert "s3cr3t" not in found.canonical


@pytest.mark.parametrize(
    ("words", "environment", "changed"),
    [
        (("--sleep-idle-seconds", "300"), {}, {}),
        ((), {"LLAMA_ARG_SLEEP_IDLE_SECONDS": "300"}, {}),
        ((), {}, {"/props": {**PROPS, "is_sleeping": True}}),
        ((), {}, {"/props": [401, ""]}),
    ],
)
def test_one_that_may_sleep_is_not_kept_awake(
    play: Play, words: tuple[str, ...], environment: dict[str, str], changed: dict[str, Any]
) -> None:
    engine = play("llama-server", *words, **environment)
    engine.says({**LLAMA, **changed})
    assert isinstance(llama().slots, Unobserved)
    assert "/slots" not in engine.asked


@pytest.mark.parametrize(
    ("words", "environment"), [(("--api-prefix", "/llm"), {}), ((), {"LLAMA_ARG_API_PREFIX": "/llm/"})]
)
def test_one_that_serves_under_a_prefix_is_asked_there(
    play: Play, words: tuple[str, ...], environment: dict[str, str]
) -> None:
    engine = play("llama-server", *words, **environment)
    engine.says({f"/llm{path}": answer for path, answer in LLAMA.items()})
    found = llama()
    assert (found.endpoint, found.health, found.is_idle) == (f"{engine.endpoint}/llm", "ok", False)


def test_an_address_may_have_a_path(play: Play) -> None:
    engine = play("vllm", "serve", "m")
    engine.says({
        "/a/health": [200, ""], "/a/metrics": [307, "", {"Location": "/a/metrics/"}],
        "/a/metrics/": [200, 'vllm:num_requests_running{engine="0"} 1\n'],
    })  # fmt: skip
    found = look(VllmServers(), endpoints=f"{engine.endpoint}/a")[-1]
    assert (found.pid, found.healthy, found.metrics.engines[0].running) == (None, True, 1)


@pytest.mark.parametrize("words", [("llama-server", "--host"), ("vllm", "serve", "m", "--uds")])
def test_one_that_has_no_port_may_have_a_socket(play: Play, words: tuple[str, ...]) -> None:
    with TemporaryDirectory() as folder:
        path = f"{folder}/x.sock"
        engine = play(*words, path)
        engine.says({"/health": [307, "", {"Location": "http://localhost/h"}], "/h": [200, ""]})
        found: Any = llama() if words[0] == "llama-server" else vllm()
        assert (found.endpoint, found.pid) == (f"unix://{path}", engine.process.pid)
        assert (found.health if words[0] == "llama-server" else found.healthy) in ("ok", True)


def test_a_socket_of_somebody_else_is_not_asked(play: Play) -> None:
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as others:
        others.bind(f"{folder}/x.sock")
        others.listen()
        process = {"pid": play("llama-server").process.pid, "options": {"host": f"{folder}/x.sock"}}
        assert PLACES.sockets(process) == []
        assert PLACES.sockets({**process, "pid": os.getpid()}) == [f"unix://{folder}/x.sock"]


def test_one_that_loads_says_so(play: Play) -> None:
    loading = [503, '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}']
    play("llama-server").says(dict.fromkeys(LLAMA, loading))
    assert llama().health == "loading"


def test_an_ollama_is_found_that_is_no_unit_of_ours(play: Play, case: CaseText) -> None:
    engine = play("ollama", "serve")
    engine.says({"/api/version": {"version": "0.13.0"}, "/api/ps": json.loads(case("080", "input.json"))})
    (found,) = look(OllamaServers())
    assert (found.endpoint, found.pid, found.version) == (engine.endpoint, engine.process.pid, "0.13.0")
    assert [each.name for each in found.residents] == ["qwen3:30b", "llama3.2:3b"]
    engine.says({"/api/version": {"version": "0.13.0"}, "/api/ps": {"models": None}})
    assert look(OllamaServers())[0].residents == ()
    engine.says({"/api/version": {"version": "0.13.0"}, "/api/ps": [500, case("084", "input.c.json")]})
    assert look(OllamaServers())[0].residents == Unobserved(reason="/api/ps: status 500")


def test_a_router_that_is_known_by_its_address_alone_says_nothing_of_those_behind_it(play: Play) -> None:
    engine = play("stranger")
    engine.says({**LLAMA, "/props": {"role": "router"}})
    found = llama(endpoints=engine.endpoint)
    assert found.slots == Unobserved(reason="/slots: a router has none of its own")
    assert found.counts == Unobserved(reason="/metrics: a router has none of its own")


@pytest.mark.parametrize("location", ["http://[bad/", "//[::1", "http://127.0.0.1:99999999/", ""])
def test_one_that_leads_to_no_address_costs_only_its_own_answer(play: Play, location: str) -> None:
    engine = play("llama-server")
    engine.says({**LLAMA, "/models": [307, "", {"Location": location}]})
    found = llama()
    assert isinstance(found.models, Unobserved)
    assert found.total_slots == 2


@pytest.mark.parametrize(
    "body", ["[" * 100_000, '{"data": [{"id": "\\ud800"}]}', '{"data": [{"id": "a", "meta": {"size": NaN}}]}']
)
def test_what_no_json_can_carry_further_costs_only_its_own_answer(play: Play, body: str) -> None:
    engine = play("llama-server")
    engine.says({**LLAMA, "/models": [200, body]})
    found = llama()
    assert found.models == Unobserved(reason="/models: expected another shape, found status 200 with other words")
    assert found.total_slots == 2


@pytest.mark.parametrize(
    "start", [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n"]
)
def test_one_that_answers_byte_by_byte_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, start: bytes) -> None:
    monkeypatch.setattr(HTTP, "SECONDS", 0.6)
    ended = threading.Event()

    def drip(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.sendall(start)
            for _ in range(60):
                if ended.wait(0.1):
                    return
                try:
                    connection.sendall(b"x")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=(server,))
        thread.start()
        begun = time.monotonic()
        answer = HTTP.asked(f"http://127.0.0.1:{server.getsockname()[1]}", "/health")
        took = time.monotonic() - begun
        ended.set()
        thread.join()
    assert answer == {"error": "no answer in 0.6 s"}
    assert took < 5
