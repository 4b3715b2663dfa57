"""The process that serves: which one it is, who is connected to it, and what it has loaded."""

from typing_extensions import override

from facts.look import Look, source_of
from facts.ollama import ENDPOINT, probe
from fleet.invocation import Running, parse_running


class OllamaInvocation(Look[Running]):
    """
    The process of ``ollama.service``: its exact identity, where it really listens, what it has loaded there, and the
    connections to it that are up; ``None`` when that was not observed.

    Ollama has no metric of running requests. A connection may carry one or be idle, so their number is the most that
    may run. What it has loaded is asked where it listens now, which need not be where it shall.

    + endpoint: where clients on the host shall reach it; another process that listens there is told

    .. code:: python

        Running(
            invocation=Invocation(
                runtime="ollama", unit="ollama.service", pid=812, start_ticks=911, boot_id="6f0c…",
                executable_digest="sha256:…", argv_digest="sha256:…",
            ),
            listens=("0.0.0.0:11434",), models=("qwen3:0.6b",), clients=("192.168.102.11",), other=None,
        )
    """

    needs_root = True

    @override
    def command(self, endpoint: str = ENDPOINT) -> str:
        source = source_of("ollama_invocation")
        return probe("invocation", endpoint=endpoint, invocation=source)

    @override
    def parse(self, text: str) -> Running:
        return parse_running(text)
