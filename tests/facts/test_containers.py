"""Asking a Docker that is played: what leaves the host, and that nobody is started or taken for empty."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from facts.containers import Containers
from facts.remote import docker_containers
from fleet.containers import Containers as FoundContainers
from fleet.containers import parse_containers
from tests.facts.played_docker import CONTAINER, IMAGE, LISTED, MANIFEST, PlayedDocker, inspected

REMOTE: Any = docker_containers
Play = Callable[..., PlayedDocker]
RUNS = ("active", "active")
LOADED = ("not-found", "loaded")


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    return tmp_path / "docker.sock"


@pytest.fixture
def play(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    """Starts the daemon, and a systemd that says how it and its socket are."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    started: list[PlayedDocker] = []

    def run(answers: Mapping[str, Any] | None = LISTED, units: tuple[str | None, str | None] = RUNS) -> Any:
        blocks = (
            f"LoadState={'loaded' if each else 'not-found'}\nActiveState={each or 'inactive'}\n" for each in units
        )
        (tmp_path / "shown").write_text("\n".join(blocks))
        systemctl = tmp_path / "bin" / "systemctl"
        systemctl.write_text(f"#!/bin/sh\ncat {tmp_path}/shown\n")
        systemctl.chmod(0o755)
        if answers is not None:
            started.append(PlayedDocker(path, answers))
            return started[-1]
        return None

    yield run
    for each in started:
        each.stop()


def look(path: Path) -> FoundContainers:
    command: Any = Containers().command(path=str(path), seconds=5)
    return parse_containers(json.dumps(REMOTE.look(command.arguments)))


def blind(path: Path) -> str:
    with pytest.raises(REMOTE.Blind) as error:
        look(path)
    return str(error.value)


def test_a_container_is_told_without_its_secrets(play: Play, path: Path) -> None:
    play()
    seen = look(path)
    (found,) = seen.containers
    assert "s3cr3t" not in seen.canonical
    assert found.environment == {
        "EMPTY": "(redacted)", "HF_TOKEN": "(redacted)", "NCCL_IB_HCA": "=rocep1s0f0", "VLLM_API_KEY": "(redacted)",
    }  # fmt: skip
    assert found.labels == {"org.opencontainers.image.version": "0.11.0", "sparks.deployment": "qwen"}
    assert (found.name, found.id, found.pid, found.state, found.health) == (
        "vllm", CONTAINER, 4121, "running", "healthy",
    )  # fmt: skip
    assert [(each.source, each.target, each.writable) for each in found.mounts] == [
        ("/models", "/m", False), ("cache", "/root/.cache", True),
    ]  # fmt: skip
    assert (found.restart, found.survives_boot, found.is_ours, found.restarts) == ("unless-stopped", True, True, 2)


def test_a_tag_says_nothing_and_either_digest_names_the_image(play: Play, path: Path) -> None:
    play()
    (found,) = look(path).containers
    assert found.image == "vllm/vllm-openai:latest"
    assert found.is_of(IMAGE)
    assert found.is_of(MANIFEST)
    assert not found.is_of("sha256:" + "c" * 64)


def test_an_image_that_is_in_no_registry_has_its_own_digest(play: Play, path: Path) -> None:
    play({key: value for key, value in LISTED.items() if not key.startswith("/images")})
    assert look(path).containers[0].repo_digests == ()


def test_none_is_an_answer(play: Play, path: Path) -> None:
    play({"/containers/json?all=1": []})
    assert look(path) == FoundContainers()


def test_one_that_goes_while_we_look_is_not_there(play: Play, path: Path) -> None:
    play({**LISTED, "/containers/json?all=1": [{"Id": "d" * 64}, {"Id": CONTAINER}]})
    assert [each.id for each in look(path).containers] == [CONTAINER]


def test_what_a_container_does_is_not_stable_and_how_it_was_made_is(play: Play, path: Path) -> None:
    play()
    before = look(path)
    state = {"Status": "running", "Pid": 9, "StartedAt": "2026-11-30T07:00:00Z", "ExitCode": 0, "OOMKilled": False}
    after = json.loads(before.canonical)
    told = REMOTE.told(inspected(State=state, RestartCount=3), [f"vllm/vllm-openai@{MANIFEST}"], _arguments())
    after["containers"] = [told]
    assert parse_containers(json.dumps(after)).stable == before.stable


def test_a_daemon_that_waits_for_a_client_is_not_started(play: Play, path: Path) -> None:
    daemon = play(units=("inactive", "active"))
    assert blind(path) == "docker.service is inactive, and to ask would start it"
    assert not daemon.asked


@pytest.mark.parametrize(
    ("units", "reason"),
    [((None, None), "docker is not installed"), (("failed", "inactive"), "docker.service is failed")],
)
def test_no_daemon_is_not_no_container(
    play: Play, path: Path, units: tuple[str | None, str | None], reason: str
) -> None:
    play(None, units)
    assert blind(path) == reason


def test_a_socket_that_nobody_serves_is_not_observed(play: Play, path: Path) -> None:
    play().stop()
    assert blind(path) == f"{path}: connection refused"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((500, b'{"message": "s3cr3t"}'), "docker/containers/json?all=1: status 500"),
        ((403, b""), "docker/containers/json?all=1: status 403"),
        ((200, b"<html>s3cr3t</html>"), "docker/containers/json?all=1: expected JSON, found another text"),
        ((200, b"[" * 100_000), "docker/containers/json?all=1: expected JSON, found another text"),
    ],
)
def test_another_answer_is_not_observed(play: Play, path: Path, answer: tuple[int, bytes], reason: str) -> None:
    play({"/containers/json?all=1": answer})
    assert blind(path) == reason


def test_another_shape_is_not_observed(play: Play, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play({**LISTED, f"/containers/{CONTAINER}/json": {"Id": CONTAINER, "Image": IMAGE}})
    REMOTE.main(json.dumps(_arguments(path)))
    assert "docker: expected another shape, found KeyError" in json.loads(capsys.readouterr().out)["error"]


def _arguments(path: Path | None = None) -> Any:
    command: Any = Containers().command(path=str(path), seconds=5)
    return command.arguments
