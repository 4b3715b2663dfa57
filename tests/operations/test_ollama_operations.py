"""The operations in a pyinfra run on this machine: a real stand-in, a played systemd, nothing under /etc."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet.generation import Generation
from fleet.ollama.deployment import OllamaDeployment, OllamaModelPin, OllamaResidentPin
from tests import forked
from tests.fleet.ollama.host import begun
from tests.virtual.standin import PINS, REGISTRY, SMALLEST, free_port

PIN = OllamaModelPin(
    name=SMALLEST,
    manifest_digest=PINS[SMALLEST]["digest"],
    size_bytes=PINS[SMALLEST]["size_bytes"],
    pull=True,
)
DEPLOY = """
from tests.forked import everywhere
import facts.look, fleet.lock, fleet.ollama.deployment
everywhere(fleet.lock.PLACE, {units!r} + "/run")
everywhere(facts.look.as_root, lambda command, otherwise="": command)
everywhere(fleet.ollama.deployment.DROP_IN, {drop_in!r})
import fleet.ollama.residents_unit
everywhere(fleet.ollama.residents_unit.RESIDENTS_PATH, {units!r} + "/sparks-ollama-residents.service")
import facts.ollama
facts.ollama.DIRECTORIES = ({units!r},)
import fleet.generation
everywhere(fleet.generation.HOME, {units!r})
everywhere(fleet.generation.STAMP, {units!r} + "/generation.json")
everywhere(fleet.generation.BEGUN, {units!r} + "/generation.begun")
from fleet.desired import DesiredSpark
from fleet.ollama.deployment import OllamaDeployment
from fleet.spark import Spark
from operations import generation, ollama
ollama.SHOWS_WITHIN_SECONDS = 2.0

desired = OllamaDeployment.from_canonical({desired!r})
spark = DesiredSpark(name="played", spark=Spark(enrolled=True), rail_ends=(), ollama=desired)
applied = fleet.generation.Begun.from_canonical({applied!r})
ollama.service(name="service", desired=desired, drained=frozenset({drained!r}))
ollama.model(name="models", desired=desired)
ollama.resident(name="residents", desired=desired, drained=frozenset({drained!r}))
generation.stamp(name="stamp", desired=spark, applied=lambda: applied)
"""


class Played:
    """One played host, and the runs of a deploy on it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.units = root / "units"
        self.units.mkdir()
        self.faults = root / "faults.json"
        self.drop_in = self.units / "ollama.service.d" / "sparks.conf"
        self.stamp = self.units / "generation.json"
        self.drained: tuple[str, ...] = ()
        self.desired = OllamaDeployment(
            listen=f"127.0.0.1:{free_port()}",
            environment={"OLLAMA_KEEP_ALIVE": "-1"},
            models=(PIN,),
            residents=(OllamaResidentPin(model=SMALLEST, context=2048),),
        )
        (self.units / "ollama.service").write_text(
            f'[Service]\nEnvironment="HOME={root}" PATH=/usr/bin:/bin OLLAMA_STANDIN_REGISTRY={REGISTRY}\n'
            f"Environment=OLLAMA_STANDIN_FAULTS={self.faults}\n"
        )
        script = root / "bin" / "systemctl"
        script.parent.mkdir()
        played = Path(__file__).with_name("played_systemctl.py")
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -S {played} {self.units} "$@"\n')
        script.chmod(0o755)
        (script.parent / "python3").symlink_to(os.path.realpath(sys.executable))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        deploy = self.root / "deploy.py"
        values = {"drop_in": str(self.drop_in), "units": str(self.units), "desired": self.desired.canonical}
        deploy.write_text(DEPLOY.format(**values, applied=begun().canonical, drained=self.drained))
        environment = {"PATH": f"{self.root / 'bin'}:{os.environ['PATH']}", "COLUMNS": "200"}
        command = ("@local", deploy, *(arguments or ("-y",)))
        return forked.ran(forked.pyinfra_command, *command, environment=environment)

    def converge(self) -> str:
        done = self.run()
        assert done.returncode == 0, done.stderr
        return done.stderr

    def refused(self) -> str:
        done = self.run()
        assert done.returncode == 1, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done.stderr

    def ask(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://{self.desired.listen}{path}", data=data)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=60) as answer:
            return json.loads(answer.read())

    def fail(self, **faults: str) -> None:
        self.faults.write_text(json.dumps(faults))

    @property
    def pid(self) -> int:
        return int(json.loads((self.units / "state.json").read_text())["pid"])

    @property
    def verbs(self) -> list[str]:
        """What systemctl was told since the last time, looks left out."""
        path = self.units / "verbs"
        found = path.read_text().split()
        path.write_text("")
        return found

    def change(self, **fields: Any) -> None:
        self.desired = OllamaDeployment.model_validate(dict(self.desired) | fields)


@pytest.fixture
def played(tmp_path: Path) -> Iterator[Played]:
    found = Played(tmp_path)
    yield found
    if (found.units / "state.json").exists() and found.pid:
        os.kill(found.pid, signal.SIGKILL)


def test_a_bare_unit_converges_and_then_nothing_changes(played: Played) -> None:
    played.converge()
    assert played.verbs == ["daemon-reload", "enable", "restart", "enable-residents"]
    assert played.drop_in.read_text() == played.desired.drop_in_text
    assert played.drop_in.stat().st_mode & 0o777 == 0o644
    assert [path.name for path in played.drop_in.parent.iterdir()] == ["sparks.conf"]
    (resident,) = played.ask("/api/ps")["models"]
    assert (resident["name"], resident["context_length"]) == (SMALLEST, 2048)
    pid, expires = played.pid, resident["expires_at"]
    said = played.converge()
    assert said.count("[@local] No changes") == 4
    assert played.verbs == []
    assert played.pid == pid
    assert played.ask("/api/ps")["models"][0]["expires_at"] == expires


def test_a_dry_run_changes_nothing(played: Played) -> None:
    done = played.run("--dry")
    assert done.returncode == 0
    assert not played.drop_in.exists()
    assert played.verbs == []


def test_a_run_killed_after_the_write_is_finished_by_the_next(played: Played) -> None:
    played.converge()
    played.change(environment={"OLLAMA_KEEP_ALIVE": "24h"})
    played.drop_in.write_text(played.desired.drop_in_text)
    assert played.verbs
    played.converge()
    assert played.verbs == ["daemon-reload", "restart"]
    assert played.ask("/api/ps")["models"]


def test_another_port_is_reached_in_one_run(played: Played) -> None:
    played.converge()
    played.change(listen=f"127.0.0.1:{free_port()}")
    played.converge()
    assert played.ask("/api/ps")["models"]


def test_a_process_that_no_run_of_ours_left_running_is_drained_first(played: Played) -> None:
    played.converge()
    (left,) = Generation.from_canonical(played.stamp.read_text()).invocations
    played.stamp.unlink()
    played.change(environment={"OLLAMA_KEEP_ALIVE": "24h"})
    pid, _ = played.pid, played.verbs
    said = played.refused()
    assert f"found pid {pid}, a process that no run of ours has started, with {SMALLEST} loaded [drain_needed]" in said
    assert (played.pid, played.verbs) == (pid, [])
    played.drained = (left.digest,)
    played.converge()
    assert played.pid != pid
    (left,) = Generation.from_canonical(played.stamp.read_text()).invocations
    assert left.pid == played.pid


def test_a_port_that_somebody_else_has_is_refused(played: Played) -> None:
    with socket.create_server(("127.0.0.1", int(played.desired.listen.rpartition(":")[2]))):
        assert f"found pid {os.getpid()} (" in played.refused()
    assert not played.drop_in.exists()


def test_a_resident_is_mended_without_a_restart(played: Played) -> None:
    played.converge()
    pid = played.pid
    played.ask("/api/generate", {"model": SMALLEST, "keep_alive": 0})
    played.converge()
    assert played.ask("/api/ps")["models"][0]["context_length"] == 2048
    assert played.pid == pid


def test_strangers_go_only_where_the_deployment_says_so(played: Played) -> None:
    played.converge()
    played.ask("/api/pull", {"model": "qwen3:0.6b", "stream": False})
    played.ask("/api/generate", {"model": "qwen3:0.6b"})
    played.converge()
    assert len(played.ask("/api/ps")["models"]) == 2
    played.change(evict_undeclared=True)
    played.converge()
    assert [model["name"] for model in played.ask("/api/ps")["models"]] == [SMALLEST]


def test_a_pull_that_ends_on_another_digest_fails_and_stays_refused(played: Played) -> None:
    played.fail(pull="other-digest")
    assert f"expected {PIN.manifest_digest}, found sha256:" in played.refused()
    assert "refused" in played.refused()
    played.fail()
    assert "model gemma3:270m" in played.refused()


def test_a_server_that_does_not_answer_is_refused(played: Played) -> None:
    played.converge()
    assert played.verbs
    for fault, reason in (
        ("garbage", "expected JSON"),
        ("500", "status 500"),
        ("close", "remote end closed"),
    ):
        played.fail(tags=fault)
        assert reason in played.refused()
    assert played.verbs == []


def test_a_model_on_the_cpu_is_refused(played: Played) -> None:
    played.fail(processor="cpu")
    assert "expected 100% GPU, found 100% CPU" in played.refused()


def test_a_pull_that_nobody_allowed_is_refused(played: Played) -> None:
    played.change(models=(PIN.model_copy(update={"pull": False}),))
    assert "found no such model" in played.refused()


def test_a_host_that_serves_nothing_is_left_alone(tmp_path: Path) -> None:
    deploy = tmp_path / "deploy.py"
    lines = [f"ollama.{each}(name={each!r}, desired=None)" for each in ("service", "model", "resident")]
    deploy.write_text("from operations import ollama\n" + "\n".join(lines) + "\n")
    done = forked.ran(forked.pyinfra_command, "@local", deploy, "-y")
    assert done.returncode == 0, done.stderr
