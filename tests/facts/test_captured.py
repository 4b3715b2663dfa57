"""What real engines answered, read to exact values: `captured/ENGINE-VERSION/CASE.json`, see the README.md there.

started: …      how the server was started
servers: …      it, then those that it has started itself: `endpoint`, `options` of its arguments, `answers` by path
fact: …         what the fact says of it, as JSON
"""

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult

import pytest

from facts.llamacpp import LlamaCpp
from facts.remote import engine_http, engines
from facts.vllm import VllmServers
from fleet import llamacpp, vllm
from fleet.exposition import parse_exposition
from fleet.record import Record, Unobserved

REMOTE: Any = engines
CAPTURED = Path(__file__).parent / "captured"
CASES = sorted(CAPTURED.glob("*/*.json"))
NOT_OURS = ("s3cr3t", "/home/", "/root/", "/tmp/", "the quick brown fox")
"""What no file may have: the key of the captures, paths of the machine, and the prompt."""


def named(path: Path) -> str:
    return path.relative_to(CAPTURED).with_suffix("").as_posix()


def asking(captured: dict[str, Any]) -> dict[str, Any]:
    """The server to ask, with those behind it. Its process is ours, whose environment has nothing of an engine."""
    one, *inner = (
        {"endpoint": each["endpoint"], "process": {"pid": os.getpid(), "options": each["options"]}, "inner": []}
        for each in captured["servers"]
    )
    return {**one, "inner": inner}


def said_by(path: Path, captured: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Record:
    """The fact of a host where these servers answer so."""
    answers = {each["endpoint"].split("/")[2]: each["answers"] for each in captured["servers"]}

    def got(parts: SplitResult, asked: str) -> dict[str, Any]:
        answer: dict[str, Any] = answers[parts.netloc].get(asked, {"error": "not captured"})
        return answer

    monkeypatch.setattr(engine_http, "got", got)
    server, is_llama = asking(captured), path.parent.name.startswith("llama")
    command: Any = (LlamaCpp() if is_llama else VllmServers()).command()
    said = (REMOTE.llama if is_llama else REMOTE.vllm)(command.arguments, engine_http, server)
    told = {"endpoint": server["endpoint"], "pid": 7, "container_id": None, "said": said}
    text = json.dumps({"servers": [told], "lenders": []})
    (found,) = llamacpp.parse_llamacpp(text).servers if is_llama else vllm.parse_servers(text)
    return found


@pytest.mark.parametrize("path", CASES, ids=named)
def test_what_a_real_engine_answered_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    captured = json.loads(path.read_text(encoding="utf-8"))
    assert said_by(path, captured, monkeypatch).to_json() == captured["fact"]


@pytest.mark.parametrize("path", CASES, ids=named)
def test_a_capture_has_nothing_of_who_made_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [word for word in NOT_OURS if word in text] == []


def test_every_line_of_a_real_exposition_is_read() -> None:
    for path in CAPTURED.glob("*/idle.json"):
        text = json.loads(path.read_text(encoding="utf-8"))["servers"][0]["answers"]["/metrics"]["body"]
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        assert len(parse_exposition(text)) == len(lines) >= 15


@pytest.mark.parametrize(
    ("case", "idle"),
    [
        ("llama.cpp-b11669-debian/idle", True),
        ("llama.cpp-b11669-debian/router_busy", False),
        ("llama.cpp-b11669-debian/router_unloaded", True),
        ("llama.cpp-b11669-debian/router_sleeping", True),
        ("llama.cpp-b11669-debian/sleeping", True),
        ("llama.cpp-b11669-debian/loading", None),
        ("vllm-0.32.0-cpu/idle", True),
        ("vllm-0.32.0-cpu/busy", False),
        ("vllm-0.32.0-cpu/asleep", True),
    ],
)
def test_who_is_at_work_is_known_or_nobody_says(case: str, idle: bool | None, monkeypatch: pytest.MonkeyPatch) -> None:
    path = CAPTURED / f"{case}.json"
    found: Any = said_by(path, json.loads(path.read_text(encoding="utf-8")), monkeypatch)
    assert isinstance(found.is_idle, Unobserved) if idle is None else found.is_idle is idle
