"""Waiting until no request runs: the program that runs on a host, against a real stand-in and real connections."""

import http.client
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from facts.look import SENTINEL
from fleet.drain import Drain, End, Waiting, read_drain, read_waiting
from fleet.ollama import quiet
from fleet.refusal import Refusal
from operations import drain
from operations.remote import ollama_drain
from operations.stream import Broken
from tests.facts.played_ollama import PlayedHost
from tests.virtual.standin import SMALLEST, Standin

pytestmark = pytest.mark.skipif(shutil.which("ss") is None, reason="needs ss of iproute2, as a Spark has it")


class Played(PlayedHost):
    """A played host with a stand-in that has a model loaded, and the drain on it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(root, monkeypatch)
        monkeypatch.setattr(drain, "as_root", lambda command: command)
        monkeypatch.setattr(drain, "HELD", ":")
        (root / "home").mkdir()
        self.standin = Standin(root / "home", OLLAMA_KEEP_ALIVE="-1")
        self.standin.pull()
        self.standin.ask("POST", "/api/generate", {"model": SMALLEST})
        self.runs(self.standin.process.pid)

    def start(self, seconds: float = 1, timeout: float = 60, unload: bool = False) -> "subprocess.Popen[str]":
        shown = "".join(f"{name}={value}\n" for name, value in self.properties.items())
        (self.root / "shown").write_text(shown)
        command = drain.drain_command(seconds, timeout, unload)
        return subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def drained(self, **wish: Any) -> tuple[list[Waiting], Drain]:
        out, err = self.start(**wish).communicate(timeout=120)
        *lines, last, sentinel = out.splitlines() or ["", ""]
        assert sentinel == SENTINEL, err
        return [each for line in lines if (each := read_waiting(line))], read_drain("srv5", last)

    @property
    def counters(self) -> Any:
        return self.standin.ask("GET", "/stand-in/counters")[1]

    def complete(self, **options: int) -> tuple[int, Any]:
        return self.standin.ask("POST", "/api/generate", {
            "model": SMALLEST, "prompt": "x", "stream": False, "options": options,
        })  # fmt: skip


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Played]:
    found = Played(tmp_path, monkeypatch)
    yield found
    found.standin.stop()


def test_where_no_request_runs_it_is_quiet_from_the_first_look(played: Played) -> None:
    looks, found = played.drained()
    assert (found.end, found.activity, found.models) == (End.QUIET, (), (SMALLEST,))
    assert found.quiet_seconds >= 1
    assert found.invocation is not None
    assert found.invocation.pid == played.standin.process.pid
    assert all(each.activity == () for each in looks)
    assert "ss" in found.instrument
    assert "/api/ps" in found.instrument
    assert played.counters["unloads"] == 0


@pytest.mark.parametrize("streamed", [True, False])
def test_a_request_is_waited_for(played: Played, streamed: bool) -> None:
    """It comes bit by bit, so that it runs until the drain has seen it; then it is answered slowly."""
    played.standin.fail(completion="slow")
    body = json.dumps({"model": SMALLEST, "prompt": "x", "stream": streamed}).encode()
    client = http.client.HTTPConnection("127.0.0.1", played.standin.port)
    client.putrequest("POST", "/api/generate")
    client.putheader("Content-Length", str(len(body)))
    client.endheaders(body[:1])
    process = played.start()
    assert process.stdout is not None
    first = read_waiting(process.stdout.readline())
    assert first is not None
    assert first.activity == ("1 may run, from 127.0.0.1",)
    client.send(body[1:])
    out, err = process.communicate(timeout=120)
    assert read_drain("srv5", out.splitlines()[-2]).end is End.QUIET, err
    client.sock.settimeout(0.1)  # it waited, so the answer is here
    assert json.loads(client.getresponse().read().splitlines()[-1])["done"] is True
    client.close()


def test_a_request_that_comes_and_goes_between_two_looks_starts_the_count_anew(played: Played) -> None:
    process = played.start(seconds=6)
    assert process.stdout is not None
    first = read_waiting(process.stdout.readline())
    assert first is not None
    played.complete(num_predict=1)
    out, _ = process.communicate(timeout=120)
    said = [each for line in out.splitlines()[:-2] if (look := read_waiting(line)) for each in look.activity]
    assert any(f"{SMALLEST} just used" in each for each in said)


@pytest.mark.parametrize(("looks", "code"), [(0, "unobserved"), (1, "drain_failed")])
def test_one_that_never_looked_has_not_observed(monkeypatch: pytest.MonkeyPatch, looks: int, code: str) -> None:
    def lines(*_: object) -> Iterator[str]:
        yield from [json.dumps({"quiet_seconds": 0, "activity": ["1 may run"], "models": []})] * looks
        raise Broken("sudo: a password is required")

    monkeypatch.setattr(drain, "lines", lines)
    told: list[Waiting] = []
    host: Any = SimpleNamespace(name="srv5")
    found = drain.wait_until_quiet(host, 1, 60, unload=False, tell=told.append)
    assert isinstance(found, Refusal)
    assert (found.code, found.found, len(told)) == (code, "sudo: a password is required", looks)


def test_what_a_look_takes_is_not_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else one look of a busy host were enough, and what began meanwhile had not been seen."""
    clock: Any = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    clock.sleep = lambda seconds: setattr(clock, "now", clock.now + seconds)
    looks: list[float] = []

    def look() -> Any:
        looks.append(clock.now)
        clock.now += 40
        return {"clients": {}, "models": {}}

    monkeypatch.setattr(ollama_drain, "time", clock)
    found = ollama_drain.wait(SimpleNamespace(quiet=quiet, look=look), {"seconds": 30, "timeout": 600})
    assert (found["end"], found["quiet_seconds"], looks) == ("quiet", 41.0, [0.0, 41.0])


def test_an_idle_connection_is_no_request(played: Played) -> None:
    """A client keeps one open between its requests; the kernel knows that the last word was the server's."""
    played.standin.fail(completion="slow")
    client = http.client.HTTPConnection("127.0.0.1", played.standin.port)
    client.request("POST", "/api/generate", json.dumps({
        "model": SMALLEST, "prompt": "x", "stream": False, "options": {"num_predict": 1},
    }))  # fmt: skip
    client.getresponse().read()
    _, found = played.drained()
    assert found.end is End.QUIET
    client.close()


def test_time_runs_out_while_a_request_runs(played: Played) -> None:
    client = http.client.HTTPConnection("127.0.0.1", played.standin.port)
    client.putrequest("POST", "/api/generate")
    client.putheader("Content-Length", "100")
    client.endheaders(b"{")
    _, found = played.drained(timeout=2)
    client.close()
    assert (found.end, found.activity) == (End.TIMEOUT, ("1 may run, from 127.0.0.1",))
    assert "found 1 may run, from 127.0.0.1" in str(found)


def test_without_the_kernels_word_each_connection_may_carry_a_request(played: Played) -> None:
    script = played.root / "bin" / "ss"
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    client = http.client.HTTPConnection("127.0.0.1", played.standin.port)
    client.connect()
    _, found = played.drained(timeout=2)
    client.close()
    assert (found.end, found.told_by_ss) == (End.TIMEOUT, False)
    assert found.instrument == "established connections, expiry of loaded models (/api/ps)"


def test_another_process_in_its_place_is_not_drained(played: Played) -> None:
    process = played.start(seconds=30)
    assert process.stdout is not None
    process.stdout.readline()
    played.standin.stop()
    out, _ = process.communicate(timeout=60)
    assert read_drain("srv5", out.splitlines()[-2]).end is End.GONE


def test_where_nothing_runs_nothing_is_served(played: Played) -> None:
    played.runs(None)
    _, found = played.drained()
    assert (found.end, found.invocation) == (End.NOTHING, None)


def test_asked_for_it_unloads_at_the_end_so_that_nothing_is_served(played: Played) -> None:
    _, found = played.drained(unload=True)
    assert (found.end, found.models, found.unloaded) == (End.QUIET, (SMALLEST,), (SMALLEST,))
    assert played.standin.ask("GET", "/api/ps")[1] == {"models": []}


def test_an_api_that_does_not_answer_leaves_the_connections(played: Played) -> None:
    played.standin.fail(ps="500")
    _, found = played.drained()
    assert (found.end, found.models) == (End.QUIET, None)
    assert "/api/ps" not in found.instrument
    with pytest.raises(ValueError, match="no answer of /api/ps"):
        played.drained(unload=True)


def test_it_ends_when_nobody_reads_it(played: Played) -> None:
    process = played.start(seconds=60)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) != 0


def test_what_goes_wrong_on_the_host_is_told(played: Played) -> None:
    (played.root / "bin" / "systemctl").write_text("#!/bin/sh\necho no bus >&2; exit 1\n")
    with pytest.raises(ValueError, match="systemctl show: no bus"):
        played.drained()
    assert os.path.exists(f"/proc/{played.standin.process.pid}")
