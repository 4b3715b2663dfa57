"""Which process serves, by the kernel's word: a real stand-in, real connections, a played systemd."""

import hashlib
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from pyinfra.api.exceptions import FactProcessError

from facts.invocation import OllamaInvocation
from facts.remote import ollama_invocation
from fleet.invocation import Running
from fleet.record import Unobserved
from tests.facts.played_ollama import PlayedHost
from tests.virtual.standin import PROGRAM, SMALLEST, Standin, free_port

REMOTE: Any = ollama_invocation


def look(played: PlayedHost, endpoint: str) -> Running:
    found: Running = played.look(OllamaInvocation(), endpoint=endpoint)
    return found


def test_a_process_is_known_by_what_it_was_started_from_and_when(played: PlayedHost, standin: Standin) -> None:
    one, two = look(played, standin.endpoint).invocation, look(played, standin.endpoint).invocation
    assert one is not None
    assert one == two
    assert one.pid == standin.process.pid
    assert one.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    binary = Path(os.path.realpath(sys.executable)).read_bytes()
    assert one.executable_digest == "sha256:" + hashlib.sha256(binary).hexdigest()
    arguments = b"".join(each.encode() + b"\0" for each in (sys.executable, "-S", str(PROGRAM), "serve"))
    assert one.argv_digest == "sha256:" + hashlib.sha256(arguments).hexdigest()


def test_it_is_the_same_program_and_another_process_when_it_starts_again(
    played: PlayedHost, standin: Standin, tmp_path: Path
) -> None:
    before = look(played, standin.endpoint).invocation
    again = Standin(tmp_path / "home")
    try:
        played.runs(again.process.pid)
        after = look(played, again.endpoint).invocation
    finally:
        again.stop()
    assert before is not None
    assert after is not None
    assert after.is_program(before)
    assert not after.is_process(before)
    assert after.digest != before.digest


def test_what_is_loaded_is_asked_where_it_listens_whatever_is_wanted(played: PlayedHost, standin: Standin) -> None:
    standin.pull()
    standin.ask("POST", "/api/generate", {"model": SMALLEST})
    found = look(played, f"http://127.0.0.1:{free_port()}")
    assert (found.listens, found.models, found.other) == ((f"127.0.0.1:{standin.port}",), (SMALLEST,), None)
    assert found.may_serve


def test_a_connection_that_is_up_is_a_client_and_our_own_looks_are_none(played: PlayedHost, standin: Standin) -> None:
    for _ in range(3):
        assert look(played, standin.endpoint).clients == ()
    with socket.create_connection(("127.0.0.1", standin.port)):
        assert look(played, standin.endpoint).clients == ("127.0.0.1",)
    assert look(played, standin.endpoint).clients == ()


def test_an_api_that_does_not_answer_leaves_the_rest_seen(played: PlayedHost, standin: Standin) -> None:
    standin.fail(ps="500")
    found = look(played, standin.endpoint)
    assert found.invocation is not None
    assert isinstance(found.models, Unobserved)
    assert "status 500" in found.models.reason
    assert found.may_serve


def test_where_nothing_runs_nothing_serves(played: PlayedHost) -> None:
    assert look(played, "http://127.0.0.1:11434") == Running(invocation=None)


def test_another_process_where_clients_shall_reach_it_is_told(played: PlayedHost, standin: Standin) -> None:
    played.runs(None)
    found = look(played, standin.endpoint)
    assert found.invocation is None
    assert found.other is not None
    assert found.other.startswith(f"pid {standin.process.pid} (")


def test_a_process_that_is_gone_is_not_observed(played: PlayedHost, standin: Standin) -> None:
    standin.stop()
    with pytest.raises(FactProcessError, match=rf"process {standin.process.pid}: "):
        look(played, standin.endpoint)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("0100007F:2CAA", "127.0.0.1:11434"),
        ("00000000:2CAA", "0.0.0.0:11434"),
        ("00000000000000000000000000000000:2CAA", "[::]:11434"),
        ("00000000000000000000000001000000:2CAA", "[::1]:11434"),
        ("0000000000000000FFFF00000A01010A:0016", "10.1.1.10:22"),
    ],
)
def test_the_kernels_spelling_of_addresses(text: str, place: str) -> None:
    """As a little-endian machine has them, which arm64 and amd64 are."""
    assert REMOTE.spelled(REMOTE.address(text)) == place


@pytest.mark.parametrize(
    ("place", "urls"),
    [
        ("0100007F:2CAA", ["http://127.0.0.1:11434"]),
        ("00000000:2CAA", ["http://127.0.0.1:11434"]),
        ("00000000000000000000000000000000:2CAA", ["http://127.0.0.1:11434", "http://[::1]:11434"]),
        ("0A01010A:2CAA", ["http://10.1.1.10:11434"]),
    ],
)
def test_how_a_client_on_the_host_reaches_a_listener(place: str, urls: list[str]) -> None:
    assert REMOTE.endpoints([REMOTE.address(place)]) == urls
