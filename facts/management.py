"""What NetworkManager has applied to the management interface."""

from shlex import quote

from typing_extensions import override

from facts.look import Look, shell
from fleet.applied import AppliedIp4, parse_applied

_SCRIPT = r"""
command -v nmcli >/dev/null || { echo "expected nmcli, found none" >&2; exit 69; }
timeout -k 1 100 nmcli -t -f IP4 device show @INTERFACE@ || exit
"""


class ManagementIp4(Look[AppliedIp4]):
    """
    The default router and the name servers that an interface has now; ``None`` when they were not observed.

    + interface: its name

    .. code:: python

        AppliedIp4(gateway="10.0.0.1", nameservers=("10.0.0.1", "1.1.1.1"))
    """

    def command(self, interface: str = "enP7s7") -> str:
        return shell(_SCRIPT.replace("@INTERFACE@", quote(interface)))

    @override
    def parse(self, text: str) -> AppliedIp4:
        return parse_applied(text)
