"""A host's memory now."""

from typing_extensions import override

from facts.look import Look, shell
from fleet.memory import Memory as MeasuredMemory
from fleet.memory import parse_memory


class Memory(Look[MeasuredMemory]):
    """
    Memory, swap, CMA and huge pages in bytes; ``None`` when they were not observed.

    .. code:: python

        Memory(
            total_bytes=130663698432, available_bytes=118111600640, free_bytes=101200000000,
            swap_total_bytes=0, swap_free_bytes=0, cma_total_bytes=0, cma_free_bytes=9985798144,
            hugepages_total=0, hugepages_free=0, hugepage_size_bytes=2097152,
        )
    """

    def command(self) -> str:
        return shell("cat /proc/meminfo || exit 1")

    @override
    def parse(self, text: str) -> MeasuredMemory:
        return parse_memory(text)
