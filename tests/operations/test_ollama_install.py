"""What unpacks a build of Ollama on a host, and what switches to it: real archives and servers, a played systemctl."""

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from fleet.ollama.steps import ConfigureService
from fleet.step import Effect
from operations import ollama_switch
from tests.virtual.standin import ROOT, free_port

SOURCE = ROOT / "operations" / "remote" / "ollama_install.py"

PROGRAM = b"#!/bin/sh\necho ollama\n"


def archive(*members: tuple[str, bytes, int]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as tar:
        for name, content, mode in members:
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), mode
            tar.addfile(info, io.BytesIO(content))
    return written.getvalue()


WHOLE = archive(("bin/ollama", PROGRAM, 0o755), ("lib/ollama/libggml.so", os.urandom(50_000), 0o644))


class Handler(BaseHTTPRequestHandler):
    """Serves one archive, and cuts the first answers as the test says."""

    content: ClassVar[bytes] = WHOLE
    cuts: ClassVar[list[int]] = []
    ranges: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.ranges.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        body = self.content[start:]
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.cuts.pop(0)] if self.cuts else body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    Handler.content, Handler.cuts, Handler.ranges = WHOLE, [], []
    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{served.server_port}/ollama.tgz"
    served.shutdown()
    served.server_close()


class Home:
    """The folder of builds."""

    def __init__(self, root: Path, content: bytes = WHOLE) -> None:
        self.root, self.content = root / "builds", content
        self.digest = "sha256:" + hashlib.sha256(content).hexdigest()

    def install(self, url: str | None, **changes: Any) -> subprocess.CompletedProcess[str]:
        asked = {
            "url": url, "part": str(self.root / ".part"), "digest": self.digest, "size": len(self.content),
            "version": "0.33.1", "home": str(self.root), "folder": "0.33.1-abc",
        } | changes  # fmt: skip
        source = SOURCE.read_text().replace("PAUSE_SECONDS = 3", "PAUSE_SECONDS = 0.01")
        call = f"{source}\nmain({json.dumps(json.dumps(asked))})\n"
        return subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, timeout=60, check=False)

    @property
    def names(self) -> list[str]:
        return sorted(os.listdir(self.root))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1, done.stdout + done.stderr
    (line,) = done.stderr.splitlines()
    return line


def test_it_is_verified_unpacked_whole_and_recorded(server: str, home: Home) -> None:
    done = home.install(server)
    assert done.returncode == 0, done.stderr
    assert f"100% of {len(WHOLE):,} bytes" in done.stdout
    assert home.names == ["0.33.1-abc"], "nothing is left beside it"
    tree = home.root / "0.33.1-abc"
    assert (tree / "bin" / "ollama").read_bytes() == PROGRAM
    assert (tree / "bin" / "ollama").stat().st_mode & 0o777 == 0o755
    record = json.loads((tree / "sparks.json").read_text())
    assert record == {
        "archive_digest": home.digest,
        "version": "0.33.1",
        "installed_digest": "sha256:" + hashlib.sha256(PROGRAM).hexdigest(),
    }


def test_a_wrong_digest_is_refused_before_anything_is_unpacked(server: str, home: Home) -> None:
    done = home.install(server, digest="sha256:" + "0" * 64)
    assert f"expected sha256:{'0' * 64}, found {home.digest}" in one_line(done)
    assert home.names == [], "what is wrong is no beginning of the right one"


def test_more_bytes_than_declared_are_not_taken(server: str, home: Home) -> None:
    assert "found more; nothing was unpacked" in one_line(home.install(server, size=1000))


def test_a_download_that_breaks_off_goes_on_where_it_stopped(server: str, home: Home) -> None:
    Handler.cuts = [len(WHOLE) // 2]
    done = home.install(server)
    assert done.returncode == 0, done.stderr
    assert "going on (1 of 5)" in done.stdout
    assert Handler.ranges == [None, f"bytes={len(WHOLE) // 2}-"]


def test_one_that_breaks_off_for_good_is_gone_on_with_by_the_next_run(server: str, home: Home) -> None:
    Handler.cuts = [10_000, 0, 0, 0, 0]
    assert "run again to go on" in one_line(home.install(server))
    assert home.names == [".part"]
    assert home.install(server).returncode == 0
    assert Handler.ranges[-1] == "bytes=10000-"


def test_an_archive_without_the_program_leaves_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path, archive(("ollama", PROGRAM, 0o755)))
    Handler.content = home.content
    home.root.mkdir()
    (home.root / ".part").write_bytes(home.content)
    assert "expected bin/ollama in the archive" in one_line(home.install(None))
    assert home.names == [".part"]


def test_no_member_leaves_the_folder(tmp_path: Path) -> None:
    home = Home(tmp_path, archive(("../../evil", b"x", 0o644), ("bin/ollama", PROGRAM, 0o755)))
    home.root.mkdir()
    (home.root / ".part").write_bytes(home.content)
    assert "tar: " in one_line(home.install(None))
    assert not (tmp_path / "evil").exists()
    assert not (tmp_path.parent / "evil").exists()


def test_what_a_killed_run_left_goes(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for left in (".0.33.1-abc.new", ".0.33.1-abc.old", "0.33.1-abc"):
        (home.root / left / "bin").mkdir(parents=True)
    (home.root / ".part").write_bytes(home.content)
    assert home.install(None).returncode == 0
    assert home.names == ["0.33.1-abc"]
    assert (home.root / "0.33.1-abc" / "bin" / "ollama").exists()


def test_a_server_that_is_not_there_is_one_line(home: Home) -> None:
    assert "run again to go on" in one_line(home.install(f"http://127.0.0.1:{free_port()}/x"))


SYSTEMCTL = """#!/bin/sh
# Starts what the link leads to: each build is a server that says one version, or none that answers.
if [ -e {root}/pid ]; then
    old=$(cat {root}/pid)
    kill "$old" 2>/dev/null
    while [ "$(head -c 1 "/proc/$old/cmdline" 2>/dev/null)" ]; do sleep 0.05; done  # till then it has the port
fi
echo "$2 $(readlink {link})" >> {root}/started
{link} & echo $! > {root}/pid
"""
BUILD = """#!/bin/sh
exec {python} -S -c '
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{{\\"version\\": \\"{version}\\"}}")
    def log_message(self, *_):
        pass
http.server.HTTPServer.allow_reuse_address = True
http.server.HTTPServer(("127.0.0.1", {port}), Handler).serve_forever()
' > /dev/null 2>&1
"""


class Switched:
    """A host with some builds, whose systemctl is played."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.link, self.port = root, root / "bin" / "ollama", free_port()
        self.link.parent.mkdir()
        for name, value in {"LINK": str(self.link), "TREES": str(root / "trees")}.items():
            monkeypatch.setattr(ollama_switch, name, value)
        self.monkeypatch = monkeypatch
        systemctl = root / "path" / "systemctl"
        systemctl.parent.mkdir()
        systemctl.write_text(SYSTEMCTL.format(root=root, link=self.link))
        systemctl.chmod(0o755)
        monkeypatch.setenv("PATH", f"{systemctl.parent}:{os.environ['PATH']}")

    def build(self, folder: str, version: str) -> Path:
        path = self.root / "trees" / folder / "bin" / "ollama"
        path.parent.mkdir(parents=True)
        path.write_text(BUILD.format(python=sys.executable, version=version, port=self.port))
        path.chmod(0o755)
        return path

    def switch(
        self, to: Path | None, version: str, kept: str | None = None, seconds: int = 1
    ) -> subprocess.CompletedProcess[str]:
        """+ seconds: how long the build is waited for; one that will answer has all the time of a busy machine"""
        self.monkeypatch.setattr(ollama_switch, "ANSWERS_SECONDS", seconds)
        step = ConfigureService(
            subject="x", before="x", after="x", reason="x", effect=Effect.RESTART, path="/x/y", text="", write=False,
            reload=False, enable=False, restart=True, residents=False, residents_text=None,
            switch=None if to is None else str(to), kept=kept, version=version,
        )  # fmt: skip
        script = ollama_switch.switch_script(step, version, f"http://127.0.0.1:{self.port}")
        return subprocess.run(["sh", "-euc", script], capture_output=True, text=True, timeout=60, check=False)

    def stop(self) -> None:
        if (self.root / "pid").exists():
            with suppress(ProcessLookupError):
                os.kill(int((self.root / "pid").read_text()), 15)


@pytest.fixture
def switched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Switched]:
    found = Switched(tmp_path, monkeypatch)
    yield found
    found.stop()


def test_the_link_leads_to_the_new_build_once_it_answers(switched: Switched) -> None:
    new = switched.build("new", "0.33.1")
    assert switched.switch(new, "0.33.1", seconds=50).returncode == 0
    assert os.readlink(switched.link) == str(new)
    assert os.listdir(switched.link.parent) == ["ollama"]


@pytest.mark.parametrize("says", ["0.33.0", "nothing"])
def test_where_the_new_build_does_not_answer_the_old_one_is_back(switched: Switched, says: str) -> None:
    old, new = switched.build("old", "0.32.0"), switched.build("new", says)
    if says == "nothing":
        new.write_text("#!/bin/sh\nexit 1\n")
    switched.link.symlink_to(old)
    done = switched.switch(new, "0.33.1")
    assert done.returncode == 69
    assert "expected version 0.33.1 to answer" in done.stderr
    assert done.stderr.rstrip().endswith(f"; {old} is back")
    assert os.readlink(switched.link) == str(old)
    assert (switched.root / "started").read_text().split() == ["ollama.service", str(new), "ollama.service", str(old)]


def test_what_others_installed_is_back_too(switched: Switched) -> None:
    theirs, new = switched.build("theirs", "0.30.0"), switched.build("new", "0.33.0")
    theirs.rename(switched.link)
    before = switched.link.read_bytes()
    done = switched.switch(new, "0.33.1", kept="sha256:x")
    assert "what was there before is back" in done.stderr
    assert (switched.link.is_symlink(), switched.link.read_bytes()) == (False, before)
    new.write_text(new.read_text().replace("0.33.0", "0.33.1"))
    assert switched.switch(new, "0.33.1", kept="sha256:x", seconds=50).returncode == 0
    assert not (switched.root / "trees" / "replaced").exists()


def test_it_is_back_too_where_a_run_was_killed_between_link_and_restart(switched: Switched) -> None:
    theirs, new = switched.build("theirs", "0.30.0"), switched.build("new", "0.33.0")
    before = theirs.read_bytes()
    theirs.rename(switched.root / "trees" / "replaced")
    switched.link.symlink_to(new)
    assert "what was there before is back" in switched.switch(None, "0.33.1").stderr
    assert (switched.link.is_symlink(), switched.link.read_bytes()) == (False, before)


def test_a_build_that_is_not_there_is_not_switched_to(switched: Switched) -> None:
    done = switched.switch(switched.root / "none", "0.33.1")
    assert (done.returncode, "expected it unpacked, found it is not" in done.stderr) == (66, True)
    assert not switched.link.exists()
