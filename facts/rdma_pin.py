"""Whether RDMA devices can pin memory, tried as an engine does it."""

from typing import ClassVar

from typing_extensions import override

from facts.look import Look, as_root, remote_python
from fleet.rdma_pin import RdmaPin, parse_rdma_pins

SIZE_BYTES = 1 << 30
"""What is pinned at once: NCCL and vLLM register buffers of hundreds of MB. Never more than a quarter of what the host
has available."""


class RdmaPins(Look[tuple[RdmaPin, ...]]):
    """
    Each RDMA device, with a large piece of memory registered with it and let go again; ``None`` when that could not be
    tried at all, as without libibverbs, and empty when the host has no RDMA device.

    Nothing is sent, and nothing stays. Where a kernel keeps most of its memory as CMA a long-term pin fails
    (``ibv_reg_mr: Cannot allocate memory``) although there is plenty: this is what tells.

    + size_bytes: how much; at most a quarter of the available memory is taken

    .. code:: python

        (RdmaPin(device="rocep1s0f1", size_bytes=1073741824, error=None),)
    """

    needs_root: ClassVar[bool] = True

    @override
    def command(self, size_bytes: int = SIZE_BYTES) -> str:
        return as_root(remote_python("rdma_pin", size_bytes=size_bytes))

    @override
    def parse(self, text: str) -> tuple[RdmaPin, ...]:
        return parse_rdma_pins(text)
