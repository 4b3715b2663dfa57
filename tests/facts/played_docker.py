"""A Docker daemon on a Unix socket that answers what it is told to, and a systemd that says whether it runs."""

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any

CONTAINER = "c" * 64
IMAGE = "sha256:" + "a" * 64
MANIFEST = "sha256:" + "b" * 64


def inspected(**changed: Any) -> dict[str, Any]:
    """A running container as /containers/ID/json has it (shape of API 1.47; every identifier made up)."""
    found = {
        "Id": CONTAINER, "Name": "/vllm", "Path": "vllm", "Args": ["serve", "m", "--api-key", "s3cr3t"],
        "Image": IMAGE, "RestartCount": 2,
        "State": {"Status": "running", "Pid": 4121, "StartedAt": "2026-11-30T06:00:00.5Z", "ExitCode": 0,
                  "OOMKilled": False, "Health": {"Status": "healthy", "Log": [{"Output": "s3cr3t"}]}},
        "Config": {"Image": "vllm/vllm-openai:latest",
                   "Env": ["HF_TOKEN=s3cr3t", "VLLM_API_KEY=s3cr3t", "NCCL_IB_HCA==rocep1s0f0", "EMPTY="],
                   "Labels": {"sparks.deployment": "qwen", "org.opencontainers.image.version": "0.11.0",
                              "traefik.http.middlewares.a.basicauth.users": "s3cr3t"}},
        "HostConfig": {"NetworkMode": "host", "Memory": 0,
                       "RestartPolicy": {"Name": "unless-stopped", "MaximumRetryCount": 0}},
        "Mounts": [{"Type": "bind", "Source": "/models", "Destination": "/m", "RW": False},
                   {"Type": "volume", "Name": "cache", "Source": "/var/lib/docker/volumes/cache/_data",
                    "Destination": "/root/.cache", "RW": True}],
    }  # fmt: skip
    return {**found, **changed}


LISTED: Mapping[str, Any] = {
    "/containers/json?all=1": [{"Id": CONTAINER}],
    f"/containers/{CONTAINER}/json": inspected(),
    "/images/sha256%3A" + "a" * 64 + "/json": {"RepoDigests": [f"vllm/vllm-openai@{MANIFEST}"]},
}


class PlayedDocker:
    """Answers each path with JSON, with `(status, bytes)`, or with 404."""

    def __init__(self, path: Path, answers: Mapping[str, Any]) -> None:
        self.asked: list[str] = []
        self.server = _Server(str(path), _handler(answers, self.asked))
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True


def _handler(answers: Mapping[str, Any], asked: list[str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(self.path)
            found = answers.get(self.path, (404, b'{"message": "No such object"}'))
            status, body = found if isinstance(found, tuple) else (200, json.dumps(found).encode())
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            return

        def address_string(self) -> str:
            return "unix"

    return Handler
