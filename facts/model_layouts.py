"""How the files of models lie on their disk."""

from typing import ClassVar

from typing_extensions import override

from facts.host_mounts import FileLayout
from facts.look import Look
from fleet.host.fragmentation import Fragmentation, parse_fragmentation


class ModelLayouts(Look[tuple[Fragmentation, ...]]):
    """
    The layout of a store of models; ``None`` when it was not observed. It reads the map of every file, so it is only
    asked for by name.

    + path: the store

    .. code:: python

        (Fragmentation(path="/usr/share/ollama/.ollama/models", filesystem="ext4", extents=27, best=4, …),)
    """

    needs_root = True
    timeout_seconds: ClassVar[float] = FileLayout.timeout_seconds

    @override
    def command(self, path: str = "/") -> str:
        return FileLayout().command(path)

    @override
    def parse(self, text: str) -> tuple[Fragmentation, ...]:
        return (parse_fragmentation(text),)
