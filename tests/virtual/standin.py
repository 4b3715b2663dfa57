"""Starts the stand-in for Ollama on loopback, with a store, a registry and faults of its own."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "virtual" / "ollama_standin.py"
REGISTRY = ROOT / "virtual" / "ollama_registry.json"
PINS: dict[str, dict[str, Any]] = json.loads(REGISTRY.read_text(encoding="utf-8"))["models"]
SMALLEST = "gemma3:270m"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Standin:
    """One process; `ask` is a plain HTTP client."""

    def __init__(self, home: Path, **environment: str) -> None:
        self.home = home
        self.faults_path = home / "faults.json"
        self.models = Path(environment.get("OLLAMA_MODELS", home / ".ollama" / "models"))
        self.port = free_port()
        self.endpoint = f"http://127.0.0.1:{self.port}"
        settings = {
            "HOME": str(home), "PATH": os.environ["PATH"], "OLLAMA_HOST": f"127.0.0.1:{self.port}",
            "OLLAMA_STANDIN_REGISTRY": str(REGISTRY), "OLLAMA_STANDIN_FAULTS": str(self.faults_path),
        }  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-S", str(PROGRAM), "serve"],
            env=settings | environment,
            stderr=subprocess.DEVNULL,
        )
        self._wait()

    def _wait(self) -> None:
        for _ in range(3000):
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise TimeoutError("expected the stand-in to listen, found nothing")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=60)

    def fail(self, **faults: str) -> None:
        self.faults_path.write_text(json.dumps(faults), encoding="utf-8")

    def text(self, method: str, path: str, body: object = None, timeout: float = 60) -> tuple[int, str]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.endpoint + path, data=data, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=timeout) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        status, text = self.text(method, path, body)
        return status, json.loads(text) if text else None

    def lines(self, path: str, body: object) -> list[dict[str, Any]]:
        _, text = self.text("POST", path, body)
        return [json.loads(line) for line in text.splitlines()]

    def cut(self, path: str, body: object) -> list[dict[str, Any]]:
        """The lines of an answer that breaks off."""
        try:
            self.text("POST", path, body)
        except http.client.IncompleteRead as error:
            return [json.loads(line) for line in error.partial.decode().splitlines()]
        raise AssertionError("expected an answer that breaks off, found a whole one")

    def pull(self, name: str = SMALLEST) -> list[dict[str, Any]]:
        return self.lines("/api/pull", {"model": name})
