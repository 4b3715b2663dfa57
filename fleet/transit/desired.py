"""What one Spark passes on for its neighbours, and the exact files and rules that make it do so, also after a boot."""

from collections.abc import Iterable
from ipaddress import IPv4Network, collapse_addresses
from typing import Annotated

from pydantic import AfterValidator, Field

from fleet.record import Record, sha256_digest
from fleet.transit.firewall import Chain, Filter, Rule, Traffic

SYSCTL_PATH = "/etc/sysctl.d/90-sparks-transit.conf"
OWN_NAME = SYSCTL_PATH.rpartition("/")[2]
"""What decides when it is read; under /etc it wins over a namesake elsewhere."""
UNIT = "sparks-transit.service"
UNIT_PATH = f"/etc/systemd/system/{UNIT}"
WANTS_PATH = f"/etc/systemd/system/docker.service.wants/{UNIT}"
"""The link that lets every start of Docker start the unit."""
FILE_MODE = 0o644

DOCKER_USER = "DOCKER-USER"
"""The chain in front of Docker's own, which Docker makes and never changes (docs.docker.com, Docker with iptables)."""
FROM_RAIL, TO_RAIL = "SPARKS-TRANSIT", "SPARKS-TRANSIT-TO"
"""Our chains: what arrives from a rail, then what leaves by one. Their names are what makes them ours."""

_WAIT = "-w 10"
"""Seconds to wait for another program that changes iptables: Docker does while it starts."""

_HEAD = "# Managed by sparks (operations.transit.forwarding); what is written here by hand is replaced.\n"

Subnet = Annotated[str, AfterValidator(lambda value: str(IPv4Network(value)))]
"""The network of a rail, `192.168.102.0/24`."""


class Transit(Record):
    """Which rail interfaces of a Spark forward to each other, and which subnets they may carry."""

    interfaces: Annotated[tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9]{1,15}$")], ...], Field(min_length=2)]
    subnets: Annotated[tuple[Subnet, ...], Field(min_length=1)]
    """Those of every rail of the fabric: a packet may come from an address of a Spark that lies on another rail."""

    @property
    def networks(self) -> tuple[str, ...]:
        """The subnets in as few networks as cover exactly them."""
        return tuple(str(each) for each in collapse_addresses(IPv4Network(subnet) for subnet in self.subnets))

    @property
    def settings(self) -> dict[str, str]:
        """The kernel settings by their path below /proc/sys.

        `forwarding` of an interface is `ip_forward` for what arrives there and nowhere else. `rp_filter` counts as
        the larger of the interface's and `all`'s, so 2 (loose) wins over a strict 1 (kernel, ip-sysctl.rst).
        """
        return {
            f"net/ipv4/conf/{interface}/{name}": value
            for interface in self.interfaces
            for name, value in (("forwarding", "1"), ("rp_filter", "2"))
        }

    @property
    def traffic(self) -> Iterable[Traffic]:
        """Everything that must pass."""
        for into in self.interfaces:
            for out in self.interfaces:
                if into != out:
                    for source in self.networks:
                        for destination in self.networks:
                            yield Traffic(into=into, out=out, source=source, destination=destination)

    @property
    def chains(self) -> tuple[Chain, Chain]:
        """Our two chains. Two steps keep the rules few: each rail with each network, not each pair with each pair."""
        pairs = [(interface, network) for interface in self.interfaces for network in self.networks]
        into = tuple(Rule(source=network, into=interface, target=TO_RAIL) for interface, network in pairs)
        out = tuple(Rule(destination=network, out=interface, target="ACCEPT") for interface, network in pairs)
        return Chain(name=FROM_RAIL, rules=into), Chain(name=TO_RAIL, rules=out)

    def accepted_by(self, table: Filter) -> Filter:
        """The table as it is once our chains stand first in DOCKER-USER; unchanged where there is no such chain."""
        user = table.chain(DOCKER_USER)
        if user is None:
            return table
        others = tuple(rule for rule in user.rules if rule.target != FROM_RAIL)
        first = user.model_copy(update={"rules": (Rule(target=FROM_RAIL), *others)})
        return table.with_chains([*self.chains, first])

    @property
    def sysctl_text(self) -> str:
        """The exact text of `SYSCTL_PATH`. With `-`, a port that has left PCI is no error at boot."""
        why = (
            "# ip_forward for the rails alone. On for all ports it would make this Spark a router between all its\n"
            "# networks, and Docker, where it finds it on, would no longer set the policy of FORWARD to DROP.\n"
        )
        lines = (f"-{key.replace('/', '.')} = {value}\n" for key, value in self.settings.items())
        return f"{_HEAD}{why}{''.join(lines)}"

    @property
    def unit_text(self) -> str:
        """The exact text of `UNIT_PATH`."""
        return f"""\
{_HEAD}[Unit]
Description=Pass what the rails forward through Docker's firewall
After=docker.service

[Service]
Type=oneshot
ExecCondition=iptables {_WAIT} -S {DOCKER_USER}
ExecStartPre=/bin/sh -c 'while iptables {_WAIT} -D {DOCKER_USER} -j {FROM_RAIL} 2>/dev/null; do :; done'
ExecStart=iptables-restore {_WAIT} --noflush
StandardOutput=null
StandardError=journal
StandardInput=data
{"".join(f"StandardInputText={line}{chr(10)}" for line in self._restore_lines())}
[Install]
WantedBy=docker.service
"""

    def _restore_lines(self) -> Iterable[str]:
        """One transaction. Naming a chain empties it, so running it again adds nothing."""
        yield "*filter"
        yield from (f":{chain.name} - [0:0]" for chain in self.chains)
        yield from (f"-A {chain.name} {rule.text}" for chain in self.chains for rule in chain.rules)
        yield f"-I {DOCKER_USER} 1 -j {FROM_RAIL}"
        yield "COMMIT"

    @property
    def sysctl_digest(self) -> str:
        """The digest of `sysctl_text`."""
        return sha256_digest(self.sysctl_text.encode())

    @property
    def unit_digest(self) -> str:
        """The digest of `unit_text`."""
        return sha256_digest(self.unit_text.encode())
