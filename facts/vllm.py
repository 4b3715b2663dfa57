"""The vLLM servers of a host, by their own word."""

from typing import ClassVar

from typing_extensions import override

from facts.look import Look
from facts.processes import engines, given
from fleet.vllm import VllmServer, parse_servers
from fleet.vllm_metrics import NAMES


class VllmServers(Look[tuple[VllmServer, ...]]):
    """
    Every vLLM server whose process is on the host, in a container too: health, version, models, sleep, and what it
    counts; ``None`` when its processes were not observed.

    What one does not answer is ``Unobserved`` on its own: without a key models are not seen, and are not none. Of an
    answer only named fields and series leave the host.

    + endpoints: URLs to ask besides, as ``http://127.0.0.1:8000``, separated by commas

    .. code:: python

        (
            VllmServer(
                endpoint="http://127.0.0.1:8000", pid=4121, healthy=True, version="0.11.0", sleeping=False,
                models=VllmModels(
                    models=(ServedModel(names=("fast", "default"), root="nvidia/…", max_model_len=131072),),
                    adapters=(Adapter(name="sql-lora", root="/adapters/sql", parent="fast"),),
                ),
                metrics=VllmMetrics(engines=(EngineMetrics(engine="0", running=1, waiting=0, kv_use=0.4, …),)),
            ),
        )
    """

    needs_root: ClassVar[bool] = True

    @override
    def command(self, endpoints: str = "") -> str:
        return engines("vllm", endpoints=given(endpoints), names=NAMES)

    @override
    def parse(self, text: str) -> tuple[VllmServer, ...]:
        return parse_servers(text)
