"""A host's GPUs and who computes on them, by nvidia-smi."""

from typing import ClassVar

from typing_extensions import override

from facts.look import Look, as_root, remote_python
from fleet.gpu import APP_FIELDS, GPU_FIELDS, parse_gpu_state
from fleet.gpu import GpuState as FoundGpus

PATIENCE_SECONDS = 15
"""For nvidia-smi: without persistence mode it wakes the GPU first, which takes 1 to 4 s; a hung one never answers."""


class GpuState(Look[FoundGpus]):
    """
    The GPUs, and the memory that each process holds on them; ``None`` when nobody could ask.

    What nvidia-smi has no value for is ``Unobserved`` on its own: a GB10 has no figure for its memory as a whole, since
    it shares that of the host. ``answer`` tells a host without a device from one whose driver and library differ,
    and from one where nvidia-smi hangs.

    .. code:: python

        GpuState(
            answer="seen", module="580.95.05",
            gpus=(
                Gpu(
                    index=0, name="NVIDIA GB10", pci_address="000f:01:00.0", driver="580.95.05",
                    memory_total_bytes=Unobserved(reason="nvidia-smi says [N/A]"), sm_clock_mhz=2418, …
                ),
            ),
            apps=(ComputeApp(pid=4121, name="VLLM::EngineCore", used_bytes=101250498560),),
        )
    """

    needs_root: ClassVar[bool] = True
    timeout_seconds: ClassVar[float] = 40.0

    @override
    def command(self, program: str = "nvidia-smi", root: str = "", seconds: float = PATIENCE_SECONDS) -> str:
        fields = {"gpu_fields": ",".join(GPU_FIELDS), "app_fields": ",".join(APP_FIELDS)}
        return as_root(remote_python("gpu_smi", program=program, root=root, seconds=seconds, **fields))

    @override
    def parse(self, text: str) -> FoundGpus:
        return parse_gpu_state(text)
