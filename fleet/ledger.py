"""Who holds the memory of one Spark, by every instrument there is, and what nobody accounts for. Pure.

A Spark has one pool for host and GPU. What is used, MemTotal less MemAvailable, is explained by three accounts: what
the GPU's driver has given processes (compute-apps), what engine processes hold of their own, and the anonymous memory
of all others. The rest is the kernel's, shared memory of others, or nobody's: what a driver has kept of an ended
process is found there. Whether the first two overlap is known of no Spark yet: memory that a program and its GPU both
touch (`cudaMallocManaged`) may be in both, and then the rest is too small, or below 0.
"""

from collections.abc import Iterator
from typing import Annotated

from fleet.desired import DesiredSpark
from fleet.ledger_residents import residents_of
from fleet.llamacpp import LlamaServer
from fleet.memory import Memory
from fleet.observation import Observation
from fleet.ollama.servers import OllamaServer
from fleet.processes import EngineProcesses, held_bytes
from fleet.record import VOLATILE, Record, Unobserved
from fleet.resident import Resident
from fleet.vllm import VllmServer


class Unseen(Record):
    """A part of the ledger that could not be observed: what it would explain is among the unaccounted."""

    part: str
    reason: str


class Residency(Record):
    """The ledger of one Spark at one moment."""

    host: str
    memory: Memory | Unobserved
    residents: tuple[Resident, ...] | Unobserved
    """Unobserved where its processes were not seen: nobody knows who is there."""
    engines_bytes: Annotated[int | Unobserved, VOLATILE]
    """What all engine processes hold of their own, by the kernel."""
    compute_apps_bytes: Annotated[int | Unobserved, VOLATILE]
    """What the GPU's driver has given to anybody."""
    others_bytes: Annotated[int | Unobserved, VOLATILE]
    """Anonymous memory of all processes that are no engine's, by the kernel."""
    unobserved: tuple[Unseen, ...] = ()

    @property
    def used_bytes(self) -> int | Unobserved:
        """What a new process cannot get: the total less what the kernel calls available."""
        if isinstance(self.memory, Unobserved):
            return self.memory
        return self.memory.total_bytes - self.memory.available_bytes

    @property
    def unaccounted_bytes(self) -> int | Unobserved:
        """What is used and in no account; below 0 where instruments count the same pages twice."""
        used = self.used_bytes
        for part in (used, self.engines_bytes, self.compute_apps_bytes, self.others_bytes):
            if isinstance(part, Unobserved):
                return part
        return used - self.engines_bytes - self.compute_apps_bytes - self.others_bytes  # type: ignore[operator]


def residency(desired: DesiredSpark, seen: Observation) -> Residency:
    """The ledger from one observation; what was not looked at, or could not be, is said and never 0."""
    found, gpu = seen.processes, seen.gpu
    apps = gpu if isinstance(gpu, Unobserved) else gpu.apps
    used = apps if isinstance(apps, Unobserved) else known_sum(tuple(app.used_bytes for app in apps))
    return Residency(
        host=seen.host,
        memory=seen.memory,
        residents=found if isinstance(found, Unobserved) else residents_of(desired, seen, found),
        engines_bytes=found if isinstance(found, Unobserved) else held_bytes(found.processes),
        compute_apps_bytes=used,
        others_bytes=found if isinstance(found, Unobserved) else found.others_anonymous_bytes,
        unobserved=tuple(_unseen(seen, used)),
    )


def known_sum(parts: tuple[int | Unobserved, ...]) -> int | Unobserved:
    """The sum where every part is known, else why one is not."""
    total = 0
    for part in parts:
        if isinstance(part, Unobserved):
            return part
        total += part
    return total


def _unseen(seen: Observation, used: int | Unobserved) -> Iterator[Unseen]:
    """Every part that is missing; that of an engine which does not run here is not missed."""
    asked: dict[str, object] = {"memory": seen.memory, "processes": seen.processes, "compute apps": used}
    found = seen.processes
    if isinstance(found, EngineProcesses):
        runtimes = {each.runtime for each in found.processes}
        engines = {"ollama": seen.ollama_servers, "vllm": seen.vllm, "llama.cpp": seen.llamacpp}
        asked |= {name: said for name, said in engines.items() if name in runtimes}
        if any(each.container_id for each in found.processes):
            asked["containers"] = seen.containers
        if "ollama" in runtimes:
            asked |= {"stamp": seen.generation, "invocation": seen.invocation}
    asked |= dict(_servers(seen))
    for part, said in asked.items():
        if isinstance(said, Unobserved):
            yield Unseen(part=part, reason=said.reason)


def _servers(seen: Observation) -> Iterator[tuple[str, object]]:
    """What each server says of what it has loaded, by the server."""
    if not isinstance(seen.ollama_servers, Unobserved):
        yield from ((f"ollama {_where(each)}", each.residents) for each in seen.ollama_servers)
    if not isinstance(seen.vllm, Unobserved):
        yield from ((f"vllm {_where(each)}", each.models) for each in seen.vllm)
    if not isinstance(seen.llamacpp, Unobserved):
        yield from ((f"llama.cpp {_where(each)}", each.models) for each in seen.llamacpp.servers)


def _where(server: OllamaServer | VllmServer | LlamaServer) -> str:
    return f"at {server.endpoint}" if server.endpoint else f"pid {server.pid}"
