"""Swap of a host."""

from typing_extensions import override

from facts.look import Look, as_root, remote_python
from fleet.host.swap import Swap as State
from fleet.host.swap import parse_swap


class Swap(Look[State]):
    """
    All swap that the kernel uses, and one swap file as it lies on disk; ``None`` when they were not observed.

    + path: the file
    + root: a directory to look under instead of ``/``

    .. code:: python

        Swap(
            active=(ActiveSwap(path="/sparks-swap.img", size_bytes=68719411200, used_bytes=0),),
            file=SwapFile(size_bytes=68719476736, mode=384, page_size_bytes=65536), page_size_bytes=65536, …
        )
    """

    needs_root = True

    @override
    def command(self, path: str = "/sparks-swap.img", root: str = "") -> str:
        return as_root(remote_python("host_state", what="swap", root=root, path=path))

    @override
    def parse(self, text: str) -> State:
        return parse_swap(text)
