"""The processes of engines on a host, and the memory of each by the kernel's count. Pure."""

import json
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from fleet.record import VOLATILE, Digest, Record

Runtime = Literal["ollama", "vllm", "llama.cpp"]
Role = Literal["server", "runner", "engine", "worker", "ray_worker", "rpc", "child"]
"""`server` answers requests; `runner` is Ollama's process of one model; `engine` and `worker` are vLLM's; `rpc` lends
its memory to a llama.cpp elsewhere; `child` was started by one of them and says nothing of itself."""

_NEVER_ALONE = frozenset({"runner", "engine", "worker"})
"""Roles that only a server of the same runtime starts."""


class ProcessMemory(Record):
    """Amounts at one moment, by the kernel. What a driver has given a process is in none of them."""

    rss_bytes: Annotated[int, VOLATILE]
    """Resident: what it shares is counted whole for each that shares it."""
    rss_file_bytes: Annotated[int, VOLATILE]
    """Of that, pages of files, as mapped weights: the kernel can take them back."""
    pss_bytes: Annotated[int | None, VOLATILE] = None
    """What it shares is divided among those that share it; None where the process has ended and waits to be buried."""
    pss_file_bytes: Annotated[int | None, VOLATILE] = None
    swap_bytes: Annotated[int, VOLATILE] = 0

    @property
    def held_bytes(self) -> int:
        """What nobody else can get while it runs: without pages of files, and of shared ones its part."""
        if self.pss_bytes is None:
            return max(0, self.rss_bytes - self.rss_file_bytes)
        return max(0, self.pss_bytes - (self.pss_file_bytes or 0))


class EngineProcess(Record):
    """One process. `pid` and `start_ticks` name it within a boot."""

    runtime: Runtime
    role: Role
    pid: int
    ppid: int
    start_ticks: int
    under: int | None
    """The pid of the nearest engine process among those that have started it."""
    comm: str
    """The kernel's name of it, of 15 bytes: all that is left of one that has ended."""
    state: Annotated[str, VOLATILE]
    """Z has ended and waits to be buried; D waits in the kernel and cannot be killed."""
    uid: int
    user: str | None = None
    """None where the host has no name for the uid, as for one of a container."""
    unit: str | None = None
    container_id: str | None = None
    host_network: bool | None = None
    """Is its network that of the host? None where that could not be told."""
    exe: str | None = None
    exe_deleted: bool = False
    """Was the file that it was started from replaced or removed since?"""
    executable_digest: Digest | None = None
    """None for an interpreter, whose digest says nothing, and for a file too large to read at each look."""
    argv_digest: Digest | None = None
    """None where it has no arguments."""
    options: dict[str, str] = Field(default_factory=dict)
    """What may be told of its arguments, by the long names of options."""
    artifacts: tuple[Digest, ...] = ()
    """Of a runner of Ollama: the manifests that have its weights."""
    memory: ProcessMemory
    listens: tuple[str, ...] = ()
    """The addresses and ports on which it takes connections, in its own network."""

    @property
    def comes_and_goes(self) -> bool:
        """It is what a host does, not how it is set up."""
        return True

    @property
    def is_orphan(self) -> bool:
        """Has whoever started it gone? It still has its memory, and nobody will end it."""
        return self.role in _NEVER_ALONE and self.under is None

    def __str__(self) -> str:
        return f"pid {self.pid} ({self.comm})"


class EngineProcesses(Record):
    """Every engine process of a host, by pid, and what all other processes have of their own."""

    processes: tuple[EngineProcess, ...]
    others_anonymous_bytes: Annotated[int, VOLATILE] = 0
    """Anonymous memory of every process that is no engine's."""

    @property
    def roots(self) -> tuple[EngineProcess, ...]:
        """Those that no other engine process has started: each stands for all below it."""
        pids = {process.pid for process in self.processes}
        return tuple(each for each in self.processes if each.under is None or each.under not in pids)

    def below(self, root: EngineProcess) -> tuple[EngineProcess, ...]:
        """A process and everything that it has started, at any depth."""
        found = [root]
        for each in found:
            found += [other for other in self.processes if other.under == each.pid and other not in found]
        return tuple(sorted(found, key=lambda process: process.pid))

    def of(self, runtime: Runtime, *roles: Role) -> tuple[EngineProcess, ...]:
        """Those of a runtime in one of these roles; in any where none is given."""
        return tuple(each for each in self.processes if each.runtime == runtime and (not roles or each.role in roles))


def held_bytes(processes: Iterable[EngineProcess]) -> int:
    """What some processes hold together."""
    return sum(process.memory.held_bytes for process in processes)


def parse_processes(text: str) -> EngineProcesses:
    """From the JSON of a look; raises ValueError where it could not look."""
    found = json.loads(text)
    if "error" in found:
        raise ValueError(found["error"])
    return EngineProcesses.from_canonical(text)
