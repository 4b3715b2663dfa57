"""A host's network as it is now: the kernel's links, and NetworkManager's profiles and devices."""

from typing_extensions import override

from facts.look import Look, shell
from fleet.links import Link, parse_links


class Links(Look[tuple[Link, ...]]):
    """
    The network interfaces and their addresses, by name; ``None`` when they were not observed.

    Addresses are in numeric order: the kernel's own order says only which came first.

    .. code:: python

        (
            Link(
                name="enp1s0f1np1", ifindex=4, mac="02:00:00:00:00:01", mtu=9000, up=True, carrier=True,
                operstate="UP", addresses=(LinkAddress(address="192.168.102.10/24"),),
            ),
        )
    """

    def command(self) -> str:
        return shell("ip -j -d addr show || exit 1")

    @override
    def parse(self, text: str) -> tuple[Link, ...]:
        return parse_links(text)
