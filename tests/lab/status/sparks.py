"""Sparks for the status: one that serves with every kind of resident, one that is idle, one that is silent."""

from datetime import UTC, datetime
from typing import Any

from fleet.containers import Containers
from fleet.desired import DesiredSpark
from fleet.invocation import Running
from fleet.neighbour import Neighbour
from fleet.observation import Observation
from fleet.ollama.servers import OllamaServer
from fleet.processes import EngineProcesses
from fleet.record import Unobserved
from fleet.spark import Spark
from fleet.vllm import ServedModel, VllmModels, VllmServer
from tests.fleet.ollama.host import PROCESS, B, stamped
from tests.fleet.test_ledger import CONTAINER, GIB, NOTHING, SILENT, apps, loaded, memory
from tests.fleet.test_processes import process

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SERVE = process(
    PROCESS.pid, runtime="ollama", memory=memory(GIB), executable_digest=B, unit="ollama.service",
    start_ticks=PROCESS.start_ticks,
)  # fmt: skip
PROCESSES = EngineProcesses(
    processes=(
        SERVE,
        process(8, "runner", PROCESS.pid, runtime="ollama", memory=memory(GIB)),
        process(20, options={"model": "org/m"}, memory=memory(4 * GIB), container_id=CONTAINER.id),
        process(30, "engine", comm="VLLM::EngineCor", memory=memory(GIB)),
        process(40, "rpc", runtime="llama.cpp", memory=memory(GIB), unit="rpc.service"),
    ),
    others_anonymous_bytes=2 * GIB,
)
SERVING: dict[str, Any] = {
    **NOTHING,
    "processes": PROCESSES,
    "gpu": apps(pid8=18 * GIB, pid20=40 * GIB, pid30=6 * GIB, pid99=GIB),
    "containers": Containers(containers=(CONTAINER,)),
    "ollama_servers": (
        OllamaServer(endpoint="http://127.0.0.1:11434", pid=PROCESS.pid, version="0.13.0",
                     residents=(loaded("qwen3:30b"),)),
    ),
    "vllm": (
        VllmServer(
            endpoint="http://127.0.0.1:8000", pid=20, healthy=True, version="0.11.0", sleeping=False, metrics=SILENT,
            models=VllmModels(models=(ServedModel(names=("fast",), root="org/m", max_model_len=4096),)),
        ),
    ),
    "generation": stamped(PROCESS),
    "invocation": Running(invocation=PROCESS),
}  # fmt: skip
RPC = Neighbour(unit="rpc.service", note="the far end of dgx7's llama.cpp")


def desired(name: str, *neighbours: Neighbour) -> DesiredSpark:
    return DesiredSpark(name=name, spark=Spark(enrolled=True, neighbours=neighbours), rail_ends=(), ollama=None)


def seen(name: str, **sections: Any) -> Observation:
    return Observation(host=name, **sections)


def silent(name: str) -> Observation:
    reason = Unobserved(reason="no answer over SSH: Could not connect (timed out)")
    return seen(name, **dict.fromkeys(NOTHING, reason))
