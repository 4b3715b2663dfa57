"""The kernel's settings of the fabric ports that two twins in one host depend on."""

from typing_extensions import override

from facts.look import Look, shell
from fleet.hardware import INTERFACES
from fleet.port_settings import ALL, NAMES, parse_port_settings
from fleet.port_settings import PortSettings as Settings

_SCRIPT = f"""
cd /proc/sys/net/ipv4/conf || exit 1
for port in {" ".join((ALL, *INTERFACES))}; do
    [ -d "$port" ] || continue
    for name in {" ".join(NAMES)}; do
        value=$(cat "$port/$name") || exit 1
        echo "$port $name $value"
    done
done
"""


class PortSettings(Look[Settings]):
    """
    Reverse path filter and ARP settings of every fabric port, and those of ``all``; ``None`` when they were not
    observed.

    .. code:: python

        PortSettings(
            values={
                "all": {"rp_filter": 0, "arp_ignore": 0, "arp_filter": 0},
                "enp1s0f0np0": {"rp_filter": 2, "arp_ignore": 1, "arp_filter": 0},
            },
        )
    """

    def command(self) -> str:
        return shell(_SCRIPT)

    @override
    def parse(self, text: str) -> Settings:
        return parse_port_settings(text)
