"""Whether a host forwards between its rails: what makes it so, and what may stop a forwarded packet."""

from typing import ClassVar

from typing_extensions import override

from facts.look import Look, as_root, remote_python
from fleet.hardware import INTERFACES
from fleet.transit.desired import DOCKER_USER, FROM_RAIL, SYSCTL_PATH, TO_RAIL, UNIT, UNIT_PATH, WANTS_PATH
from fleet.transit.firewall import FORWARD
from fleet.transit.observed import Firewall as FirewallState
from fleet.transit.observed import TransitState, parse_firewall, parse_transit


class Transit(Look[TransitState]):
    """
    The files of ours that make transit last, the kernel's forwarding settings now, and every sysctl.d file that
    says something about them, in the order in which they are read at boot; ``None`` when they were not observed.

    + root: a directory to look under instead of ``/``, for settings and sysctl.d

    .. code:: python

        TransitState(
            now={"net/ipv4/ip_forward": "1", "net/ipv4/conf/enp1s0f0np0/forwarding": "1", …},
            sysctl=OwnFile(content_digest="sha256:…", mode=0o644, owner="root"),
            unit=OwnUnit(file=OwnFile(…), is_linked=True, need_daemon_reload=False),
            sysctl_files=(SysctlFile(path="/etc/sysctl.d/10-network-security.conf", lines=("…",)), …),
        )
    """

    needs_root = True

    @override
    def command(self, root: str = "") -> str:
        paths = {"sysctl_path": SYSCTL_PATH, "unit_path": UNIT_PATH, "wants_path": WANTS_PATH}
        return as_root(remote_python("transit_files", root=root, interfaces=INTERFACES, unit=UNIT, **paths))

    @override
    def parse(self, text: str) -> TransitState:
        return parse_transit(text)


class Firewall(Look[FirewallState]):
    """
    What a forwarded packet meets: iptables' filter table from FORWARD on, native nftables chains that drop, and
    firewalld's zones; ``None`` when they were not observed. Of a rule only interfaces, networks and target leave
    the host.

    + root: a directory to look under instead of ``/``, for the kernel's list of tables

    .. code:: python

        Firewall(
            docker="active",
            filters=(
                Filter(
                    program="iptables",
                    chains=(
                        Chain(name="FORWARD", policy="DROP", rules=(Rule(target="DOCKER-USER"), …)),
                        Chain(name="DOCKER-USER", rules=(Rule(target="SPARKS-TRANSIT"),)), …
                    ),
                ),
            ),
            foreign=(), zones=None,
        )
    """

    needs_root = True
    timeout_seconds: ClassVar[float] = 100.0
    """It asks up to five programs, one after the other."""

    @override
    def command(self, root: str = "") -> str:
        return as_root(remote_python("firewall", root=root, chains=[FORWARD, DOCKER_USER, FROM_RAIL, TO_RAIL]))

    @override
    def parse(self, text: str) -> FirewallState:
        return parse_firewall(text)
