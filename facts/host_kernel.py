"""Settings of a host's kernel below /sys: huge pages and CPU governors."""

from typing_extensions import override

from facts.look import Look, remote_python
from fleet.host import kernel_values
from fleet.host.kernel_values import CPUS, THP, parse_governors, parse_huge_pages


class HugePages(Look[kernel_values.HugePages]):
    """
    Transparent huge pages and the size of a page; ``None`` when they were not observed.

    + root: a directory to look under instead of ``/``

    .. code:: python

        HugePages(
            page_size_bytes=65536, enabled=Choice(value="never", choices=("always", "madvise", "never")),
            defrag=Choice(value="madvise", choices=(…)), shmem_enabled=Choice(value="never", choices=(…)),
        )
    """

    @override
    def command(self, root: str = "") -> str:
        names = [name for name in kernel_values.HugePages.model_fields if name != "page_size_bytes"]
        return remote_python("host_state", what="huge_pages", root=root, directory=THP.lstrip("/"), names=names)

    @override
    def parse(self, text: str) -> kernel_values.HugePages:
        return parse_huge_pages(text)


class Governors(Look[kernel_values.Governors]):
    """
    What scales the frequency of each CPU that is online; ``None`` when it was not observed.

    + root: a directory to look under instead of ``/``

    .. code:: python

        Governors(cpus=(
            CpuGovernor(cpu=0, governor=Choice(value="performance", choices=("performance", "powersave"))), …
        ))
    """

    @override
    def command(self, root: str = "") -> str:
        return remote_python("host_state", what="governors", root=root, directory=CPUS.lstrip("/"))

    @override
    def parse(self, text: str) -> kernel_values.Governors:
        return parse_governors(text)
