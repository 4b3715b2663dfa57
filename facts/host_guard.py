"""The memory guard of a host."""

from typing_extensions import override

from facts.look import Look, as_root, remote_python
from fleet.host.guard_service import GUARD_UNIT, STATE, parse_memory_guard
from fleet.host.guard_service import MemoryGuard as State


class MemoryGuard(Look[State]):
    """
    The memory guard as it runs, and its last sample; ``None`` when it was not observed.

    + root: a directory to look under instead of ``/``

    .. code:: python

        MemoryGuard(
            argv=("/usr/bin/python3", "-I", "/usr/local/lib/sparks/memory-guard-….py", "--docker", …),
            sample=GuardSample(at=1764500000.5, available_bytes=9663676416, level="steady", declared=("vllm",), …),
            age_seconds=0.4,
        )
    """

    needs_root = True

    @override
    def command(self, root: str = "") -> str:
        return as_root(remote_python("host_systemd", what="guard", root=root, unit=GUARD_UNIT, state=STATE))

    @override
    def parse(self, text: str) -> State:
        return parse_memory_guard(text)
