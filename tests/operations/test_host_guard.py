"""The memory guard: its program on a played Docker, and its service on a played host."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fleet.host.decide import GUARD
from fleet.host.guard_service import GUARD_UNIT, STATE, MemoryGuardPolicy
from fleet.host.guard_text import PROGRAM
from fleet.host.policy import HostPolicy
from tests.facts.played_docker import PlayedDocker
from tests.operations.played_host import PlayedHost

GIB = 2**30
NOW = 1_764_500_000.0
POLICY = HostPolicy(memory_guard=MemoryGuardPolicy(startup_gib=5, steady_gib=3, container="vllm"))

program: dict[str, Any] = {"__name__": "guard"}
exec(compile(PROGRAM, "memory-guard", "exec"), program)  # it is what lies on a host


def container(digit: str, name: str, started: str = "2025-11-30T00:00:00.5Z", **labels: str) -> dict[str, Any]:
    state = {"Running": True, "StartedAt": started}
    return {"Id": digit * 64, "Name": f"/{name}", "State": state, "Config": {"Labels": labels}}


class Docker(PlayedDocker):
    """A Docker that has these containers, and can be told to kill them."""

    def __init__(self, path: Path, *containers: dict[str, Any]) -> None:
        answers: dict[str, Any] = {f"/containers/{each['Id']}/json": each for each in containers}
        answers["/containers/json"] = [{"Id": each["Id"]} for each in containers]
        super().__init__(path, answers)
        handler: Any = self.server.RequestHandlerClass

        def killed(request: Any) -> None:
            self.asked.append(f"POST {request.path}")
            request.send_response(204)
            request.send_header("Content-Length", "0")
            request.end_headers()

        handler.do_POST = killed

    @property
    def killed(self) -> list[str]:
        """By the first digit of their ids."""
        return [each.split("/")[2][0] for each in self.asked if each.startswith("POST") and each.endswith("/kill")]


@contextlib.contextmanager
def docker(root: Path, *containers: dict[str, Any]) -> Iterator[Docker]:
    played = Docker(root / "docker.sock", *containers)
    try:
        yield played
    finally:
        played.stop()


def guard(root: Path, **asked: Any) -> Any:
    plain = {"docker": str(root / "docker.sock"), "state": str(root / "state.json"), "level": str(root / "steady"),
             "name": None, "label": None, "startup_bytes": 5 * GIB, "steady_bytes": 3 * GIB,
             "startup_seconds": 1800}  # fmt: skip
    return program["Guard"](SimpleNamespace(**(plain | asked)))


OTHERS = (
    container("1", "vllm-2"), container("2", "my-vllm"), container("3", "VLLM"), container("4", "x", guarded="truest"),
    container("5", "guarded", other="true"), container("6", "y"),
)  # fmt: skip
"""What is called nearly so."""


@pytest.mark.parametrize(("asked", "kept"), [({"name": "vllm"}, "a"), ({"label": "guarded=true"}, "b")])
def test_only_the_very_name_or_label_is_killed(tmp_path: Path, asked: dict[str, str], kept: str) -> None:
    mine = (container("a", "vllm"), container("b", "z", guarded="true"))
    with docker(tmp_path, *OTHERS, *mine) as played:
        guard(tmp_path, **asked).sample(NOW, 2 * GIB)
        assert played.killed == [kept]


@pytest.mark.parametrize("asked", [{"name": "vll"}, {"name": "vllm"}, {"label": "guarded=tru"}, {"label": "guarded="}])
def test_where_nothing_is_called_so_nothing_is_killed(tmp_path: Path, asked: dict[str, str]) -> None:
    with docker(tmp_path, *OTHERS) as played:
        guard(tmp_path, **asked).sample(NOW, 0)
        assert played.killed == []


@pytest.mark.parametrize(
    ("started", "told", "memory", "level", "killed"),
    [
        ("2025-11-30T10:50:00Z", False, 4, "startup", True),
        ("2025-11-30T10:50:00Z", False, 6, "startup", False),
        ("2025-11-30T10:50:00Z", True, 4, "steady", False),
        ("2025-11-30T10:50:00Z", True, 2, "steady", True),
        ("2025-11-30T08:00:00Z", False, 4, "steady", False),
    ],
)
def test_a_container_that_starts_goes_earlier(
    tmp_path: Path, started: str, told: bool, memory: int, level: str, killed: bool
) -> None:
    if told:
        (tmp_path / "steady").write_text(f"{'a' * 64}\n")
    with docker(tmp_path, container("a", "vllm", started)) as played:
        guard(tmp_path, name="vllm").sample(NOW, memory * GIB)
        assert bool(played.killed) is killed
    assert json.loads((tmp_path / "state.json").read_text())["level"] == level


def test_a_docker_that_does_not_answer_kills_nothing_and_is_told(tmp_path: Path) -> None:
    guard(tmp_path, name="vllm").sample(NOW, 0)
    assert json.loads((tmp_path / "state.json").read_text())["error"] == "FileNotFoundError"


def test_the_container_is_looked_up_again_before_it_is_killed(tmp_path: Path) -> None:
    with docker(tmp_path, container("a", "vllm")) as played:
        watching = guard(tmp_path, name="vllm")
        watching.sample(NOW, 9 * GIB)
        played.asked.clear()
        watching.sample(NOW + 1, 2 * GIB)
        assert played.asked[:2] == ["/containers/json", f"/containers/{'a' * 64}/json"]
        assert played.killed == ["a"]


class Guarded(PlayedHost):
    """A host where a restart of the unit makes a process with the unit's command line, which samples."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(root, monkeypatch)
        self.systemd(**{GUARD_UNIT: {"MainPID": "0"}})

    def run(self, step: Any) -> None:
        super().run(step)
        starts = step.kind == "run_memory_guard"
        if starts or step.kind == "set_unit_active":
            self.systemd(**{GUARD_UNIT: {"MainPID": "7" if starts else "0"}})
        if starts:
            unit = self.read(f"/etc/systemd/system/{GUARD_UNIT}")
            words = unit.partition("ExecStart=")[2].splitlines()[0].split()
            self.write("/proc/7/cmdline", "".join(f"{word}\0" for word in words))
            sample = {"at": program["time"].time(), "available_bytes": 1, "level": "steady", "threshold_bytes": 1}
            self.write(STATE, json.dumps(sample))


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guarded:
    return Guarded(tmp_path, monkeypatch)


def test_it_is_made_to_last_and_samples(host: Guarded) -> None:
    assert host.made_so(POLICY, GUARD) == [*["write_host_file"] * 3, "run_memory_guard"]
    unit = host.read(f"/etc/systemd/system/{GUARD_UNIT}")
    assert "--name vllm --startup-bytes 5368709120 --steady-bytes 3221225472" in unit
    assert "OOMScoreAdjust=-1000" in unit
    assert host.made_so(POLICY, GUARD) == []


def test_another_level_is_another_command_line(host: Guarded) -> None:
    host.made_so(POLICY, GUARD)
    other = HostPolicy(memory_guard=MemoryGuardPolicy(startup_gib=6, steady_gib=3, container="vllm"))
    assert host.made_so(other, GUARD) == ["write_host_file", "run_memory_guard"]


def test_one_that_does_not_sample_any_more_is_started_again(host: Guarded) -> None:
    host.made_so(POLICY, GUARD)
    host.write(STATE, json.dumps({"at": NOW, "available_bytes": 1, "level": "steady", "threshold_bytes": 1}))
    (step,) = host.outcomes(POLICY, GUARD)
    assert "runs and does not sample -> kills vllm below 5 GiB at its start, 3 GiB after" in str(step)


def test_one_that_nobody_declares_is_stopped_before_its_files_go(host: Guarded) -> None:
    host.made_so(POLICY, GUARD)
    assert host.made_so(HostPolicy(), GUARD) == ["set_unit_active", *["remove_host_file"] * 3]
