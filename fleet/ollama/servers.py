"""Every Ollama of a host by its own word, whatever unit or container it runs in. Pure."""

import json
from typing import Any

from fleet.ollama.residency import Resident, resident_of
from fleet.record import Record, Unobserved
from fleet.said import as_text, read


class OllamaServer(Record):
    """One `ollama serve`, and what it has loaded."""

    endpoint: str | None
    """Where a client on its host reaches it; None where it listens nowhere yet."""
    pid: int | None = None
    """None where only its address was known."""
    container_id: str | None = None
    version: str | Unobserved
    residents: tuple[Resident, ...] | Unobserved


def parse_ollama_servers(text: str) -> tuple[OllamaServer, ...]:
    """From the JSON of a look; raises ValueError where it could not look."""
    found = json.loads(text)
    if "error" in found:
        raise ValueError(found["error"])
    return tuple(_server(each, found["now"]) for each in found["servers"])


def _server(found: dict[str, Any], now_seconds: int) -> OllamaServer:
    def residents(listed: list[dict[str, Any]]) -> tuple[Resident, ...]:
        return tuple(resident_of(each, now_seconds) for each in listed)

    return OllamaServer(
        endpoint=found["endpoint"],
        pid=found["pid"],
        container_id=found["container_id"],
        version=read("/api/version", found["said"], as_text),
        residents=read("/api/ps", found["said"], residents),
    )
