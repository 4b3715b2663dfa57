"""The stamp on a host: which plan was last carried out there."""

from typing_extensions import override

from facts.look import Look, as_root, remote_python
from fleet.generation import BEGUN, STAMP, Stamp, parse_stamp


class GenerationStamp(Look[Stamp]):
    """
    The plan that was last carried out on the host, and what that left running; ``None`` when that was not observed.
    Where no run of ours came to its end its ``generation`` is ``None``.

    .. code:: python

        Stamp(
            generation=Generation(
                plan="sha256:…", desired="sha256:…", scope="serve", at="2026-11-30T01:33:12Z",
                invocations=(Invocation(runtime="ollama", pid=812, …),),
            ),
            begun=None,
        )
    """

    needs_root = True

    @override
    def command(self) -> str:
        return as_root(remote_python("generation_stamp", stamp=STAMP, begun=BEGUN))

    @override
    def parse(self, text: str) -> Stamp:
        return parse_stamp(text)
