"""What runs on a host to pull, load and unload, against a real stand-in process."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from operations.remote import ollama_ask
from tests.virtual.standin import PINS, SMALLEST, Standin, free_port

SOURCE = Path(__file__).resolve().parents[2] / "operations" / "remote" / "ollama_ask.py"
DIGEST = PINS[SMALLEST]["digest"]


@pytest.fixture
def standin(tmp_path: Path) -> Iterator[Standin]:
    found = Standin(tmp_path)
    yield found
    found.stop()


def ask(endpoint: str, do: str, **asked: Any) -> subprocess.CompletedProcess[str]:
    asked = {"do": do, "model": SMALLEST, "endpoint": endpoint, "replaces": None} | asked
    source = SOURCE.read_text().replace("PAUSE_SECONDS = 3", "PAUSE_SECONDS = 0.01")
    call = f"{source}\nmain({json.dumps(json.dumps(asked))})\n"
    return subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, timeout=60, check=False)


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    return line


def test_a_pull_shows_progress_and_does_nothing_twice(standin: Standin) -> None:
    done = ask(standin.endpoint, "pull", digest=DIGEST)
    assert done.returncode == 0, done.stderr
    assert "pulling manifest" in done.stdout
    assert "100% of" in done.stdout
    again = ask(standin.endpoint, "pull", digest=DIGEST)
    assert (again.returncode, again.stdout) == (0, "")


def test_a_pull_that_breaks_off_is_tried_again_and_says_so(standin: Standin) -> None:
    standin.fail(pull="truncated")
    done = ask(standin.endpoint, "pull", digest=DIGEST)
    assert "going on (1 of 5)" in done.stdout
    assert (done.returncode == 0) or "broken off" in one_line(done)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("other-digest", f"expected {DIGEST}, found sha256:"),
        ("disk-full", "no space left on device"),
        ("error", "503"),
        ("500", "status 500"),
        ("close", "closed connection"),
    ],
)
def test_a_pull_that_fails_is_one_line(standin: Standin, fault: str, reason: str) -> None:
    standin.fail(pull=fault)
    assert reason in one_line(ask(standin.endpoint, "pull", digest=DIGEST))


def test_a_tag_that_holds_another_digest_is_left_alone(standin: Standin) -> None:
    standin.fail(pull="other-digest")
    standin.pull()
    standin.fail()
    before = standin.ask("GET", "/api/tags")
    assert f"expected {DIGEST}, found" in one_line(ask(standin.endpoint, "pull", digest=DIGEST))
    assert standin.ask("GET", "/api/tags") == before


def test_a_tag_moves_from_what_it_replaces_and_nothing_of_that_stays_loaded(standin: Standin) -> None:
    standin.fail(pull="other-digest")
    standin.pull()
    (old,) = standin.ask("GET", "/api/tags")[1]["models"]
    standin.ask("POST", "/api/generate", {"model": SMALLEST, "keep_alive": -1})
    standin.fail()
    assert ask(standin.endpoint, "pull", digest=DIGEST, replaces=f"sha256:{old['digest']}").returncode == 0
    (new,) = standin.ask("GET", "/api/tags")[1]["models"]
    assert "sha256:" + new["digest"] == DIGEST
    assert standin.ask("GET", "/api/ps")[1] == {"models": []}


def test_load_and_unload(standin: Standin) -> None:
    standin.pull()
    assert ask(standin.endpoint, "load", context=2048, keep_alive=-1).returncode == 0
    (resident,) = standin.ask("GET", "/api/ps")[1]["models"]
    assert resident["context_length"] == 2048
    assert ask(standin.endpoint, "load", context=2048, keep_alive="3600000000000ns").returncode == 0
    assert standin.ask("GET", "/api/ps")[1]["models"][0]["expires_at"] < resident["expires_at"]
    assert ask(standin.endpoint, "unload").returncode == 0
    assert standin.ask("GET", "/api/ps")[1] == {"models": []}


def test_a_load_that_fails_is_one_line(standin: Standin) -> None:
    assert f"model '{SMALLEST}' not found" in one_line(ask(standin.endpoint, "load", context=1, keep_alive=-1))
    standin.pull()
    standin.fail(generate="garbage")
    assert "expected a JSON object, found " in one_line(ask(standin.endpoint, "load", context=1, keep_alive=-1))


@pytest.mark.parametrize("body", ["[]", "null", "7", '"x"', "<html>", '{"models": [7]}', '{"models": 7}',
                                  '{"models": [{"name": "x", "digest": 7}]}'])  # fmt: skip
@pytest.mark.parametrize("do", ["pull", "load", "unload"])
def test_what_is_none_of_ollamas_answers_is_one_line(monkeypatch: pytest.MonkeyPatch, do: str, body: str) -> None:
    monkeypatch.setattr(ollama_ask, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(ollama_ask, "send", lambda *_: io.BytesIO(body.encode()))
    asked = {"do": do, "model": SMALLEST, "endpoint": "http://x", "digest": DIGEST, "replaces": None, "context": 1,
             "keep_alive": -1}  # fmt: skip
    with pytest.raises(SystemExit) as ended:
        ollama_ask.main(json.dumps(asked))
    assert str(ended.value).startswith(f"{do} {SMALLEST}: ")
    assert "expected" in str(ended.value)


@pytest.mark.parametrize("line", ["[]", "7", '{"total": "x"}', '{"total": 5, "completed": "x"}', "{"])
def test_a_pull_that_says_odd_things_broke_off(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.setattr(ollama_ask, "send", lambda *_: io.BytesIO(line.encode() + b"\n"))
    assert not ollama_ask.streamed({"endpoint": "http://x", "model": SMALLEST})


def test_nobody_at_home_is_one_line() -> None:
    done = ask(f"http://127.0.0.1:{free_port()}", "unload")
    assert "refused" in one_line(done).lower()
