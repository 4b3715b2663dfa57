"""Kernel settings of a host, now and at boot."""

from typing_extensions import override

from facts.look import Look, as_root, remote_python
from fleet.host.sysctl import WATCHED, parse_sysctls
from fleet.host.sysctl import Sysctls as Settings


class Sysctls(Look[Settings]):
    """
    Kernel settings as they are now, and every line of sysctl.d and /etc/sysctl.conf that is about one of them, in the
    order in which a boot reads them; ``None`` when they were not observed. No other setting leaves the host.

    + keys: the settings by their path below /proc/sys; those that decide about memory and stability if not given
    + root: a directory to look under instead of ``/``

    .. code:: python

        Sysctls(
            now={"vm/watermark_boost_factor": "15000", …},
            lines=(SysctlLine(path="/etc/sysctl.d/99-ours.conf", number=3, key="vm/swappiness", value="10"),),
        )
    """

    needs_root = True

    @override
    def command(self, keys: tuple[str, ...] = WATCHED, root: str = "") -> str:
        return as_root(remote_python("host_state", what="sysctls", root=root, keys=keys))

    @override
    def parse(self, text: str) -> Settings:
        return parse_sysctls(text)
