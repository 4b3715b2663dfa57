"""An engine that is played: a process that calls itself one, and answers over HTTP what a file says.

answers = {"/health": [200, ""], "/metrics": [307, "", {"Location": "/metrics/"}]}
"""

import json
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

PROGRAM = """
import json, socket, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        with open(ANSWERS) as file:
            answers = json.load(file)
        with open(ANSWERS + ".asked", "a") as file:
            file.write(self.path + "\\n")
        status, body, *headers = answers.get(self.path, [404, '{"detail": "Not Found"}'])
        self.send_response(status)
        for name, value in (headers[0] if headers else {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args):
        pass

    def address_string(self):
        return "somewhere"

class OnASocket(HTTPServer):
    address_family = socket.AF_UNIX

    def server_bind(self):
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "localhost", 0

paths = [word for word in sys.argv if word.endswith(".sock")]
port = int(sys.argv[sys.argv.index("--port") + 1]) if "--port" in sys.argv else 0
server = OnASocket(paths[0], Handler) if paths else HTTPServer(("127.0.0.1", port), Handler)
print(0 if paths else server.server_address[1], flush=True)
server.serve_forever()
"""


class PlayedEngine:
    """A process under the name of an engine, as `vllm` with `serve org/model`; on a socket where a word ends so."""

    pids: ClassVar[set[int]] = set()
    """Of all that were started: a machine that runs tests may have engines of its own."""

    def __init__(self, folder: Path, name: str, *words: str, environment: Mapping[str, str] | None = None) -> None:
        folder.mkdir(exist_ok=True)
        self.answers = folder / f"{name}.json"
        self.says({})
        (folder / name).write_text(f"ANSWERS = {str(self.answers)!r}\n{PROGRAM}")
        if name == "vllm":
            words = (*words, "--port", str(_free_port()))
        self.process = subprocess.Popen(
            [sys.executable, str(folder / name), *words], stdout=subprocess.PIPE, env=environment
        )
        self.pids.add(self.process.pid)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self.endpoint = f"http://127.0.0.1:{self.port}"

    def says(self, answers: Mapping[str, Any]) -> None:
        """What it answers from now on; a value that does not begin with a status is JSON with status 200."""
        spelled = {key: each if _has_status(each) else [200, json.dumps(each)] for key, each in answers.items()}
        self.answers.write_text(json.dumps(spelled))

    @property
    def asked(self) -> list[str]:
        """Every path that it was asked."""
        asked = Path(f"{self.answers}.asked")
        return asked.read_text().splitlines() if asked.exists() else []

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def _free_port() -> int:
    """One that a vLLM can be told: without one it has its usual port and no other."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


def _has_status(answer: Any) -> bool:
    return isinstance(answer, list) and bool(answer) and isinstance(answer[0], int)
