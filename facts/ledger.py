"""What the ledger of memory rests on besides other facts: every Ollama of a host, wherever it listens."""

from typing import ClassVar

from typing_extensions import override

from facts.look import Look
from facts.processes import engines, given
from fleet.ollama.servers import OllamaServer, parse_ollama_servers


class OllamaServers(Look[tuple[OllamaServer, ...]]):
    """
    Every Ollama whose process is on the host, in a container or started by hand too, and what it has loaded; ``None``
    when its processes were not observed. ``facts.ollama`` looks at the unit that we converge.

    + endpoints: URLs to ask besides, as ``http://127.0.0.1:11434``, separated by commas

    .. code:: python

        (
            OllamaServer(
                endpoint="http://127.0.0.1:11434", pid=812, version="0.13.0",
                residents=(Resident(name="qwen3:0.6b", size_bytes=1_900_000_000, context_length=8192, …),),
            ),
        )
    """

    needs_root: ClassVar[bool] = True

    @override
    def command(self, endpoints: str = "") -> str:
        return engines("ollama", endpoints=given(endpoints))

    @override
    def parse(self, text: str) -> tuple[OllamaServer, ...]:
        return parse_ollama_servers(text)
