"""QMP: how a running QEMU is told to save, restore, reset, quit, and pull a cable."""

import json
import os
import socket
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from virtual.errors import LabError

ANSWER_SECONDS = 120.0
"""How long QEMU may take to answer: savevm took 0.9 s at most (virtual-sparks.md, measured 2026-11-29)."""


class Qmp:
    """One connection to the QMP socket of one machine; use it in a `with` block."""

    def __init__(self, path: Path) -> None:
        self._name = path.parent.name
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(ANSWER_SECONDS)
        try:
            _connect(self._socket, path)
            self._stream: TextIO = self._socket.makefile("rw")
            self._read()
            self.execute("qmp_capabilities")
        except BaseException as error:
            self._socket.close()
            if isinstance(error, OSError):
                raise LabError(f"{self._name}: its QEMU does not answer: {error}") from error
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()
        self._socket.close()

    def execute(self, command: str, **arguments: Any) -> Any:
        """Run a QMP command; its return value. A refusal of QEMU is a `LabError`."""
        try:
            self._stream.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
            self._stream.flush()
            answer = self._read()
        except OSError as error:
            raise LabError(f"{self._name}: its QEMU did not answer {command}: {error}") from error
        if "error" in answer:
            raise LabError(f"{self._name}: QEMU refused {command}: {answer['error'].get('desc')}")
        return answer["return"]

    def monitor(self, line: str) -> str:
        """Run a line of the human monitor, which says nothing when all is well."""
        said = str(self.execute("human-monitor-command", **{"command-line": line})).strip()
        if said.startswith("Error"):
            raise LabError(f"{self._name}: QEMU refused {line}: {said}")
        return said

    def set_link(self, netdev: str, up: bool) -> None:
        """Plug in or pull the cable of a netdev."""
        self.execute("set_link", name=netdev, up=up)

    def devices(self) -> set[str]:
        """The names of the devices that the machine has now, of those that were given one."""
        return {each["name"] for each in self.execute("qom-list", path="/machine/peripheral")}

    def _read(self) -> dict[str, Any]:
        """The next message that is no event."""
        while line := self._stream.readline():
            message: dict[str, Any] = json.loads(line)
            if "event" not in message:
                return message
        raise ConnectionError("the connection was closed")


def _connect(endpoint: socket.socket, path: Path) -> None:
    """Connect by way of the folder's descriptor: a socket's path may have 107 bytes, a checkout's may not."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        endpoint.connect(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
