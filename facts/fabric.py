"""The four ConnectX-7 ports of a host: who touches them."""

from typing import Any, ClassVar

from typing_extensions import override

from facts.bundle import Wanted, bundled, unbundled
from facts.look import Look
from facts.netplan import NetplanFiles, NetplanLeftovers
from facts.network import Connections, Links
from fleet.ownership import Ports, ports
from fleet.record import Unobserved

_LOOKS = (Wanted(NetplanFiles), Wanted(Connections), Wanted(Links), Wanted(NetplanLeftovers))


class PortOwners(Look[Ports]):
    """
    Every netplan file, keyfile, profile and hand-made address that touches a fabric port, by owner, and whether it
    is ``persistent``, ``ephemeral`` (lost at the next boot) or ``unknown``; ``None`` when not all was observed.
    Always all four ports, in the order of their names in ``fleet.hardware``.

    .. code:: python

        Ports(
            ports=(
                Port(
                    interface="enp1s0f0np0", present=True,
                    claims=(
                        Claim(
                            owner="NVIDIA playbook helper, sparkrun or sparknet", lasting="persistent",
                            name="enp1s0f0np0", file="/etc/netplan/40-cx7.yaml", line=4,
                            content_digest="sha256:…", addresses=("192.168.100.10/24",), mtu=9000,
                        ),
                    ),
                ),
                …
            ),
            leftovers=("/etc/netplan/10-qsfp.yaml.sync-disabled-20261129",),
        )
    """

    needs_root: ClassVar[bool] = True
    timeout_seconds: ClassVar[float] = Connections.timeout_seconds + 20

    @override
    def command(self) -> str:
        return bundled(_LOOKS)

    @override
    def parse(self, text: str) -> Ports:
        answers: dict[str, Any] = unbundled(_LOOKS, text)
        for name, value in answers.items():
            if isinstance(value, Unobserved):
                raise ValueError(f"{name}: {value.reason}")
        return ports(*(answers[look.name] for look in _LOOKS))
