"""The processes of engines: who they are, where they run, and the memory that the kernel counts for them."""

from pathlib import Path
from typing import Any, ClassVar

from typing_extensions import override

from facts.look import Look, as_root, remote_python, source_of
from fleet import engine_argv
from fleet.processes import EngineProcesses as FoundProcesses
from fleet.processes import parse_processes

_CARRIED = {
    "processes": "engine_processes", "http": "engine_http", "places": "engine_places",
    "invocation": "ollama_invocation",
}  # fmt: skip


def engines(look: str, **arguments: Any) -> str:
    """The command of one look of `facts/remote/engines.py`; those of one bundle find the processes once."""
    texts = {key: source_of(name) for key, name in _CARRIED.items()}
    texts["argv"] = Path(engine_argv.__file__).read_text("utf-8")
    return as_root(remote_python("engines", look=look, **texts, **arguments))


def given(endpoints: str) -> list[str]:
    """URLs from text in which commas part them."""
    return [each.strip().rstrip("/") for each in endpoints.split(",") if each.strip()]


class EngineProcesses(Look[FoundProcesses]):
    """
    Every process of Ollama, vLLM and llama.cpp, and what they have started; ``None`` when they were not observed.

    Also those whose arguments are gone: vLLM's engine and workers rename themselves, and outlive the server that
    started them (``is_orphan``). Of arguments only options that an allow-list names leave the host.

    .. code:: python

        EngineProcesses(
            processes=(
                EngineProcess(
                    runtime="llama.cpp", role="rpc", pid=4121, ppid=1, start_ticks=911, under=None, comm="rpc-server",
                    user="spark", unit="rpc.service", exe="/opt/llama/rpc-server", executable_digest="sha256:…",
                    options={"host": "192.168.102.10", "port": "50052"}, listens=("192.168.102.10:50052",),
                    memory=ProcessMemory(rss_bytes=734003200, …), …
                ),
            ),
            others_anonymous_bytes=1288490188,
        )
    """

    needs_root: ClassVar[bool] = True

    @override
    def command(self) -> str:
        return engines("processes")

    @override
    def parse(self, text: str) -> FoundProcesses:
        return parse_processes(text)
