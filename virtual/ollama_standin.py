#!/usr/bin/env python3
"""A stand-in for Ollama: the real HTTP API, settings and on-disk store, without a model or a GPU.

It is installed in virtual Sparks as `/usr/local/bin/ollama`. One file and the standard library only, since it
is copied alone. What it answers follows Ollama 0.3x (`server/routes.go`, `server/sched.go`, `envconfig`); the
"weights" are deterministic noise, and what it says about itself says that it is a stand-in.
"""

import hashlib
import ipaddress
import json
import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

VERSION = "0.0.0-stand-in"
NAME = "stand-in for Ollama (no model, no GPU)"
DEFAULT_CONTEXT = 4096
FIVE_MINUTES = 300 * 10**9
HOUR, YEARS = 3600 * 10**9, 50 * 365 * 86400 * 10**9
"""In nanoseconds: what a test has /api/ps tell of an expiry that is past, or far away and no `forever`."""
LATE_SECONDS = 2.0
"""How long a server takes that a test wants to be slow: less than a look waits."""
MAX_INT64 = 2**63 - 1
CHUNK_BYTES = 256 * 1024
KV_BYTES_PER_TOKEN = 64
"""Made up: a loaded model must be larger for a larger context."""
WORDS = ["this", "text", "comes", "from", "a", "stand-in", "for", "ollama"]
SLOW_WORD_SECONDS = 0.3
"""Between two words where a test asks for a request that takes a while."""
EMBEDDING_FAMILIES = {"bert", "nomic-bert"}


class Failure(Exception):
    """An answer other than 200: its status and the text of its error body."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


# Settings, as Ollama's envconfig reads them.

_UNITS = {"ns": 1, "us": 10**3, "\u00b5s": 10**3, "\u03bcs": 10**3, "ms": 10**6,
          "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}  # fmt: skip
_PART = re.compile(r"([0-9]*)(\.[0-9]*)?([^0-9.]*)")


def parse_duration(text: str) -> int:
    """Go's time.ParseDuration in nanoseconds; raises ValueError with Go's words."""
    sign, rest = (-1, text[1:]) if text[:1] == "-" else (1, text[1:] if text[:1] == "+" else text)
    if rest == "0":
        return 0
    if not rest:
        raise ValueError(f'time: invalid duration "{text}"')
    total = Decimal(0)
    while rest:
        match = _PART.match(rest)
        number = (match[1] or "") + (match[2] or "") if match else ""
        if not match or number in ("", "."):
            raise ValueError(f'time: invalid duration "{text}"')
        if not match[3]:
            raise ValueError(f'time: missing unit in duration "{text}"')
        if match[3] not in _UNITS:
            raise ValueError(f'time: unknown unit "{match[3]}" in duration "{text}"')
        total += int(Decimal(number) * _UNITS[match[3]])
        rest = rest[match.end() :]
    if total > MAX_INT64:
        raise ValueError(f'time: invalid duration "{text}"')
    return sign * int(total)


def setting(name: str) -> str:
    """A variable as envconfig.Var gives it: without spaces and quotes around it."""
    return os.environ.get(name, "").strip().strip("\"'")


def listen_address(value: str) -> tuple[str, int]:
    """Host and port from OLLAMA_HOST; an invalid port silently becomes the default one."""
    scheme, found, rest = value.partition("://")
    scheme, rest = (scheme, rest) if found else ("http", value)
    default = {"http": 80, "https": 443}.get(scheme, 11434) if found else 11434
    hostport = rest.partition("/")[0]
    match = re.fullmatch(r"(?:\[([^\[\]]*)\]|([^:\[\]]*)):([^:\[\]]*)", hostport)
    if not match:
        bare = hostport.strip("[]")
        return bare or "127.0.0.1", default
    port = match[3]
    valid = re.fullmatch(r"[+-]?[0-9]+", port) and 0 <= int(port) <= 65535
    return match[1] or match[2] or "", int(port) if valid else default


def keep_alive_setting() -> int:
    """OLLAMA_KEEP_ALIVE in nanoseconds: a bare number is seconds, garbage is silently five minutes."""
    value = setting("OLLAMA_KEEP_ALIVE")
    if re.fullmatch(r"[+-]?[0-9]+", value):
        found = int(value) * 10**9
    else:
        try:
            found = parse_duration(value) if value else FIVE_MINUTES
        except ValueError:
            found = FIVE_MINUTES
    return MAX_INT64 if found < 0 or found > MAX_INT64 else found


def keep_alive_of(request: dict[str, Any]) -> int | None:
    """keep_alive of a request: a number is seconds, a string must be a Go duration, negative is forever."""
    value = request.get("keep_alive")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise Failure(400, f"Unsupported type: '{type(value).__name__}'")
    try:
        found = parse_duration(value) if isinstance(value, str) else int(value * 10**9)
    except ValueError as error:
        raise Failure(400, str(error)) from error
    return MAX_INT64 if found < 0 or found > MAX_INT64 else found


def number_setting(name: str, default: int) -> int:
    """An unsigned number; anything else is the default, as in envconfig."""
    value = setting(name)
    return int(value) if value.isdecimal() else default


def rfc3339_nano(nanoseconds: int) -> str:
    """A time as Go prints it: local offset, nanoseconds without the zeros at their end."""
    seconds, fraction = divmod(nanoseconds, 10**9)
    local = datetime.fromtimestamp(seconds).astimezone()
    digits = f".{fraction:09}".rstrip("0").rstrip(".")
    offset = local.strftime("%z")
    zone = "Z" if offset in ("+0000", "") else f"{offset[:3]}:{offset[3:5]}"
    return local.strftime("%Y-%m-%dT%H:%M:%S") + digits + zone


def fault(of: str) -> str | None:
    """The failure that a test asks of one route; read anew for each request."""
    path = os.environ.get("OLLAMA_STANDIN_FAULTS", "/run/ollama-standin/faults.json")
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    value = found.get(of) if isinstance(found, dict) else None
    return str(value) if value is not None else None


# Names and the store.

_NAME = re.compile(
    r"(?:(?P<host>[^/]+)/)??(?:(?P<space>[A-Za-z0-9_-]+)/)?"
    r"(?P<model>[A-Za-z0-9][\w.-]*)(?::(?P<tag>\w[\w.-]*))?"
)


def name_parts(name: str) -> tuple[str, str, str, str]:
    """Host, namespace, model and tag with Ollama's defaults; raises Failure for an invalid name."""
    match = _NAME.fullmatch(name.removeprefix("https://").removeprefix("http://"))
    if not match:
        raise Failure(400, "invalid model name")
    host, space = match["host"] or "registry.ollama.ai", match["space"] or "library"
    return host, space, match["model"], match["tag"] or "latest"


def short_name(host: str, space: str, model: str, tag: str) -> str:
    """How Ollama shows a name: without its default host and namespace, always with a tag."""
    prefix = "" if host == "registry.ollama.ai" else f"{host}/"
    prefix += "" if (host, space) == ("registry.ollama.ai", "library") else f"{space}/"
    return f"{prefix}{model}:{tag}"


def hex_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    beside.write_bytes(content)
    beside.replace(path)


class Store:
    """`$OLLAMA_MODELS`: a manifest for each tag, and blobs under their digests."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.blobs = root / "blobs"
        self.manifests = root / "manifests"
        self.blobs.mkdir(parents=True, exist_ok=True)

    def blob(self, digest: str) -> Path:
        return self.blobs / digest.replace(":", "-")

    def manifest_path(self, name: str) -> Path:
        return self.manifests.joinpath(*name_parts(name))

    def names(self) -> list[str]:
        paths = (path for path in self.manifests.glob("*/*/*/[!.]*") if path.is_file())
        return sorted(short_name(*path.relative_to(self.manifests).parts) for path in paths)

    def model(self, name: str) -> "Model":
        """The model behind a tag; raises Failure 404 with the name as the client wrote it."""
        try:
            return Model(self, name)
        except (OSError, ValueError, KeyError) as error:
            raise Failure(404, f"model '{name}' not found") from error

    def models(self) -> list["Model"]:
        """Every readable model, the newest first; Ollama skips a broken manifest with a warning."""
        found = []
        for name in self.names():
            try:
                found.append(Model(self, name))
            except (OSError, ValueError, KeyError) as error:
                print(f"stand-in: bad manifest {name}: {error}", file=sys.stderr, flush=True)
        return sorted(found, key=lambda model: (-model.modified, model.name))

    def used(self) -> set[str]:
        return {layer["digest"] for model in self.models() for layer in model.layers}

    def remove_unused(self, digests: set[str]) -> None:
        for digest in digests - self.used():
            self.blob(digest).unlink(missing_ok=True)

    def prune(self) -> None:
        """As Ollama does when it starts: blobs that no manifest names go, partial downloads too."""
        kept = {digest.replace(":", "-") for digest in self.used()}
        for path in self.blobs.iterdir():
            if path.name not in kept:
                path.unlink(missing_ok=True)


class Model:
    """One tag of the store: its manifest and its config."""

    def __init__(self, store: Store, name: str) -> None:
        path = store.manifest_path(name)
        content = path.read_bytes()
        manifest = json.loads(content)
        self.name = short_name(*name_parts(name))
        self.digest = hex_digest(content)
        self.layers: list[dict[str, Any]] = [manifest["config"], *manifest["layers"]]
        self.size = sum(layer["size"] for layer in self.layers)
        self.modified = path.stat().st_mtime_ns
        self.config: dict[str, Any] = json.loads(store.blob(manifest["config"]["digest"]).read_bytes())

    @property
    def details(self) -> dict[str, Any]:
        return {
            "parent_model": "",
            "format": self.config["model_format"],
            "family": self.config["model_family"],
            "families": self.config["model_families"],
            "parameter_size": self.config["model_type"],
            "quantization_level": self.config["file_type"],
        }

    @property
    def entry(self) -> dict[str, Any]:
        """What /api/tags and /api/ps both say of a model."""
        return {
            "name": self.name,
            "model": self.name,
            "size": self.size,
            "digest": self.digest,
            "details": self.details,
        }


# The registry: what can be pulled.


def published(name: str, republished: bool = False) -> tuple[bytes, dict[str, bytes]]:
    """The manifest of a tag and its blobs by digest, the same everywhere; raises Failure when unknown."""
    path = os.environ.get("OLLAMA_STANDIN_REGISTRY", "/usr/local/share/ollama-standin/registry.json")
    key = short_name(*name_parts(name))
    entry = json.loads(Path(path).read_text(encoding="utf-8"))["models"].get(key)
    if entry is None:
        raise Failure(500, "pull model manifest: file does not exist")
    seed = f"stand-in weights of {key}" + (", republished" if republished else "")
    weights = hashlib.shake_256(seed.encode()).digest(entry["weights_bytes"])
    licence = f"Synthetic data of the {NAME}. These are not the weights of {key}.\n".encode()
    config = {
        "model_format": "gguf",
        "model_family": entry["family"],
        "model_families": [entry["family"]],
        "model_type": entry["parameter_size"],
        "file_type": entry["quantization_level"],
        "context_length": entry["context_length"],
        "architecture": "amd64",
        "os": "linux",
        "rootfs": {
            "type": "layers",
            "diff_ids": [f"sha256:{hex_digest(each)}" for each in (weights, licence)],
        },
    }
    return _manifest(json.dumps(config, sort_keys=True, separators=(",", ":")).encode(), weights, licence)


def _manifest(config: bytes, weights: bytes, licence: bytes) -> tuple[bytes, dict[str, bytes]]:
    blobs = {f"sha256:{hex_digest(content)}": content for content in (weights, licence, config)}
    kinds = (
        "application/vnd.ollama.image.model",
        "application/vnd.ollama.image.license",
        "application/vnd.docker.container.image.v1+json",
    )
    *layers, described = (
        {"mediaType": kind, "digest": digest, "size": len(content)}
        for kind, (digest, content) in zip(kinds, blobs.items(), strict=True)
    )
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": described,
        "layers": layers,
    }
    return json.dumps(manifest, separators=(",", ":")).encode(), blobs


def pull(store: Store, name: str) -> Iterator[dict[str, Any]]:
    """The progress of a pull; a cut leaves `-partial` files from which the next pull goes on."""
    yield {"status": "pulling manifest"}
    failure = fault("pull")
    if failure == "error":
        raise Failure(500, "pull model manifest: 503: stand-in registry fault")
    manifest, blobs = published(name, republished=failure == "other-digest")
    target = store.manifest_path(name)
    before = {layer["digest"] for layer in store.model(name).layers} if target.exists() else set()
    for digest, content in blobs.items():
        yield from _pull_blob(store, digest, content, failure)
    yield {"status": "verifying sha256 digest"}
    yield {"status": "writing manifest"}
    write_atomically(target, manifest)
    unused = before - set(blobs)
    if unused and not setting("OLLAMA_NOPRUNE"):
        yield {"status": "removing unused layers"}
        store.remove_unused(unused)
    yield {"status": "success"}


def _pull_blob(store: Store, digest: str, content: bytes, failure: str | None) -> Iterator[dict[str, Any]]:
    progress = {"status": f"pulling {digest[7:19]}", "digest": digest, "total": len(content)}
    path = store.blob(digest)
    if path.exists():
        yield progress | {"completed": len(content)}
        return
    partial = path.with_name(path.name + "-partial")
    with partial.open("ab") as file:
        done = file.tell()
        yield progress | ({"completed": done} if done else {})
        while done < len(content):
            file.write(content[done : done + CHUNK_BYTES])
            file.flush()
            done = min(done + CHUNK_BYTES, len(content))
            yield progress | {"completed": done}
            is_half = len(content) > CHUNK_BYTES and 2 * done >= len(content) > 2 * (done - CHUNK_BYTES)
            _fail_in_a_blob(failure, path, is_half)
    partial.replace(path)


def _fail_in_a_blob(failure: str | None, path: Path, is_half: bool) -> None:
    """What a test asks of a pull. `half` cuts it once in each blob of several chunks: the next goes on behind that."""
    if failure == "half" and is_half:
        raise ConnectionAbortedError
    if failure == "slow":
        time.sleep(0.3)
    elif failure == "disk-full":
        raise Failure(500, f"write {path}-partial: no space left on device")
    elif failure == "truncated":
        raise ConnectionAbortedError


# Loaded models, as Ollama's scheduler keeps them.


class Runner:
    """A loaded model."""

    def __init__(self, model: Model, context: int, session: int, processor: str) -> None:
        self.model = model
        self.context = context
        self.session = session
        self.size = model.size + context * KV_BYTES_PER_TOKEN
        self.size_vram = {"cpu": 0, "partial": self.size // 2}.get(processor, self.size)
        self.loading = True
        self.busy = 0
        """Requests at work on it: while there are any it does not go."""
        self.expires = 0
        self.deadline = 0
        self.touch()

    def touch(self) -> None:
        """The end of each request that used the model moves its expiry."""
        self.expires = time.time_ns() + self.session
        self.deadline = time.monotonic_ns() + self.session

    @property
    def entry(self) -> dict[str, Any]:
        told = {"past": time.time_ns() - HOUR, "far": time.time_ns() + YEARS}
        expires = told.get(fault("expiry") or "", self.expires)
        return self.model.entry | {
            "expires_at": rfc3339_nano(time.time_ns() + self.session if self.loading else expires),
            "size_vram": self.size_vram if not self.loading else 0,
            "size": self.size if not self.loading else 0,
            "context_length": self.context if not self.loading else 0,
        }


class Scheduler:
    """The loaded models; it unloads what has expired, and makes room as OLLAMA_MAX_LOADED_MODELS says."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.runners: dict[str, Runner] = {}
        self.load_lock = threading.Lock()
        self.counted = {"loads": 0, "unloads": 0, "completions": 0, "embeddings": 0}
        threading.Thread(target=self._expire_forever, daemon=True).start()

    def _expire_forever(self) -> None:
        while True:
            time.sleep(0.05)
            with self.lock:
                now = time.monotonic_ns()
                for name, runner in list(self.runners.items()):
                    if not runner.loading and not runner.busy and runner.deadline <= now:
                        del self.runners[name]

    def unload(self, model: Model) -> None:
        """At once, or at the end of the request that it is at work on."""
        with self.lock:
            self.counted["unloads"] += 1
            runner = self.runners.get(model.name)
            if runner is not None and runner.busy:
                runner.session = 0
            else:
                self.runners.pop(model.name, None)

    def release(self, runner: Runner, kind: str | None = None) -> None:
        """A request is over."""
        with self.lock:
            runner.busy -= 1
            runner.touch()
            if kind is not None:
                self.counted[kind] += 1

    def counters(self) -> dict[str, int]:
        """What this process has done, and how many requests are at work now."""
        with self.lock:
            return self.counted | {"running": sum(runner.busy for runner in self.runners.values())}

    def use(self, model: Model, options: dict[str, Any], keep_alive: int | None) -> Runner:
        """The runner for a request that begins; loaded again where its context or its digest differs."""
        wanted = options.get("num_ctx") or number_setting("OLLAMA_CONTEXT_LENGTH", 0) or DEFAULT_CONTEXT
        context = int(fault("context") or 0) or wanted
        if not isinstance(context, (int, float)) or isinstance(context, bool):
            raise Failure(400, 'option "num_ctx" must be of type integer')
        with self.load_lock:
            runner = self.runners.get(model.name)
            if runner is None or (runner.context, runner.model.digest) != (int(context), model.digest):
                session = keep_alive if keep_alive is not None else keep_alive_setting()
                runner = self._load(Runner(model, int(context), session, fault("processor") or ""))
            elif keep_alive is not None:
                runner.session = keep_alive
            runner.busy += 1
            return runner

    def _load(self, runner: Runner) -> Runner:
        with self.lock:
            self.runners.pop(runner.model.name, None)
            self._make_room()
            self.counted["loads"] += 1
            self.runners[runner.model.name] = runner
        if fault("generate") == "slow":
            time.sleep(1.5)
        if fault("generate") == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        runner.loading = False
        return runner

    def _make_room(self) -> None:
        limit = number_setting("OLLAMA_MAX_LOADED_MODELS", 0) or 3
        while len(self.runners) >= limit:
            del self.runners[min(self.runners, key=lambda name: self.runners[name].session)]

    def entries(self) -> list[dict[str, Any]]:
        with self.lock:
            return [runner.entry for runner in sorted(self.runners.values(), key=lambda one: -one.deadline)]


# HTTP.

Said = Callable[[str], dict[str, Any]]
"""How a route carries a piece of text."""


def _message(content: str) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": content}}


class Handler(BaseHTTPRequestHandler):
    """Ollama's routes."""

    protocol_version = "HTTP/1.1"
    server_version = "ollama-stand-in"
    sys_version = ""
    disable_nagle_algorithm = True
    store: Store
    scheduler: Scheduler

    def do_GET(self) -> None:
        self._dispatch({
            "/": self.root, "/api/version": self.version, "/api/tags": self.tags, "/api/ps": self.ps,
            "/stand-in/counters": self.counters,
        })  # fmt: skip

    do_HEAD = do_GET

    def do_POST(self) -> None:
        self._dispatch({
            "/api/show": self.show, "/api/generate": self.generate, "/api/chat": self.chat,
            "/api/embed": self.embed, "/api/pull": self.pull, "/api/copy": self.copy,
        })  # fmt: skip

    def do_DELETE(self) -> None:
        self._dispatch({"/api/delete": self.delete})

    def _dispatch(self, routes: dict[str, Callable[[], None]]) -> None:
        path = self.path.partition("?")[0]
        try:
            if path not in routes:
                status, text = (405, "method not allowed") if path in KNOWN_PATHS else (404, "page not found")
                self._send(status, f"{status} {text}".encode(), "text/plain")
            elif not self._failed(path.rpartition("/")[2]):
                routes[path]()
        except Failure as error:
            self._json({"error": str(error)}, error.status)
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def _failed(self, route: str) -> bool:
        """Whether a fault has answered in place of the route."""
        mode = fault(route or "root")
        if mode == "garbage":
            self._send(200, b"<html>stand-in fault: this is not JSON</html>", "text/html")
        elif mode == "500":
            raise Failure(500, "model list cache unavailable" if route == "tags" else "stand-in fault")
        elif mode == "null":
            self._json({"models": None})
        elif mode == "hang":
            time.sleep(30)
            raise ConnectionAbortedError
        elif mode == "close":
            raise ConnectionAbortedError
        elif mode == "late":
            time.sleep(LATE_SECONDS)
        return mode in ("garbage", "null")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _json(self, value: Any, status: int = 200) -> None:
        self._send(status, json.dumps(value, separators=(",", ":")).encode(), "application/json")

    def _stream(self, lines: Iterator[dict[str, Any]]) -> None:
        """NDJSON in chunks; a failure after the first line is a line, since the status is sent."""
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for line in lines:
                self._chunk(line)
        except Failure as error:
            self._chunk({"error": str(error)})
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, line: dict[str, Any]) -> None:
        body = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        self.wfile.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")

    def _answer(self, request: dict[str, Any], lines: Iterator[dict[str, Any]]) -> None:
        """Streamed unless the request says `"stream": false`, then its last line alone."""
        if request.get("stream", True) is not False:
            self._stream(lines)
            return
        self._json(list(lines)[-1])

    def _request(self) -> dict[str, Any]:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not body:
            raise Failure(400, "missing request body")
        try:
            found = json.loads(body)
        except ValueError as error:
            raise Failure(400, "invalid character in JSON body") from error
        if not isinstance(found, dict):
            raise Failure(400, "json: cannot unmarshal into Go value")
        return found

    def _model(self, request: dict[str, Any]) -> Model:
        name = str(request.get("model") or request.get("name") or "")
        if not name:
            raise Failure(400, "model is required")
        return self.store.model(name)

    def root(self) -> None:
        self._send(200, b"Ollama is running", "text/plain")

    def version(self) -> None:
        self._json({"version": VERSION})

    def tags(self) -> None:
        self._json({
            "models": [
                model.entry | {"modified_at": rfc3339_nano(model.modified)} for model in self.store.models()
            ]
        })  # fmt: skip

    def ps(self) -> None:
        self._json({"models": self.scheduler.entries()})

    def counters(self) -> None:
        """Ollama has no such route: it is for tests, and says so by its path."""
        self._json(self.scheduler.counters())

    def show(self) -> None:
        model = self._model(self._request())
        family = model.config["model_family"]
        self._json({
            "license": NAME,
            "modelfile": f"# {NAME}\nFROM {model.name}\n",
            "template": "{{ .Prompt }}",
            "details": model.details,
            "model_info": {
                "general.architecture": family,
                "general.description": NAME,
                f"{family}.context_length": model.config["context_length"],
            },
            "capabilities": ["embedding" if family in EMBEDDING_FAMILIES else "completion"],
            "modified_at": rfc3339_nano(model.modified),
        })  # fmt: skip

    def generate(self) -> None:
        request = self._request()
        model, keep_alive = self._model(request), keep_alive_of(request)
        if not request.get("prompt"):
            self._load_or_unload(request, model, keep_alive, {"response": ""})
        elif model.config["model_family"] in EMBEDDING_FAMILIES:
            raise Failure(400, f'"{request["model"]}" does not support generate')
        else:
            self._complete(request, model, keep_alive, lambda word: {"response": word})

    def chat(self) -> None:
        request = self._request()
        model, keep_alive = self._model(request), keep_alive_of(request)
        if not request.get("messages"):
            self._load_or_unload(request, model, keep_alive, _message(""))
        else:
            self._complete(request, model, keep_alive, _message)

    def _load_or_unload(
        self, request: dict[str, Any], model: Model, keep_alive: int | None, said: dict[str, Any]
    ) -> None:
        if keep_alive == 0:
            self.scheduler.unload(model)
        else:
            self.scheduler.release(self.scheduler.use(model, request.get("options") or {}, keep_alive))
        line = {"model": request.get("model"), "created_at": rfc3339_nano(time.time_ns())} | said
        self._json(line | {"done": True, "done_reason": "unload" if keep_alive == 0 else "load"})

    def _complete(self, request: dict[str, Any], model: Model, keep_alive: int | None, said: "Said") -> None:
        options = request.get("options") or {}
        runner = self.scheduler.use(model, options, keep_alive)
        limit = options.get("num_predict", -1)
        words = WORDS[:limit] if isinstance(limit, int) and limit > 0 else WORDS
        try:
            self._answer(request, self._words(request, [] if fault("completion") == "empty" else words, said))
        finally:
            self.scheduler.release(runner, "completions")

    def _words(self, request: dict[str, Any], words: list[str], said: "Said") -> Iterator[dict[str, Any]]:
        head = {"model": request.get("model"), "created_at": rfc3339_nano(time.time_ns())}
        for place, word in enumerate(words):
            if fault("completion") == "slow":
                time.sleep(SLOW_WORD_SECONDS)
            yield head | said(word if place == 0 else f" {word}") | {"done": False}
        counts = {
            "total_duration": 10_000_000, "load_duration": 1_000_000, "prompt_eval_count": 1,
            "prompt_eval_duration": 1_000_000, "eval_count": len(words), "eval_duration": 8_000_000,
        }  # fmt: skip
        reason = "length" if 0 < len(words) < len(WORDS) else "stop"
        streamed = request.get("stream", True) is not False
        yield head | said("" if streamed else " ".join(words)) | {"done": True, "done_reason": reason} | counts

    def embed(self) -> None:
        request = self._request()
        model = self._model(request)
        runner = self.scheduler.use(model, request.get("options") or {}, keep_alive_of(request))
        noise = hashlib.sha256(str(request.get("input")).encode()).digest()
        self.scheduler.release(runner, "embeddings")
        self._json({
            "model": request.get("model"), "embeddings": [[byte / 255 for byte in noise[:8]]],
            "total_duration": 10_000_000, "load_duration": 1_000_000, "prompt_eval_count": 1,
        })  # fmt: skip

    def pull(self) -> None:
        request = self._request()
        name = str(request.get("model") or request.get("name") or "")
        short_name(*name_parts(name))
        self._answer(request, pull(self.store, name))

    def delete(self) -> None:
        model = self._model(self._request())
        self.store.manifest_path(model.name).unlink()
        self.store.remove_unused({layer["digest"] for layer in model.layers})
        self._send(200, b"", "application/json")

    def copy(self) -> None:
        request = self._request()
        source, target = str(request.get("source") or ""), str(request.get("destination") or "")
        try:
            content = self.store.manifest_path(source).read_bytes()
        except OSError as error:
            raise Failure(404, f'model "{source}" not found') from error
        write_atomically(self.store.manifest_path(target), content)
        self._send(200, b"", "application/json")

    def log_message(self, format: str, *args: Any) -> None:
        print(f"[stand-in] {format % args}", file=sys.stderr, flush=True)


KNOWN_PATHS = {
    "/", "/api/version", "/api/tags", "/api/ps", "/api/show", "/api/generate", "/api/chat", "/api/embed", "/api/pull",
    "/api/copy", "/api/delete", "/stand-in/counters",
}  # fmt: skip


class Server(ThreadingHTTPServer):
    """One thread for each connection; IPv6 and every address where OLLAMA_HOST asks for them."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, host: str, port: int, handler: type[Handler]) -> None:
        every = host in ("", "::")
        self.address_family = socket.AF_INET6 if every or ":" in host else socket.AF_INET
        self._every = every
        super().__init__(("::" if every else host, port), handler)

    def server_bind(self) -> None:
        if self._every:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])


def serve() -> int:
    """`ollama serve`: listens until SIGTERM or SIGINT."""
    host, port = listen_address(setting("OLLAMA_HOST"))
    home = Path(os.environ.get("HOME") or Path.home())
    Handler.store = Store(Path(setting("OLLAMA_MODELS") or home / ".ollama" / "models"))
    if not setting("OLLAMA_NOPRUNE"):
        Handler.store.prune()
    Handler.scheduler = Scheduler()
    try:
        server = Server(host, port, Handler)
    except OSError as error:
        print(f"Error: listen tcp {host}:{port}: bind: {error.strerror or error}", file=sys.stderr)
        return 1
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))
    print(f"Listening on {_shown(server)} ({NAME}, version {VERSION})", file=sys.stderr, flush=True)
    server.serve_forever()
    return 0


def _shown(server: Server) -> str:
    host = str(server.server_address[0])
    return f"[{host}]:{server.server_port}" if _is_ipv6(host) else f"{host}:{server.server_port}"


def _is_ipv6(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).version == 6
    except ValueError:
        return False


def main(arguments: list[str]) -> int:
    if arguments == ["serve"]:
        return serve()
    if arguments in (["--version"], ["-v"]):
        print(f"ollama version is {VERSION} ({NAME})")
        return 0
    found = " ".join(arguments) or "nothing"
    print(f"{NAME}: expected `serve` or `--version`, found {found}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
