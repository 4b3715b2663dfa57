"""The registry, asked by a host: a real server on loopback in its place, and one that nobody reaches."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from facts import ollama as facts
from facts.remote import ollama_registry as remote
from tests.facts.played_ollama import PlayedHost
from tests.virtual.standin import PINS, SMALLEST, Standin
from virtual import ollama_standin

MANIFEST = (
    b'{"schemaVersion":2,"mediaType":"m","config":{"mediaType":"c","digest":"sha256:1","size":1},'
    b'"layers":[{"mediaType":"l","digest":"sha256:2","size":10},{"mediaType":"l","digest":"sha256:3","size":100}]}'
)


class Handler(BaseHTTPRequestHandler):
    """A registry of one tag."""

    content: ClassVar[bytes] = MANIFEST
    paths: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.paths.append(self.path)
        self.send_response(404 if "missing" in self.path else 200)
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    Handler.content, Handler.paths = MANIFEST, []
    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    where = f"http://127.0.0.1:{served.server_port}"
    place: Callable[[str], str] = remote.place
    monkeypatch.setattr(remote, "place", lambda name: place(name).replace("https://registry.ollama.ai", where))
    yield where
    served.shutdown()
    served.server_close()


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("qwen3:0.6b", "https://registry.ollama.ai/v2/library/qwen3/manifests/0.6b"),
        ("mine/qwen3:0.6b", "https://registry.ollama.ai/v2/mine/qwen3/manifests/0.6b"),
        ("registry.lan:5000/a/b:c", "https://registry.lan:5000/v2/a/b/manifests/c"),
    ],
)
def test_where_a_tag_is_published(name: str, url: str) -> None:
    assert remote.place(name) == url


def test_a_manifest_tells_its_digest_its_size_and_what_is_missing_here(registry: str, tmp_path: Path) -> None:
    (tmp_path / "sha256-3").write_bytes(b"")
    (found,) = remote.published(["qwen3:0.6b"], str(tmp_path), {})
    digest = "sha256:" + hashlib.sha256(MANIFEST).hexdigest()
    assert (found["digests"], found["size"], found["missing"]) == ([digest, digest], 111, 11)
    assert Handler.paths == ["/v2/library/qwen3/manifests/0.6b"]


def test_one_that_is_written_otherwise_may_get_another_digest_here(registry: str, tmp_path: Path) -> None:
    Handler.content = json.dumps(json.loads(MANIFEST), indent=2).encode()
    (found,) = remote.published(["qwen3:0.6b"], str(tmp_path), {})
    assert found["digests"] == ["sha256:" + hashlib.sha256(each).hexdigest() for each in (Handler.content, MANIFEST)]


def test_the_stand_ins_own_manifests_are_written_anew_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(ollama_standin.__file__).with_name("ollama_registry.json")
    monkeypatch.setenv("OLLAMA_STANDIN_REGISTRY", str(path))
    body, _ = ollama_standin.published(SMALLEST)
    assert remote.written_anew(json.loads(body)) == body


def test_what_it_does_not_know_and_what_is_no_manifest(registry: str, tmp_path: Path) -> None:
    Handler.content = b"<html>"
    missing, other = remote.published(["missing:1", "x:1"], str(tmp_path), {})
    assert missing == {"model": "missing:1", "error": "status 404"}
    assert other == {"model": "x:1", "error": "expected a manifest, found none"}


def test_it_is_asked_through_the_proxy_of_the_server(registry: str, tmp_path: Path) -> None:
    (found,) = remote.published(["qwen3:0.6b"], str(tmp_path), {"HTTP_PROXY": "http://127.0.0.1:9"})
    assert "refused" in found["error"]


def test_names_that_nobody_resolves_are_not_waited_for_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    late = threading.Event()
    monkeypatch.setattr(remote, "SECONDS", 0.05)
    monkeypatch.setattr(remote, "asked", lambda *_: late.wait(20))
    found = remote.published(["a:1", "b:1"], str(tmp_path), {})
    late.set()
    assert [each["error"] for each in found] == ["no answer in 0.05 s"] * 2


def test_a_host_asks_only_about_what_it_has_not(played: PlayedHost, standin: Standin) -> None:
    """Nobody is reached: the name means this very machine."""
    standin.pull()
    gone = ("localhost:1/library/gone:1", "sha256:" + "0" * 64)
    pins = ((SMALLEST, PINS[SMALLEST]["digest"]), gone)
    (found,) = played.look(facts.OllamaRegistry(), endpoint=standin.endpoint, pins=pins)
    assert (found.model, found.size_bytes, "refused" in found.reason) == (gone[0], None, True)
    assert played.look(facts.OllamaRegistry(), endpoint=standin.endpoint, pins=pins[:1]) == ()
