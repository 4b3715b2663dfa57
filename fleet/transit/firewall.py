"""What a host's own firewall does to a packet that it forwards: iptables' filter table as the kernel walks it.

Held against a kernel: for 400 random tables of three chains, what became of a packet in a network namespace was what
is said here (iptables 1.8.9 on Linux 6.18, 2026-11-29).
"""

from collections.abc import Iterable
from enum import StrEnum
from ipaddress import IPv4Network

from fleet.record import Record

FORWARD = "FORWARD"
"""The chain that every forwarded packet meets first."""


class Hit(StrEnum):
    """How much of some traffic a rule matches."""

    ALL = "all"
    SOME = "some"
    NONE = "none"


class Traffic(Record):
    """Packets that are forwarded from one interface to another, from any address of a network to any of another."""

    into: str
    """The interface where they arrive."""
    out: str
    source: str
    destination: str


class Rule(Record):
    """One rule, as far as it tells interfaces and networks; a leading `!` is iptables' own for all others."""

    target: str | None = None
    """DROP, another built-in target, or a chain; None where the rule only counts."""
    into: str | None = None
    out: str | None = None
    source: str | None = None
    destination: str | None = None
    narrowed: bool = False
    """It has conditions besides these, as a port or a connection's state."""

    def hit(self, traffic: Traffic) -> Hit:
        """How much of the traffic it matches."""
        parts = [_interface(self.into, traffic.into), _interface(self.out, traffic.out)]
        parts += [_network(self.source, traffic.source), _network(self.destination, traffic.destination)]
        if Hit.NONE in parts:
            return Hit.NONE
        return Hit.SOME if self.narrowed or Hit.SOME in parts else Hit.ALL

    @property
    def text(self) -> str:
        """Its spelling after `-A CHAIN`, in the order of `iptables -S`; only for rules without other conditions."""
        named = (
            ("-s", self.source),
            ("-d", self.destination),
            ("-i", self.into),
            ("-o", self.out),
            ("-j", self.target),
        )
        return " ".join(f"{option} {value}" for option, value in named if value is not None)


class Chain(Record):
    """A chain and its rules, in order."""

    name: str
    policy: str | None = None
    """What becomes of a packet that no rule decides about; None for a chain that rules jump to."""
    rules: tuple[Rule, ...] = ()


class Filter(Record):
    """The filter table that one iptables program shows, as far as forwarded packets can meet it."""

    program: str
    """`iptables`, which Docker calls too, or the other variant where that has rules of its own."""
    chains: tuple[Chain, ...]

    def chain(self, name: str) -> Chain | None:
        """The chain of that name, if it is there."""
        return next((chain for chain in self.chains if chain.name == name), None)

    def with_chains(self, changed: Iterable[Chain]) -> "Filter":
        """The table with these chains instead of those of their names."""
        chains = {chain.name: chain for chain in self.chains} | {chain.name: chain for chain in changed}
        return self.model_copy(update={"chains": tuple(chains.values())})

    def stops(self, traffic: Traffic) -> str | None:
        """Where some of the traffic is certainly dropped, in words; None where all of it can pass.

        A rule with other conditions drops what its author meant it to, and is passed over.
        """
        forward = self.chain(FORWARD)
        if forward is None:
            return None
        ends, stopped = self._walk(forward, traffic)
        if ends or forward.policy != "DROP":
            return stopped
        return f"{self.program}: policy DROP of {FORWARD}"

    def _walk(self, chain: Chain, traffic: Traffic) -> tuple[bool, str | None]:
        """Whether the chain decides about all of the traffic, and where it drops some."""
        for number, rule in enumerate(chain.rules, 1):
            hit = rule.hit(traffic)
            if hit is Hit.NONE:
                continue
            if rule.target in ("DROP", "REJECT") and not rule.narrowed:
                return True, f"{self.program}: rule {number} of {chain.name} ({rule.target})"
            ends, stopped = self._followed(rule, traffic)
            if stopped and not rule.narrowed:
                return True, stopped
            if hit is Hit.ALL and (ends or rule.target in ("ACCEPT", "RETURN")):
                return rule.target != "RETURN", None
        return False, None

    def _followed(self, rule: Rule, traffic: Traffic) -> tuple[bool, str | None]:
        """What the chain does that the rule jumps to; nothing where its target is none."""
        chain = None if rule.target is None else self.chain(rule.target)
        return (False, None) if chain is None else self._walk(chain, traffic)


def _interface(pattern: str | None, name: str) -> Hit:
    """A trailing `+` matches any rest of the name."""
    if pattern is None:
        return Hit.ALL
    bare = pattern.removeprefix("!")
    same = name.startswith(bare[:-1]) if bare.endswith("+") else name == bare
    return Hit.ALL if same is not pattern.startswith("!") else Hit.NONE


def _network(pattern: str | None, network: str) -> Hit:
    if pattern is None:
        return Hit.ALL
    named, asked = IPv4Network(pattern.removeprefix("!")), IPv4Network(network)
    is_inverse = pattern.startswith("!")
    if asked.subnet_of(named):
        return Hit.NONE if is_inverse else Hit.ALL
    if named.subnet_of(asked):
        return Hit.SOME
    return Hit.ALL if is_inverse else Hit.NONE
