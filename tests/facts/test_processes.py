"""Finding engines among real processes: what they call themselves, whom they started, what they listen on."""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from facts.processes import EngineProcesses as Look
from facts.remote import engine_processes
from fleet.processes import EngineProcess, EngineProcesses, parse_processes
from tests.unburied import unburied

REMOTE: Any = engine_processes
Start = Callable[..., int]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a program under the words that it is given, waits until it says something, and ends it afterwards."""
    started: list[subprocess.Popen[bytes]] = []

    def run(*words: str, code: str = "", program: str = sys.executable) -> int:
        script = ["-c", f"import time\n{code}\nprint(flush=True)\ntime.sleep(120)"] if program == sys.executable else []
        process = subprocess.Popen([*words, *script], executable=program, stdout=subprocess.PIPE)
        started.append(process)
        if script:
            assert process.stdout is not None
            process.stdout.readline()
        return process.pid

    yield run
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def look() -> EngineProcesses:
    REMOTE.DIGESTS.clear()
    command: Any = Look().command()
    return parse_processes(json.dumps(REMOTE.look(command.arguments)))


def seen(pid: int) -> EngineProcess:
    (found,) = (each for each in look().processes if each.pid == pid)
    return found


def named(tmp_path: Path, name: str) -> str:
    """A program of that name that sleeps: a file of its own, not an interpreter."""
    copied = tmp_path / name
    shutil.copy(str(shutil.which("sleep")), copied)
    return str(copied)


def test_a_process_is_told_with_what_identifies_it(start: Start, tmp_path: Path) -> None:
    program = named(tmp_path, "rpc-server")
    pid = start(program, "120", program=program)
    found = seen(pid)
    assert (found.runtime, found.role, found.comm, found.under) == ("llama.cpp", "rpc", "rpc-server", None)
    assert (found.uid, found.ppid, found.exe, found.exe_deleted) == (os.geteuid(), os.getpid(), program, False)
    assert found.executable_digest == "sha256:" + hashlib.sha256(Path(program).read_bytes()).hexdigest()
    assert found.argv_digest == "sha256:" + hashlib.sha256(f"{program}\x00120\x00".encode()).hexdigest()
    assert found.memory.rss_bytes > 0
    assert found.memory.pss_bytes is not None
    assert found.start_ticks == int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def test_a_program_that_was_replaced_since_is_told(start: Start, tmp_path: Path) -> None:
    program = named(tmp_path, "llama-server")
    pid = start(program, "120", program=program)
    before = seen(pid).executable_digest
    Path(program).unlink()
    Path(program).write_text("another")
    found = seen(pid)
    assert (found.exe, found.exe_deleted, found.executable_digest) == (program, True, before)


def test_where_it_listens_is_asked_of_the_kernel(start: Start) -> None:
    code = "import socket, sys; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], end='')"
    pid = start("ggml-rpc-server", code=code)
    (place,) = seen(pid).listens
    assert place.startswith("127.0.0.1:")


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[dict[str, int]]:
    """`vllm serve` that starts a worker through a process that says nothing: their pids."""
    python = sys.executable
    (tmp_path / "worker").write_text("import os, time\nprint(os.getpid(), os.getppid(), flush=True)\ntime.sleep(120)\n")
    words = f"['VLLM::Worker_TP0', {str(tmp_path / 'worker')!r}], executable={python!r}"
    (tmp_path / "between").write_text(f"import subprocess\nsubprocess.Popen({words}).wait()\n")
    words = f"[{python!r}, {str(tmp_path / 'between')!r}]"
    (tmp_path / "vllm").write_text(f"import subprocess\nsubprocess.Popen({words}).wait()\n")
    command = ["python3", str(tmp_path / "vllm"), "serve", "org/model", "--api-key", "s3cr3t"]
    with subprocess.Popen(command, executable=python, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        worker, between = map(int, server.stdout.readline().split())
        yield {"server": server.pid, "between": between, "worker": worker}
        for pid in (worker, between):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        server.kill()


def test_whatever_an_engine_starts_is_its_own_through_whoever_stands_between(tree: dict[str, int]) -> None:
    found = look()
    root = next(each for each in found.roots if each.pid == tree["server"])
    below = {each.role: each for each in found.below(root)}
    assert {role: each.pid for role, each in below.items()} == {
        "server": tree["server"], "child": tree["between"], "worker": tree["worker"],
    }  # fmt: skip
    assert root.options == {"model": "org/model"}
    assert "s3cr3t" not in found.canonical
    assert not any(each.is_orphan for each in below.values())


def test_a_worker_outlives_its_server_and_is_known_by_its_title(tree: dict[str, int]) -> None:
    os.kill(tree["server"], signal.SIGKILL)
    found = seen(tree["worker"])
    while found.under is not None:
        found = seen(tree["worker"])
    assert (found.runtime, found.role, found.is_orphan) == ("vllm", "worker", True)


def test_one_that_has_ended_and_waits_to_be_buried_is_told() -> None:
    with unburied("import ctypes; ctypes.CDLL(None).prctl(15, b'VLLM::EngineCore')") as pid:
        found = seen(pid)
        assert (found.role, found.state, found.argv_digest, found.exe) == ("engine", "Z", None, None)
        assert found.memory.held_bytes == 0


def test_a_runner_is_told_with_the_manifests_of_its_weights(start: Start, tmp_path: Path) -> None:
    blob = "a" * 64
    for tag, digest in {"small": blob, "other": "b" * 64}.items():
        path = tmp_path / "manifests/registry.ollama.ai/library/m" / tag
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"layers": [{"digest": f"sha256:{digest}"}]}))
    pid = start("ollama_llama_server", code="", program=sys.executable)
    assert seen(pid).artifacts == ()
    told = REMOTE.artifacts(pid, {"model": f"{tmp_path}/blobs/sha256-{blob}"})
    content = (tmp_path / "manifests/registry.ollama.ai/library/m/small").read_bytes()
    assert told == ["sha256:" + hashlib.sha256(content).hexdigest()]


@pytest.mark.parametrize(
    ("path", "container"),
    [
        ("0::/system.slice/docker-" + "c" * 64 + ".scope", True),
        ("0::/docker/" + "c" * 64, True),
        ("0::/system.slice/libpod-" + "c" * 64 + ".scope/container", True),
        ("0::/system.slice/ollama.service", False),
    ],
)
def test_a_container_is_known_by_its_control_group(path: str, container: bool) -> None:
    assert (REMOTE.CONTAINER.search(path) is not None) is container


def test_every_other_process_is_counted_together() -> None:
    assert look().others_anonymous_bytes > 1 << 20
