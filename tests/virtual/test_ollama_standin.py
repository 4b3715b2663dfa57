"""The stand-in answers as Ollama does, over real HTTP."""

import hashlib
import http.client
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.virtual.standin import PINS, PROGRAM, SMALLEST, Standin
from tests.waiting import until
from virtual import ollama_standin


@pytest.fixture
def standin(tmp_path: Path) -> Iterator[Standin]:
    found = Standin(tmp_path)
    yield found
    found.stop()


def test_it_says_that_it_is_a_standin(standin: Standin) -> None:
    assert standin.text("GET", "/") == (200, "Ollama is running")
    assert standin.ask("GET", "/api/version") == (200, {"version": "0.0.0-stand-in"})
    said = subprocess.run([sys.executable, PROGRAM, "--version"], capture_output=True, text=True, check=True)
    assert "stand-in" in said.stdout


def test_a_fresh_store_is_empty(standin: Standin) -> None:
    assert standin.ask("GET", "/api/tags") == (200, {"models": []})
    assert standin.ask("GET", "/api/ps") == (200, {"models": []})


def test_a_pull_streams_progress_and_ends_on_the_pinned_digest(standin: Standin) -> None:
    lines = standin.pull()
    assert lines[0] == {"status": "pulling manifest"}
    assert [line["status"] for line in lines[-3:]] == [
        "verifying sha256 digest",
        "writing manifest",
        "success",
    ]
    layers = [line for line in lines if "digest" in line]
    assert all(line["status"] == f"pulling {line['digest'][7:19]}" for line in layers)
    assert layers[-1]["completed"] == layers[-1]["total"]
    (model,) = standin.ask("GET", "/api/tags")[1]["models"]
    assert "sha256:" + model["digest"] == PINS[SMALLEST]["digest"]
    assert model["size"] == PINS[SMALLEST]["size_bytes"]
    assert model["details"]["family"] == PINS[SMALLEST]["family"]


def test_the_store_on_disk_is_ollamas(standin: Standin) -> None:
    standin.pull()
    name, tag = SMALLEST.split(":")
    manifest = standin.models / "manifests" / "registry.ollama.ai" / "library" / name / tag
    assert "sha256:" + hashlib.sha256(manifest.read_bytes()).hexdigest() == PINS[SMALLEST]["digest"]
    for layer in json.loads(manifest.read_text())["layers"]:
        blob = standin.models / "blobs" / layer["digest"].replace(":", "-")
        assert "sha256:" + hashlib.sha256(blob.read_bytes()).hexdigest() == layer["digest"]
        assert blob.stat().st_size == layer["size"]


@pytest.mark.parametrize("name", PINS)
def test_the_registry_file_states_what_follows_from_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_STANDIN_REGISTRY", str(PROGRAM.with_name("ollama_registry.json")))
    manifest, blobs = ollama_standin.published(name)
    assert PINS[name]["digest"] == "sha256:" + hashlib.sha256(manifest).hexdigest()
    assert PINS[name]["size_bytes"] == sum(map(len, blobs.values()))
    assert PINS[name]["size_bytes"] <= 2 * 2**20


def test_an_empty_prompt_loads_and_zero_unloads(standin: Standin) -> None:
    standin.pull()
    ask = {"model": SMALLEST, "keep_alive": -1, "options": {"num_ctx": 8192}}
    status, loaded = standin.ask("POST", "/api/generate", ask)
    assert (status, loaded["done"], loaded["done_reason"]) == (200, True, "load")
    (resident,) = standin.ask("GET", "/api/ps")[1]["models"]
    assert (resident["name"], resident["context_length"]) == (SMALLEST, 8192)
    assert resident["size_vram"] == resident["size"] > 0
    assert int(resident["expires_at"][:4]) >= 2300
    _, unloaded = standin.ask("POST", "/api/generate", {"model": SMALLEST, "keep_alive": 0})
    assert unloaded["done_reason"] == "unload"
    assert standin.ask("GET", "/api/ps")[1] == {"models": []}


def test_another_context_loads_again_and_the_expiry_rolls(standin: Standin) -> None:
    standin.pull()
    seen = []
    for context in (2048, 2048, 4096):
        standin.ask("POST", "/api/generate", {"model": SMALLEST, "keep_alive": "10m", "options": {"num_ctx": context}})
        seen.append(standin.ask("GET", "/api/ps")[1]["models"][0])
    assert [model["context_length"] for model in seen] == [2048, 2048, 4096]
    assert len({model["expires_at"] for model in seen}) == 3
    assert seen[2]["size"] > seen[1]["size"]


def running(standin: Standin) -> int:
    found: int = standin.ask("GET", "/stand-in/counters")[1]["running"]
    return found


def at_rest(standin: Standin) -> None:
    """A request is counted after its answer, however long after."""
    while running(standin):
        time.sleep(0.01)


def unloaded(standin: Standin) -> None:
    """It comes to hold no model, however busy this machine is."""
    until(lambda: standin.ask("GET", "/api/ps")[1] == {"models": []}, "expected the model to be unloaded")


def test_a_finite_keep_alive_ends(standin: Standin) -> None:
    standin.pull()
    before = time.monotonic()
    standin.ask("POST", "/api/generate", {"model": SMALLEST, "keep_alive": "500ms"})
    unloaded(standin)
    assert time.monotonic() - before >= 0.5
    assert standin.ask("GET", "/stand-in/counters")[1]["loads"] == 1


@pytest.mark.parametrize(
    ("keep_alive", "status"),
    [(-1, 200), ("-1m", 200), ("5m", 200), (30, 200), ("-1", 400), ("soon", 400), (True, 400)],
)
def test_keep_alive_forms(standin: Standin, keep_alive: object, status: int) -> None:
    standin.pull()
    found, body = standin.ask("POST", "/api/generate", {"model": SMALLEST, "keep_alive": keep_alive})
    assert found == status
    if keep_alive == "-1":
        assert body == {"error": 'time: missing unit in duration "-1"'}


def test_a_completion_streams_and_can_be_whole(standin: Standin) -> None:
    standin.pull()
    lines = standin.lines("/api/generate", {"model": SMALLEST, "prompt": "hello"})
    whole = standin.ask("POST", "/api/generate", {"model": SMALLEST, "prompt": "hello", "stream": False})[1]
    assert "".join(line["response"] for line in lines) == whole["response"]
    assert "stand-in" in whole["response"]
    assert [line["done"] for line in lines[-2:]] == [False, True]
    chat = standin.ask(
        "POST",
        "/api/chat",
        {"model": SMALLEST, "messages": [{"role": "user", "content": "hi"}], "stream": False},
    )[1]
    assert chat["message"] == {"role": "assistant", "content": whole["response"]}


def test_show_copy_and_delete(standin: Standin) -> None:
    standin.pull()
    _, shown = standin.ask("POST", "/api/show", {"model": SMALLEST})
    assert shown["model_info"]["gemma3.context_length"] == PINS[SMALLEST]["context_length"]
    assert standin.ask("POST", "/api/copy", {"source": SMALLEST, "destination": "mine"})[0] == 200
    assert {model["name"] for model in standin.ask("GET", "/api/tags")[1]["models"]} == {
        SMALLEST,
        "mine:latest",
    }
    assert standin.ask("DELETE", "/api/delete", {"model": SMALLEST})[0] == 200
    assert standin.ask("POST", "/api/show", {"model": "mine"})[0] == 200
    assert standin.ask("DELETE", "/api/delete", {"model": "mine"})[0] == 200
    assert not list((standin.models / "blobs").iterdir())


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "answer"),
    [
        ("POST", "/api/generate", {"model": "absent"}, 404, {"error": "model 'absent' not found"}),
        ("POST", "/api/show", {}, 400, {"error": "model is required"}),
        ("POST", "/api/generate", None, 400, {"error": "missing request body"}),
        ("DELETE", "/api/delete", {"model": "absent"}, 404, {"error": "model 'absent' not found"}),
        ("POST", "/api/copy", {"source": "a", "destination": "b"}, 404, {"error": 'model "a" not found'}),
    ],
)
def test_errors_are_ollamas(
    standin: Standin, method: str, path: str, body: object, status: int, answer: object
) -> None:
    assert standin.ask(method, path, body) == (status, answer)


def test_unknown_routes_are_plain_text(standin: Standin) -> None:
    assert standin.text("GET", "/api/none") == (404, "404 page not found")
    assert standin.text("GET", "/api/show") == (405, "405 method not allowed")


def test_faults_of_reading(standin: Standin) -> None:
    standin.fail(tags="500", ps="null", version="garbage")
    assert standin.ask("GET", "/api/tags") == (500, {"error": "model list cache unavailable"})
    assert standin.ask("GET", "/api/ps") == (200, {"models": None})
    assert "<html>" in standin.text("GET", "/api/version")[1]
    standin.fail(tags="hang", ps="close")
    with pytest.raises(TimeoutError):
        standin.text("GET", "/api/tags", timeout=0.3)
    with pytest.raises(http.client.RemoteDisconnected):
        standin.text("GET", "/api/ps")


def test_faults_of_pulling(standin: Standin) -> None:
    standin.fail(pull="error")
    assert "error" in standin.pull()[-1]
    standin.fail(pull="disk-full")
    assert "no space left on device" in standin.pull()[-1]["error"]
    assert standin.ask("POST", "/api/pull", {"model": SMALLEST, "stream": False})[0] == 500
    standin.fail()
    assert "file does not exist" in standin.pull("absent:1b")[-1]["error"]
    assert standin.ask("GET", "/api/tags")[1] == {"models": []}


def test_a_cut_pull_goes_on_where_it_stopped(standin: Standin) -> None:
    standin.fail(pull="truncated")
    with pytest.raises(http.client.IncompleteRead):
        standin.pull()
    standin.fail()
    first = next(line for line in standin.pull() if "digest" in line)
    assert 0 < first["completed"] < first["total"]
    (model,) = standin.ask("GET", "/api/tags")[1]["models"]
    assert "sha256:" + model["digest"] == PINS[SMALLEST]["digest"]


def test_a_pull_is_cut_once_at_half_and_the_next_one_goes_on(standin: Standin) -> None:
    standin.fail(pull="half")
    cut = standin.cut("/api/pull", {"model": SMALLEST})
    total = next(line["total"] for line in cut if "total" in line)
    assert cut[-1]["completed"] == total // 2
    whole = standin.pull()
    assert next(line["completed"] for line in whole if "completed" in line) == total // 2
    assert whole[-1] == {"status": "success"}


def test_what_it_says_of_loaded_models_can_be_wrong(standin: Standin) -> None:
    standin.pull()
    standin.fail(context="512", expiry="past")
    standin.ask("POST", "/api/generate", {"model": SMALLEST, "options": {"num_ctx": 2048}})
    (model,) = standin.ask("GET", "/api/ps")[1]["models"]
    assert model["context_length"] == 512
    assert model["expires_at"] < datetime.now(UTC).isoformat()
    standin.fail(expiry="far", ps="late")
    before = time.monotonic()
    (model,) = standin.ask("GET", "/api/ps")[1]["models"]
    assert time.monotonic() - before >= ollama_standin.LATE_SECONDS
    assert int(model["expires_at"][:4]) > datetime.now(UTC).year + 40


def test_it_can_die_while_it_loads(standin: Standin) -> None:
    standin.pull()
    standin.fail(generate="die")
    with pytest.raises((http.client.HTTPException, OSError)):
        standin.ask("POST", "/api/generate", {"model": SMALLEST})
    assert standin.process.wait(timeout=60) == -signal.SIGKILL


def test_a_republished_tag_has_another_digest(standin: Standin) -> None:
    standin.fail(pull="other-digest")
    assert standin.pull()[-1] == {"status": "success"}
    (model,) = standin.ask("GET", "/api/tags")[1]["models"]
    assert "sha256:" + model["digest"] != PINS[SMALLEST]["digest"]


def test_loading_is_listed_before_it_is_ready_and_a_cpu_shows(standin: Standin) -> None:
    standin.pull()
    standin.fail(processor="cpu")
    standin.ask("POST", "/api/generate", {"model": SMALLEST})
    assert standin.ask("GET", "/api/ps")[1]["models"][0]["size_vram"] == 0


def test_settings_come_from_the_environment(tmp_path: Path) -> None:
    standin = Standin(
        tmp_path,
        OLLAMA_KEEP_ALIVE="-1",
        OLLAMA_CONTEXT_LENGTH="1234",
        OLLAMA_MODELS=str(tmp_path / "my models"),
        OLLAMA_MAX_LOADED_MODELS="1",
    )
    try:
        for name in (SMALLEST, "qwen3:0.6b"):
            standin.pull(name)
            standin.ask("POST", "/api/generate", {"model": name})
        (resident,) = standin.ask("GET", "/api/ps")[1]["models"]
        assert (resident["name"], resident["context_length"]) == ("qwen3:0.6b", 1234)
        assert int(resident["expires_at"][:4]) >= 2300
        assert (tmp_path / "my models" / "blobs").is_dir()
    finally:
        standin.stop()


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("", ("127.0.0.1", 11434)),
        ("0.0.0.0", ("0.0.0.0", 11434)),
        (":8080", ("", 8080)),
        ("http://spark", ("spark", 80)),
        ("https://spark/ollama", ("spark", 443)),
        ("[::1]", ("::1", 11434)),
        ("::1", ("::1", 11434)),
        ("[::1]:80", ("::1", 80)),
        ("spark:70000", ("spark", 11434)),
    ],
)
def test_listen_addresses(value: str, address: tuple[str, int]) -> None:
    assert ollama_standin.listen_address(value) == address


def test_a_taken_port_is_one_clear_line(standin: Standin, tmp_path: Path) -> None:
    again = subprocess.run(
        [sys.executable, PROGRAM, "serve"],
        env={"HOME": str(tmp_path), "OLLAMA_HOST": f"127.0.0.1:{standin.port}"},
        capture_output=True,
        text=True,
    )
    assert again.returncode == 1
    assert "bind" in again.stderr


def test_it_counts_what_it_does(standin: Standin) -> None:
    nothing = {"loads": 0, "unloads": 0, "completions": 0, "embeddings": 0, "running": 0}
    assert standin.ask("GET", "/stand-in/counters") == (200, nothing)
    standin.pull()
    standin.ask("POST", "/api/generate", {"model": SMALLEST, "keep_alive": -1})
    _, said = standin.ask("POST", "/api/generate", {
        "model": SMALLEST, "prompt": "x", "stream": False, "options": {"num_predict": 1},
    })  # fmt: skip
    assert (said["eval_count"], said["done_reason"], said["response"]) == (1, "length", "this")
    at_rest(standin)
    standin.ask("POST", "/api/generate", {"model": SMALLEST, "keep_alive": 0})
    assert standin.ask("GET", "/stand-in/counters")[1] == nothing | {"loads": 1, "unloads": 1, "completions": 1}


def test_a_request_at_work_keeps_its_model_and_its_end_moves_the_expiry(standin: Standin) -> None:
    standin.pull()
    standin.fail(completion="slow")
    standin.ask("POST", "/api/generate", {"model": SMALLEST, "keep_alive": "1h"})
    (before,) = standin.ask("GET", "/api/ps")[1]["models"]
    asked = {"model": SMALLEST, "prompt": "x", "stream": False, "options": {}, "keep_alive": "1h"}
    with ThreadPoolExecutor(1) as pool:
        for _ in range(20):
            answer = pool.submit(standin.ask, "POST", "/api/generate", asked)
            while running(standin) == 0 and not answer.done():
                time.sleep(0.01)
            meanwhile = standin.ask("GET", "/api/ps")[1]["models"]
            standin.ask("POST", "/api/generate", {"model": SMALLEST, "keep_alive": 0})
            then = standin.ask("GET", "/api/ps")[1]["models"]
            if running(standin):
                break
            # A busy machine was too late for this one.
            answer.result()
            at_rest(standin)
            standin.ask("POST", "/api/generate", {"model": SMALLEST, "keep_alive": "1h"})
            (before,) = standin.ask("GET", "/api/ps")[1]["models"]
        assert meanwhile[0]["expires_at"] == before["expires_at"]
        assert then, "unloaded under a request"
        assert answer.result()[1]["eval_count"] == len(ollama_standin.WORDS)
    unloaded(standin)


def test_a_model_for_embeddings_answers_with_one_and_with_nothing_else(standin: Standin) -> None:
    name = "all-minilm:22m"
    standin.pull(name)
    assert standin.ask("POST", "/api/show", {"model": name})[1]["capabilities"] == ["embedding"]
    status, said = standin.ask("POST", "/api/generate", {"model": name, "prompt": "x"})
    assert (status, said) == (400, {"error": f'"{name}" does not support generate'})
    assert len(standin.ask("POST", "/api/embed", {"model": name, "input": "x"})[1]["embeddings"]) == 1
