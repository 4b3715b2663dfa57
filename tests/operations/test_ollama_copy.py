"""A model goes from one store to another: both programs for real, over loopback, between two stores of the stand-in."""

import hashlib
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet.ollama.steps import CopyModel, OfferModel
from operations import ollama_copy, ollama_offer_script
from operations.ollama_offer_script import manifest_path, offer_script, unit_of
from operations.remote import ollama_blobs
from operations.stream import Broken
from tests.virtual.standin import PINS, ROOT, SMALLEST, Standin
from virtual.ollama_standin import CHUNK_BYTES

REMOTE = ROOT / "operations" / "remote"
DIGEST = PINS[SMALLEST]["digest"]
HERE = "127.0.0.1"
TOKEN = "t0ken"


class Stores:
    """One store that has the model, an offer of it, and another store that has nothing."""

    def __init__(self, root: Path) -> None:
        self.root, self.target = root, root / "target"
        (root / "source").mkdir()
        self.target.mkdir()
        self.standin = Standin(root / "source")
        self.standin.pull()
        self.source = self.standin.models
        self.process: subprocess.Popen[bytes] | None = None

    def offer(self, **changes: Any) -> int:
        """Its port."""
        ready, asked = self.root / "port", self.root / "asked.json"
        (self.root / "token").write_text(TOKEN + "\n")
        ready.unlink(missing_ok=True)
        values = {
            "address": HERE, "client": HERE, "digest": DIGEST, "idle": 30, "ready": str(ready),
            "blobs": str(self.source / "blobs"), "manifest": str(self.source / "manifests" / manifest_path(SMALLEST)),
        }  # fmt: skip
        asked.write_text(json.dumps(values | changes))
        environment = os.environ | {"CREDENTIALS_DIRECTORY": str(self.root)}
        command = [sys.executable, "-S", str(REMOTE / "ollama_offer.py"), str(asked)]
        self.process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        for _ in range(3000):
            if ready.exists():
                return int(ready.read_text())
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError("expected an offer, found none")

    def copy(self, port: int, token: str = TOKEN, **changes: Any) -> subprocess.CompletedProcess[str]:
        asked = {
            "model": SMALLEST, "digest": DIGEST, "address": HERE, "client": HERE, "directory": str(self.target),
            "replaces": None, "endpoint": "", "ask": "", "blobs": (REMOTE / "ollama_blobs.py").read_text(),
        }  # fmt: skip
        source = (REMOTE / "ollama_copy.py").read_text().replace("PAUSE_SECONDS = 3", "PAUSE_SECONDS = 0.01")
        call = f"{source}\nmain({json.dumps(json.dumps(asked | changes))})\n"
        given = json.dumps({"port": port, "token": token}) + "\n"
        return subprocess.run(
            [sys.executable, "-c", call], input=given, capture_output=True, text=True, timeout=60, check=False
        )

    def get(self, port: int, path: str, token: str = TOKEN, start: int | None = None) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {token}"} | ({} if start is None else {"Range": f"bytes={start}-"})
        request = urllib.request.Request(f"http://{HERE}:{port}{path}", headers=headers)
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, b""

    @property
    def blobs(self) -> list[str]:
        return sorted(path.name for path in (self.target / "blobs").iterdir())

    def largest(self) -> Path:
        return max((self.source / "blobs").iterdir(), key=lambda path: path.stat().st_size)

    def stop(self) -> None:
        self.standin.stop()
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    found = Stores(tmp_path)
    yield found
    found.stop()


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1, done.stdout + done.stderr
    (line,) = done.stderr.splitlines()
    return line


def test_the_copy_is_the_same_and_the_offer_ends_with_it(stores: Stores) -> None:
    done = stores.copy(stores.offer())
    assert done.returncode == 0, done.stderr
    assert "copied 100% of" in done.stdout
    assert TOKEN not in done.stdout
    for path in stores.source.rglob("*"):
        if path.is_file():
            copied = stores.target / path.relative_to(stores.source)
            assert copied.read_bytes() == path.read_bytes()
            assert copied.stat().st_mode & 0o777 == 0o644
    assert sorted(path.name for path in stores.target.iterdir()) == ["blobs", "manifests"], "and nothing beside them"
    assert stores.process is not None
    assert stores.process.wait(timeout=60) == 0


def test_ollama_knows_it_at_once(stores: Stores, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Standin(tmp_path / "other")
    try:
        assert stores.copy(stores.offer(), directory=str(other.models)).returncode == 0
        (model,) = other.ask("GET", "/api/tags")[1]["models"]
        assert (model["name"], "sha256:" + model["digest"]) == (SMALLEST, DIGEST)
        assert other.ask("POST", "/api/generate", {"model": SMALLEST})[0] == 200
    finally:
        other.stop()


def test_only_one_host_with_the_token_is_answered_and_only_with_what_is_offered(stores: Stores) -> None:
    port, blob = stores.offer(), stores.largest()
    digest = blob.name.replace("-", ":")
    content = blob.read_bytes()
    assert stores.get(port, "/manifest")[0] == 200
    assert stores.get(port, f"/blobs/{digest}") == (200, content)
    assert stores.get(port, f"/blobs/{digest}", start=CHUNK_BYTES) == (206, content[CHUNK_BYTES:])
    for path in ("/", "/blobs/", f"/blobs/sha256:{'0' * 64}", "/blobs/../manifests", f"/blobs/{blob}"):
        assert stores.get(port, path)[0] == 404
    for token in ("", "wrong", TOKEN + "x"):
        assert stores.get(port, "/manifest", token) == (403, b"")
    assert "status 403" in one_line(stores.copy(port, token="wrong"))
    stores.stop()
    stores.standin = Standin(stores.root / "source")
    assert stores.get(stores.offer(client="192.0.2.1"), "/manifest")[0] == 403


def test_an_offer_that_nobody_takes_ends_by_itself(stores: Stores) -> None:
    stores.offer(idle=1)
    assert stores.process is not None
    assert stores.process.wait(timeout=60) == 0


def test_a_manifest_that_is_another_is_not_offered(stores: Stores) -> None:
    with pytest.raises(AssertionError, match="expected an offer"):
        stores.offer(digest="sha256:" + "0" * 64)


def test_a_manifest_that_is_another_is_not_taken(stores: Stores) -> None:
    line = one_line(stores.copy(stores.offer(), digest="sha256:" + "0" * 64))
    assert f"expected manifest sha256:{'0' * 64}, found {DIGEST}; nothing was taken" in line
    assert stores.blobs == []


def test_a_blob_that_is_another_is_thrown_away_and_the_model_is_not_known(stores: Stores) -> None:
    blob = stores.largest()
    content = blob.read_bytes()
    blob.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    line = one_line(stores.copy(stores.offer()))
    assert f"expected {blob.name.replace('-', ':')}, found sha256:" in line
    assert blob.name not in stores.blobs
    assert not (stores.target / "manifests").exists()
    blob.write_bytes(content)
    assert stores.copy(stores.offer()).returncode == 0


def test_a_copy_that_was_cut_goes_on_where_it_stopped(stores: Stores) -> None:
    """Its beginning cannot be had any more, and is not asked for."""
    blob = stores.largest()
    content = blob.read_bytes()
    aside = stores.target / ".sparks-copy"
    aside.mkdir()
    (aside / blob.name).write_bytes(content[:1000])
    blob.write_bytes(bytes(1000) + content[1000:])
    assert stores.copy(stores.offer()).returncode == 0
    assert hashlib.sha256((stores.target / "blobs" / blob.name).read_bytes()).hexdigest() == blob.name[7:]


def test_what_was_cut_and_is_wrong_is_thrown_away(stores: Stores) -> None:
    blob = stores.largest()
    aside = stores.target / ".sparks-copy"
    aside.mkdir()
    (aside / blob.name).write_bytes(b"x" * 100)
    assert "it was thrown away" in one_line(stores.copy(stores.offer()))
    assert stores.copy(stores.offer()).returncode == 0


def test_what_is_in_the_store_is_looked_at_and_not_copied_again(stores: Stores) -> None:
    assert stores.copy(stores.offer()).returncode == 0
    before = {path.name: path.stat().st_ino for path in (stores.target / "blobs").iterdir()}
    assert stores.copy(stores.offer(), model="mine/other:1").returncode == 0
    assert {path.name: path.stat().st_ino for path in (stores.target / "blobs").iterdir()} == before
    (stores.target / "blobs" / stores.largest().name).write_bytes(b"broken")
    assert "expected its own digest" in one_line(stores.copy(stores.offer()))


def test_nobody_there_is_one_line(stores: Stores) -> None:
    port = stores.offer()
    assert stores.process is not None
    stores.process.kill()
    stores.process.wait()
    assert "broken off 5 times; run again to go on" in one_line(stores.copy(port))
    assert "expected the store, found none" in one_line(stores.copy(port, directory="/nowhere"))


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("qwen3:0.6b", "registry.ollama.ai/library/qwen3/0.6b"),
        ("mine/qwen3:0.6b", "registry.ollama.ai/mine/qwen3/0.6b"),
        ("hf.co/unsloth/qwen3:q4", "hf.co/unsloth/qwen3/q4"),
        ("registry.lan:5000/a/b:c", "registry.lan:5000/a/b/c"),
    ],
)
def test_both_sides_know_where_a_manifest_is(name: str, path: str) -> None:
    assert manifest_path(name) == path
    assert "/".join(ollama_blobs.place(name)) == path


OFFER = OfferModel(
    subject="x", before="x", after="x", reason="x", model=SMALLEST, manifest_digest=DIGEST, directory="/data/my models",
    address="10.0.0.1", to="srv6", client="10.0.0.2", seconds=900,
)  # fmt: skip


SYSTEMD_RUN = """#!/bin/sh
# Runs the program as systemd would: with its credentials, and with the place for its port.
printf '%s\\n' "$@" > {root}/asked
mkdir -p {root}/credentials
for each in "$@"; do
    case $each in --property=LoadCredential=token:*) cp "${{each#*token:}}" {root}/credentials/token ;; esac
done
while [ "$1" != /usr/bin/python3 ]; do shift; done
shift
CREDENTIALS_DIRECTORY={root}/credentials {python} "$@" >/dev/null 2>&1 &
echo $! > {root}/pid
"""


def test_an_offer_is_started_closed_in_and_its_token_is_nowhere_to_be_seen(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = stores.root / "tools"
    tools.mkdir()
    for name, text in {"systemd-run": SYSTEMD_RUN, "systemctl": "#!/bin/sh\n[ $1 = is-active ]\n"}.items():
        (tools / name).write_text(text.format(root=stores.root, python=sys.executable))
        (tools / name).chmod(0o755)
    monkeypatch.setattr(ollama_offer_script, "PLACE", str(stores.root / "offers"))
    step = OFFER.replaced(directory=str(stores.source), address=HERE, client=HERE)
    unit = unit_of(DIGEST, HERE)
    script = offer_script(step).replace(f"/run/{unit}/port", f"{stores.root}/port")
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-euc", script], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    try:
        assert stores.copy(found["port"], token=found["token"]).returncode == 0
    finally:
        subprocess.run(["kill", (stores.root / "pid").read_text().strip()], check=False, capture_output=True)
    asked = (stores.root / "asked").read_text()
    assert found["token"] not in asked
    assert not (stores.root / "offers" / unit / "token").exists()
    for word in ("IPAddressDeny=any", f"IPAddressAllow={HERE}", "RuntimeMaxSec=900", "ProtectSystem=strict",
                 "CapabilityBoundingSet=", f"ExecStopPost=+/bin/rm -rf {stores.root}/offers/{unit}"):  # fmt: skip
        assert f"--property={word}\n" in asked


def test_port_and_token_of_an_offer_come_on_the_input_of_its_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    step = CopyModel(
        subject="x", before="x", after="x", reason="x", model=SMALLEST, manifest_digest=DIGEST, size_bytes=1,
        source="srv5", address="10.0.0.1", client="10.0.0.2", directory="/data",
    )  # fmt: skip

    class Run:
        """pyinfra's state of a run."""

    class Spark:
        state = Run()

    host: Any = Spark()
    with pytest.raises(Broken, match="expected an offer of srv5 in this run, found none"):
        ollama_copy.given(host, step)
    ollama_copy._OFFERED[host.state] = {unit_of(DIGEST, "10.0.0.2"): '{"port": 1, "token": "t"}'}
    assert ollama_copy.given(host, step) == '{"port": 1, "token": "t"}\n'
    assert '"t"' not in ollama_copy.copy_script(step, "http://127.0.0.1:11434")
