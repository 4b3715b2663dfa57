"""The clock of a host."""

from typing_extensions import override

from facts.look import Look, remote_python
from fleet.host.clock import Clock as State
from fleet.host.clock import parse_clock


class Clock(Look[State]):
    """
    Whether the clock follows the world's; ``None`` when it was not observed.

    + root: a directory to look under instead of ``/``

    .. code:: python

        Clock(max_error_seconds=0.02, is_local=False, timezone="Etc/UTC")
    """

    @override
    def command(self, root: str = "") -> str:
        return remote_python("host_state", what="clock", root=root)

    @override
    def parse(self, text: str) -> State:
        return parse_clock(text)
