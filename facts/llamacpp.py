"""llama.cpp on a host: its servers by their own word, and the processes that lend their memory by RPC."""

from typing import ClassVar

from typing_extensions import override

from facts.look import Look
from facts.processes import engines, given
from fleet.llamacpp import NAMES, parse_llamacpp
from fleet.llamacpp import LlamaCpp as FoundLlamaCpp


class LlamaCpp(Look[FoundLlamaCpp]):
    """
    Every llama-server whose process is on the host, a single one or a router, and every rpc-server; ``None`` when
    their processes were not observed.

    An rpc-server answers no questions: where it listens and what it was started from is told by its process. A server
    that may sleep when idle is not asked for its slots, for that would wake it.

    + endpoints: URLs to ask besides, as ``http://127.0.0.1:8080``, separated by commas

    .. code:: python

        LlamaCpp(
            servers=(
                LlamaServer(
                    endpoint="http://127.0.0.1:8080", pid=812, health="ok", mode="single", build="b8681-d4a1c0e",
                    context_per_slot=65536, total_slots=4, sleeping=False,
                    models=(LlamaModel(id="qwen3-30b", weights_bytes=18556699314, …),),
                    slots=(Slot(id=0, context=65536, processing=True), …), counts=Unobserved(reason="…"),
                ),
            ),
            rpc=(EngineProcess(role="rpc", pid=911, listens=("192.168.102.10:50052",), …),),
        )
    """

    needs_root: ClassVar[bool] = True

    @override
    def command(self, endpoints: str = "") -> str:
        return engines("llamacpp", endpoints=given(endpoints), names=NAMES)

    @override
    def parse(self, text: str) -> FoundLlamaCpp:
        return parse_llamacpp(text)
