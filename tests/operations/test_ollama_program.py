"""Sending an archive of this machine: what is missing or another is never sent, and what was sent is gone on with."""

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyinfra import logger

from fleet.ollama.steps import InstallProgram
from fleet.step import Effect
from operations import acting, ollama_program
from operations.answer import Answer
from operations.stream import Broken

CONTENT = b"0123456789"


class Played:
    """A host that keeps what it is sent, and unpacks it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.archive = root / "ollama.tgz"
        self.archive.write_bytes(CONTENT)
        self.there, self.sent, self.said = 0, [], []  # type: ignore[var-annotated]
        self.errors: list[str] = []
        self.unpacks: list[str] = ["verified; unpacking"]
        monkeypatch.setattr(ollama_program, "ask", lambda *_: Answer(True, (str(self.there),), ""))
        monkeypatch.setattr(ollama_program, "send", self.send)
        monkeypatch.setattr(ollama_program, "lines", lambda *_: iter(self.unpacks))
        monkeypatch.setattr(ollama_program, "going_on", lambda _, line: self.said.append(line))
        monkeypatch.setattr(logger, "error", self.errors.append)
        monkeypatch.setattr(acting, "refused", lambda *_: None)

    def send(self, host: Any, command: Any, path: str, offset: int, tell: Any) -> None:
        self.sent.append((path, offset))
        for at in range(offset, len(CONTENT)):
            tell(at + 1)

    def step(self, **changes: Any) -> InstallProgram:
        digest = "sha256:" + hashlib.sha256(CONTENT).hexdigest()
        values: dict[str, Any] = {
            "subject": "srv5 ollama program", "before": "none", "after": "there", "reason": "x", "version": "0.33.1",
            "effect": Effect.WRITE, "archive": str(self.archive), "archive_digest": digest, "size_bytes": 10,
            "folder": "0.33.1-abc",
        }  # fmt: skip
        return InstallProgram(**(values | changes))

    def install(self, step: InstallProgram) -> bool:
        host: Any = SimpleNamespace(name="srv5", print_prefix="")
        state: Any = None
        return ollama_program._carry_out(state, host, step, ["take", "unpack"])  # type: ignore[list-item]


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    return Played(tmp_path, monkeypatch)


@pytest.mark.parametrize(("there", "offset"), [(0, 0), (4, 4), (11, 0)])
def test_it_is_sent_from_where_an_earlier_run_stopped(played: Played, there: int, offset: int) -> None:
    played.there = there
    assert played.install(played.step())
    assert played.sent == [(str(played.archive), offset)]
    assert played.said[-2:] == ["sent 100% of 10 bytes", "verified; unpacking"]


def test_what_is_there_whole_is_not_sent_again(played: Played) -> None:
    played.there = 10
    assert played.install(played.step())
    assert played.sent == []


@pytest.mark.parametrize(
    ("changes", "content", "reason"),
    [
        ({}, b"012345678", "found one of 9"),
        ({"archive": "/nowhere/x"}, CONTENT, "found no such file"),
        ({}, b"9876543210", "found sha256:"),
    ],
)
def test_what_is_missing_or_another_is_never_sent(
    played: Played, changes: dict[str, Any], content: bytes, reason: str
) -> None:
    played.archive.write_bytes(content)
    assert not played.install(played.step(**changes))
    assert played.sent == []
    assert reason in played.errors[0]


def test_an_archive_of_a_server_is_none_of_this_machine(played: Played) -> None:
    assert ollama_program.missing(played.step(archive="https://example.invalid/x")) is None


def test_what_the_host_says_is_the_reason(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise Broken("tar: no room")

    monkeypatch.setattr(ollama_program, "lines", broken)
    assert not played.install(played.step())
    assert played.errors == ["refused: srv5 ollama program: expected there, found tar: no room [not_installed]"]
